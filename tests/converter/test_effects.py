"""What a source changes while it runs: refused by name where an answer shows it, else left out with
a warning.

cases.npz of the models has what TensorFlow answers in three runs, one after the other.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sourced import run

from flatlite.converter.sources import saved_model
from flatlite.errors import UnsupportedOps

MODELS = Path(__file__).parent / "saved_models"
CHANGE = "Variables that change while the model runs are not supported yet:\n  "


def keys():
    for name in ("effects", "effects_1"):
        with np.load(MODELS / name / "cases.npz") as cases:
            yield from ((name, key.removesuffix("/in/x")) for key in cases if key.endswith("/in/x"))


@pytest.mark.parametrize(("name", "key"), list(keys()))
def test_an_assignment_is_left_out_only_where_no_answer_shows_it(name, key):
    with np.load(MODELS / name / "cases.npz") as cases:
        x, answers = cases[f"{key}/in/x"], [cases[f"{key}/out/{i}"] for i in range(3)]
    if all(np.array_equal(answers[0], answer) for answer in answers):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (source,) = saved_model.load(MODELS / name, signature_keys=[key])
        assert bool(caught) == key.endswith("quiet")
        np.testing.assert_array_equal(run(source, {"x": x})["output_0"], answers[0])
    else:
        with pytest.raises(UnsupportedOps) as caught:
            saved_model.load(MODELS / name, signature_keys=[key])
        assert str(caught.value).startswith(CHANGE)


ROWS = [
    ("effects", "branch", "cond/AssignAddVariableOp' on variable 'seen'"),
    ("effects", "nested", "while/cond/AssignAddVariableOp' on variable 'seen'"),
    ("effects", "counter", "RngReadAndSkip' on variable 'count'"),
    ("effects_1", "resource_loop", "while/AssignAddVariableOp' on variable 'resource_loop'"),
    ("effects_1", "reference_loop", "AssignAdd 'while_1/AssignAdd' on variable 'reference_loop'"),
]


@pytest.mark.parametrize(("name", "key", "words"), ROWS)
def test_the_operation_and_the_variable_are_named(name, key, words):
    with pytest.raises(UnsupportedOps) as caught:
        saved_model.load(MODELS / name, signature_keys=[key])
    assert words in str(caught.value)


LEFT_OUT = "The file does not do what no output depends on: "


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("effects", "quiet", r"AssignAddVariableOp '.*/cond/.*' on variable 'hidden' and 2 more$"),
        ("effects_1", "resource_quiet", "AssignAddVariableOp '.*' on variable 'resource_quiet'$"),
        ("effects_1", "reference_quiet", "AssignAdd '.*' on variable 'reference_quiet'$"),
    ],
)
def test_what_is_left_out_is_said(name, key, words):
    with pytest.warns(UserWarning, match=LEFT_OUT + words):
        saved_model.load(MODELS / name, signature_keys=[key])


def test_a_signature_that_reads_what_another_one_writes():
    with pytest.warns(UserWarning, match=LEFT_OUT):
        saved_model.load(MODELS / "effects", signature_keys=["quiet"])
    saved_model.load(MODELS / "effects", signature_keys=["tells"])
    with pytest.raises(UnsupportedOps, match="on variable 'hidden'"):
        saved_model.load(MODELS / "effects", signature_keys=["quiet", "tells"])


@pytest.mark.parametrize(
    ("key", "words"), [("file", "WriteFile '.*WriteFile'"), ("python", "EagerPyFunc '.*PyFunc'")]
)
def test_other_effects(key, words):
    head = "Operations that do something besides computing outputs are not supported:\n  "
    with pytest.raises(UnsupportedOps, match=head + words):
        saved_model.load(MODELS / "effects", signature_keys=[key])
