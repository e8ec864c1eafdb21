"""Every operation, in every type: TensorFlow's answer in LiteRT, or a clear error."""

from pathlib import Path

import numpy as np
import pytest
import typed_operations

from flatlite.converter.api.conversion import Conversion
from flatlite.converter.api.settings import Settings
from flatlite.converter.sources.source import GraphSource, Port
from flatlite.converter.tf.registry import LOWERINGS
from flatlite.errors import ConverterError
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.signatures.signatures import signature_of

ANSWERS = np.load(Path(__file__).with_name("types.npz"))
CONVERTED = set(ANSWERS["converted"].tolist())
CASES = typed_operations.chosen()
OURS_TO_REPORT = ("please report", "internal error")


def rows():
    """What is recorded: {operation type: [(case, attribute, type)]}."""
    rows_by_op = {}
    for key in ANSWERS.files:
        if not key.endswith(":0"):
            continue
        name, _, setting = key.removesuffix(":0").partition(" ")
        (attr, dtype), kind = setting.split("="), CASES[name].op
        is_nothing = dtype == "object" and ANSWERS[key].size == 0  # LiteRT cannot be given that
        if LOWERINGS.get(kind) is not None and not is_nothing:
            rows_by_op.setdefault(kind, []).append((name, attr, dtype))
    return rows_by_op


ROWS = rows()


def source_of(case, attr, dtype):
    """The operation with some type as a source, and what its inputs are fed."""
    graph, feeds = Graph(), []
    graph.inputs, graph.outputs = [], []
    signature = signature_of(case.op)
    positions = [i for i, one in enumerate(signature.inputs) if one.dtype == attr]
    attrs = {name: _attribute(value) for name, value in case.attrs.items()}
    if not positions:
        attrs[attr] = np.dtype(dtype)
    attributes = []
    operands = typed_operations.operands(case, dict.fromkeys(positions, dtype))
    for argument, operand in zip(signature.inputs, operands, strict=True):
        several = operand.value if isinstance(operand.value, list) else [operand.value]
        if argument.count:
            attrs[argument.count] = len(several)
        for array in several:
            if operand.is_constant:
                attributes.append(graph.constant(array))
                continue
            placeholder = {"dtype": array.dtype, "shape": array.shape}
            attributes.append(
                graph.add("Placeholder", f"x{len(feeds)}", (), placeholder).outputs[0]
            )
            feeds.append(array)
    graph.inputs = [one for one in attributes if one.op.type == "Placeholder"]
    graph.outputs = list(graph.add(case.op, "op", attributes, attrs).outputs)
    ports = (
        tuple(Port(t.name, t.name, t) for t in tensors) for tensors in (graph.inputs, graph.outputs)
    )
    return GraphSource(None, graph, *ports), feeds


def _attribute(value):
    if isinstance(value, type):
        return np.dtype(value)
    if isinstance(value, list) and None in value:
        return tuple(value)
    return value.encode() if isinstance(value, str) else value


def problem(litert, name, attr, dtype):
    """What is wrong with one case, empty when nothing is."""
    key = f"{name} {attr}={dtype}"
    source, feeds = source_of(CASES[name], attr, dtype)
    try:
        settings = Settings()
        if all(x.dtype.kind not in "fc" or np.isfinite(x).all() for x in feeds):
            settings.verify_inputs = [feeds]
        content = Conversion(settings, [source], 2).run()
    except ConverterError as error:
        if any(words in str(error) for words in OURS_TO_REPORT):
            return f"ours to mend: {error}"
        return f"TensorFlow converts it: {error}" if key in CONVERTED else ""
    results = litert.run(content, [feeds], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    if isinstance(results, str):
        return f"LiteRT: {results}"
    for i, result in enumerate(results[0]):
        expected = ANSWERS[f"{key}:{i}"]
        if result.shape != expected.shape:
            return f"output {i} has the shape {result.shape}, not {expected.shape}"
        if expected.dtype.kind in "fc":
            most = np.finfo(expected.dtype).max  # to which LiteRT's MUL cuts infinities
            result, expected = (np.clip(x, -most, most) for x in (result, expected))
            tolerance = max(CASES[name].rtol, np.finfo(expected.dtype).eps * 8, 1e-5)
            largest = np.abs(expected[np.abs(expected) < most]).max(initial=1)
            if not np.allclose(result, expected, tolerance, tolerance * largest, equal_nan=True):
                return f"output {i} is {result.ravel()[:8]}, not {expected.ravel()[:8]}"
        elif not np.array_equal(result.astype(expected.dtype), expected):
            return f"output {i} is {result.ravel()[:8]}, not {expected.ravel()[:8]}"
    return ""


@pytest.mark.filterwarnings("ignore:the converted model was (not )?verified")
@pytest.mark.parametrize("kind", ROWS)
def test_types(kind, litert):
    problems = {row: text for row in ROWS[kind] if (text := problem(litert, *row))}
    assert not problems


if __name__ == "__main__":
    print(*sorted({case.op for case in CASES.values() if LOWERINGS.get(case.op) is not None}))
