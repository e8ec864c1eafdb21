"""What a source changes while it runs: variables that an answer shows are kept, what no answer
shows is left out with a warning, anything else refused by name.

cases.npz of the models has what TensorFlow answers in three runs, one after the other.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest

from flatlite.converter.sources import saved_model
from flatlite.converter.sources.writes import drop_unchanging_writes
from flatlite.errors import UnsupportedOps
from flatlite.graph.core.graph import Graph
from flatlite.lite import Interpreter, TFLiteConverter

MODELS = Path(__file__).parent / "saved_models"
CHANGE = (
    "Operations that change variables in a way that is not supported:\n  ",
    "Variables that change beside branches or loops of TensorFlow 1 are not supported:\n  ",
)
REFUSED = [
    ("effects", "counter", "RngReadAndSkip' on variable 'count'"),
    ("effects_1", "resource_loop", "while/AssignAddVariableOp' on variable 'resource_loop'"),
    ("effects_1", "reference_loop", "AssignAdd 'while_1/AssignAdd' on variable 'reference_loop'"),
    ("effects_1", "resource_branch", "cond/AssignAddVariableOp' on variable 'resource_branch'"),
    ("effects_1", "reference_branch", "'cond_2/AssignAdd' on variable 'reference_branch'"),
]


def keys():
    for name in ("effects", "effects_1"):
        with np.load(MODELS / name / "cases.npz") as cases:
            yield from ((name, key.removesuffix("/in/x")) for key in cases if key.endswith("/in/x"))


def recorded(name, key):
    with np.load(MODELS / name / "cases.npz") as cases:
        return cases[f"{key}/in/x"], [cases[f"{key}/out/{i}"] for i in range(3)]


CONVERTED = [row for row in keys() if row not in [(name, key) for name, key, _ in REFUSED]]


@pytest.mark.parametrize(("name", "key"), CONVERTED)
def test_an_assignment_is_left_out_only_where_no_answer_shows_it(name, key):
    x, answers = recorded(name, key)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (source,) = saved_model.load(MODELS / name, signature_keys=[key])
    assert bool(caught) == key.endswith("quiet")
    changes = not all(np.array_equal(answers[0], output) for output in answers)
    assert any(variable.is_written for variable in source.state_variables) == changes
    oracle = source.oracle()
    np.testing.assert_array_equal(oracle.run(oracle.outputs, [x])[0], answers[0])


@pytest.mark.filterwarnings("ignore:The file does not do what no output depends on")
@pytest.mark.parametrize(("name", "key"), CONVERTED)
def test_three_runs_give_what_tensorflow_gives(name, key, litert):
    x, answers = recorded(name, key)
    content = TFLiteConverter.from_saved_model(MODELS / name, signature_keys=[key]).convert()
    runner = Interpreter(model_content=content).get_signature_runner(key)
    for output in answers:
        np.testing.assert_array_equal(runner(x=x)["output_0"], output)
    resolver = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
    theirs = litert.run(content, [{"x": x}] * 3, resolver, key)
    assert not isinstance(theirs, str), theirs
    for output, outputs in zip(answers, theirs, strict=True):
        np.testing.assert_array_equal(outputs["output_0"], output)


@pytest.mark.parametrize(("name", "key", "words"), REFUSED)
def test_the_operation_and_the_variable_are_named(name, key, words):
    with pytest.raises(UnsupportedOps) as caught:
        saved_model.load(MODELS / name, signature_keys=[key])
    assert str(caught.value).startswith(CHANGE)
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
    with pytest.warns(UserWarning, match=LEFT_OUT + "PrintV2 '[^']*'$"):
        sources = saved_model.load(MODELS / "effects", signature_keys=["quiet", "tells"])
    assert [[variable.name for variable in source.state_variables] for source in sources] == [
        ["hidden"]
    ] * 2
    assert [source.state_variables[0].is_written for source in sources] == [True, False]


@pytest.mark.parametrize(
    ("key", "words"), [("file", "WriteFile '.*WriteFile'"), ("python", "EagerPyFunc '.*PyFunc'")]
)
def test_other_effects(key, words):
    head = "Operations that do something besides computing outputs are not supported:\n  "
    with pytest.raises(UnsupportedOps, match=head + words):
        saved_model.load(MODELS / "effects", signature_keys=[key])


@pytest.mark.parametrize(("written", "left"), [(0, 0), (1, 2)])
def test_writes_of_what_a_variable_has_are_dropped(written, left):
    """As Keras on JAX exports them; one that another operation changes is kept."""
    graph = Graph()
    attrs = {"dtype": np.dtype("f4"), "shape": ()}
    handle = graph.add("VarHandleOp", "v", (), {**attrs, "shared_name": "v"}).outputs[0]
    value = graph.add("ReadVariableOp", "read", (handle,), {"dtype": np.dtype("f4")}).outputs[0]
    both = graph.add("IdentityN", "both", (graph.constant(np.float32(1)), value), {}).outputs
    graph.add("AssignVariableOp", "back", (handle, both[1]), {"dtype": np.dtype("f4")})
    for i in range(written):
        operands = (handle, both[0])
        graph.add("AssignAddVariableOp", f"add_{i}", operands, {"dtype": np.dtype("f4")})
    graph.outputs = [both[1]]
    kinds = [op.type for op in drop_unchanging_writes(graph).operations]
    assert sum(kind.startswith("Assign") for kind in kinds) == left
