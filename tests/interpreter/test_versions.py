"""Versions of operators: those LiteRT knows run as there, others are refused in its words."""

import numpy as np
import pytest
import running
from cases import OPTIMIZED, Case, all_cases, content
from fuzz.compare import difference, tolerance_of

from flatlite.errors import ModelError
from flatlite.lite import Interpreter
from flatlite.schema import model, operators
from flatlite.schema.runtime_versions import known_versions
from flatlite.schema.targets.version_rules import RULES

RUN = [kind for kind in operators.kinds() if operators.known(kind).family]
WITHIN_LITERT = [
    "CALL",
    "LSTM",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "CONCAT_EMBEDDINGS",
    *(k for k in RUN if k.startswith("STABLEHLO_")),
]
"""Operators that LiteRT knows in fewer versions: 5 of LSTMs, and what it has no kernels for."""
RESOLVERS = ("BUILTIN_REF", OPTIMIZED)


def of_version(file, version):
    """The file with its operator in another version."""
    read = model.load(file)
    read.subgraphs[0].operators[0].version = version
    return model.save(read)


def lone(kind):
    """A file with an operator alone, that no kernel has to like."""
    tensors = [model.Tensor("x", (1,), "FLOAT32"), model.Tensor("y", (1,), "FLOAT32")]
    step = model.Operator(kind, [0], [1])
    return model.save(model.Model([model.Subgraph("main", tensors, [0], [1], [step])]))


def is_known(litert, file):
    """Whether one of LiteRT's resolvers has the operator in this version."""
    answers = [litert.run(file, [], resolver) for resolver in RESOLVERS]
    return not all(isinstance(one, str) and "Didn't find op" in one for one in answers)


@pytest.mark.parametrize("kind", RUN)
def test_known_versions_are_litert_s(kind, litert):
    known = known_versions(kind)
    tried = range(known[0] - 1, known[-1] + 2)
    theirs = {v for v in tried if is_known(litert, of_version(lone(kind), v))}
    if kind in WITHIN_LITERT:
        assert theirs <= set(known)
    else:
        assert theirs == set(known)


@pytest.mark.parametrize("version", [-1, 0, 4, 99])
def test_other_versions_are_refused_in_litert_s_words(version, litert):
    file = of_version(lone("RELU"), version)
    theirs = (
        litert.run(file, []).removeprefix("ValueError: ").removesuffix("\nRegistration failed.\n")
    )
    with pytest.raises(ModelError) as raised:
        Interpreter(model_content=file)
    assert str(raised.value) == f"{theirs} flatlite knows 1 to 3."


def test_a_version_that_was_taken_back(litert):
    file = of_version(lone("BROADCAST_TO"), 1)
    assert "Didn't find op for builtin opcode 'BROADCAST_TO' version '1'" in litert.run(file, [])
    with pytest.raises(ModelError, match=r"'BROADCAST_TO' version '1'.* flatlite knows 2 to 4"):
        Interpreter(model_content=file)


@pytest.mark.parametrize("kind", ["DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES"])
def test_what_nobody_has_a_kernel_for(kind, litert):
    assert "Didn't find op for builtin opcode" in litert.run(lone(kind), [])
    message = f"^Didn't find op for builtin opcode '{kind}' version '1'. Neither TensorFlow Lite"
    with pytest.raises(ModelError, match=message):
        Interpreter(model_content=lone(kind))


def cases_with_options():
    """The first case of each operator with each set of options that are not the default."""
    cases = {}
    for case in all_cases():
        if isinstance(case, Case) and case.oracle and len(known_versions(case.op)) > 1:
            cases.setdefault((case.op, *sorted(case.options)), case)
    return list(cases.values())


@pytest.mark.parametrize("case", cases_with_options(), ids=lambda case: case.name)
def test_what_a_file_says_holds_in_every_version(case, litert):
    """An option that a later version brought counts in an earlier one, too, as in LiteRT."""
    file = content(case)
    tolerance = max(tolerance_of([case.op]), case.rtol)
    for version in known_versions(case.op):
        stated = of_version(file, version)
        theirs = litert.run(stated, [case.feeds], case.oracle)
        if isinstance(theirs, str) and "Didn't find op" in theirs:
            continue  # the other resolver knows it
        ours = Interpreter(model_content=stated)
        ours.allocate_tensors()
        for detail, array in zip(ours.get_input_details(), case.feeds, strict=True):
            ours.set_tensor(detail["index"], array)
        ours.invoke()
        got = [np.array(ours.get_tensor(d["index"])) for d in ours.get_output_details()]
        assert not isinstance(theirs, str), theirs
        assert not difference(got, theirs[0], tolerance)


def test_rules_give_known_versions():
    for kind, rules in RULES.items():
        assert {version for version, _ in rules} <= set(known_versions(kind)), kind


def activated():
    """The first case of each operator that names an activation, but for the stateful ones."""
    cases = {}
    for case in all_cases():
        if isinstance(case, Case) and case.oracle is not None:
            file = content(case)
            options = model.load(file).subgraphs[0].operators[0].options
            if hasattr(options, "fused_activation_function"):
                cases.setdefault(case.op, case)
    return list(cases.values())


@pytest.mark.parametrize("case", activated(), ids=lambda case: case.op)
@pytest.mark.parametrize("number", [77, -1])
def test_activations_that_nobody_knows_are_none(case, number, litert):
    """A later schema may have more; LiteRT takes them for none."""
    read = model.load(content(case))
    read.subgraphs[0].operators[0].options.fused_activation_function = number
    file = model.save(read)
    theirs = litert.run(file, [case.feeds], case.oracle)
    assert not isinstance(theirs, str), theirs
    ours = list(running.answers(Interpreter(model_content=file), *case.feeds))
    assert not difference(ours, theirs[0], max(tolerance_of([case.op]), case.rtol, case.atol))
