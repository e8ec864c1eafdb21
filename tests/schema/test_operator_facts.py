"""Every row of the table of operators is true in every case, and says all that is."""

import functools
from collections import defaultdict
from pathlib import Path

import pytest
from cases import Case, all_cases, options_record
from declared import examples
from operator_facts import (
    FACTS,
    TRAITS,
    complaints,
    run_of,
    runs_of,
    shape_complaints,
    unsaid,
)
from recurrent_models import SORTS, content

from flatlite.interpreter.registry import family_of
from flatlite.schema import model, operators
from flatlite.schema.flatbuffer import options_class

CORPUS = Path(__file__).parents[1] / "corpus"
CHECKED_ELSEWHERE = {"channels", "rank", "calls", "int8", "int16", "total"}
"""Facts that complaints() and the tests here look at by other names."""
OUTSIDE = {"stateful", "total", "typed", "writes"}
"""Traits that no single run tells."""


@functools.cache
def runs():
    runs_by_operator = defaultdict(list)
    for case in all_cases():
        run = run_of(case) if isinstance(case, Case) else None
        if run is not None:
            runs_by_operator[case.op].append(run)
    return runs_by_operator


@pytest.mark.parametrize("kind", operators.kinds())
def test_row_is_true(kind):
    row = operators.known(kind)
    for run in runs().get(kind, []):
        assert not list(complaints(row, run)), run.case.name
    assert not list(unsaid(row, runs().get(kind, [])))


def models():
    yield from (content(sort) for sort in SORTS)
    yield from (path.read_bytes() for path in sorted(CORPUS.rglob("*.tflite")))
    yield calling()
    yield from examples()


def calling():
    """A model that only calls a subgraph, which no file of the corpus does."""
    tensors = [model.Tensor(name, (2,), "FLOAT32") for name in "xy"]
    call = model.Operator("CALL", [0], [1], options_record("CALL", {"subgraph": 1}))
    negate = model.Operator("NEG", [0], [1], options_record("NEG", {}))
    graphs = [model.Subgraph("main", tensors, [0], [1], [op]) for op in (call, negate)]
    return model.save(model.Model(graphs))


def test_rows_are_true_of_the_operators_of_files():
    """Counts, types and ranks; every operator that prepare takes is in a case or in a file,
    but for the one that only a registered class computes.
    """
    seen = set(runs())
    for file in models():
        for kind, run in runs_of(file):
            row = operators.operator(kind)
            if row is not None:
                assert not shape_complaints(row, run), kind
                seen.add(kind)
    without = {kind for kind in operators.kinds() if not family_of(kind)} | {"CONCAT_EMBEDDINGS"}
    assert set(operators.kinds()) - seen == without - seen


@pytest.mark.parametrize("kind", operators.kinds())
def test_words_are_known(kind):
    row = operators.known(kind)
    assert row.traits <= TRAITS.keys() | OUTSIDE
    assert row.facts.keys() <= FACTS.keys() | CHECKED_ELSEWHERE
    assert row.fact("int8") in ("", "own", "same")
    assert row.fact("int16") in ("", "same")
    for option in (*row.calls, *row.options):
        assert option in options_class(kind).__slots__


WRONG = [
    ("SUB", "commutative"),
    ("SOFTMAX", "elementwise"),
    ("BATCH_MATMUL", "broadcast"),
    ("NEG", "moves"),
    ("MEAN", "selects"),
    ("TRANSPOSE", "view"),
    ("CUMSUM", "reduction"),
    ("EXP", "bounded"),
    ("RELU", "clamp=0,6"),
    ("LEAKY_RELU", "clamp=0,"),
    ("MAXIMUM", "activation"),
    ("SOFTMAX", "rank=x+1"),
    ("CONV_2D", "channels=3"),
    ("CONV_2D", "spatial=1"),
    ("SOFTMAX", "i8=1/128,0"),
    ("PAD", "rows=x"),
    ("GATHER", "axes=x"),
]


@pytest.mark.parametrize(("kind", "word"), WRONG)
def test_a_wrong_word_is_found(kind, word):
    row = operators.known(kind)
    name, _, value = word.partition("=")
    planted = row._replace(
        traits=row.traits | ({name} if not value else set()),
        facts={**row.facts, **({name: value} if value else {})},
    )
    assert any(list(complaints(planted, run)) for run in runs()[kind])


@pytest.mark.parametrize(
    ("kind", "word"),
    [("ADD", "commutative"), ("ABS", "elementwise"), ("MUL", "broadcast"), ("RESHAPE", "view")],
)
def test_a_missing_word_is_found(kind, word):
    row = operators.known(kind)
    assert list(unsaid(row._replace(traits=row.traits - {word}), runs()[kind]))
