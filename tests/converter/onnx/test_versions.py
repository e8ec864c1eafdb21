"""The ONNX project's cases written for each older version of their operator give the same.

A case is put into an operator set of before where that one can say it: inputs that were attributes
become attributes again, and attributes of later are left out where they say what was always so.
"""

from collections import defaultdict

import onnx
import pytest
from onnx import defs, helper
from onnx_nodes import MODULES, array_of, cases_of, compare, expected_refusal, is_plain, unverified

from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter

CHANGED = {
    "Hardmax": 13,
    "LogSoftmax": 13,
    "Resize": 11,
    "RoiAlign": 16,
    "Softmax": 13,
    "Upsample": 9,
    "Scan": 9,
}
"""Since when an operator means what its cases say; test_runtime_nodes has what was before."""
FIRST = 7
"""The oldest operator set that is swept."""


def history():
    """(domain, operator) -> version -> schema."""
    versions = defaultdict(dict)
    for schema in defs.get_all_schemas_with_history():
        versions[schema.domain, schema.name][schema.since_version] = schema
    return versions


HISTORY = history()


def older(case):
    """(version, model) of a case of one node, for each version that can state it."""
    graph = case.model.graph
    if len(graph.node) != 1 or not is_plain(case.model) or "expanded" in case.name:
        return
    (node,) = graph.node
    domain = "" if node.domain == "ai.onnx" else node.domain
    versions = HISTORY.get((domain, node.op_type), {})
    if len(versions) < 2 or expected_refusal(case.name) is not None:
        return
    imported = {
        "" if o.domain == "ai.onnx" else o.domain: o.version for o in case.model.opset_import
    }
    newest = versions[max(version for version in versions if version <= imported[domain])]
    first = max(FIRST if not domain else 1, CHANGED.get(node.op_type, 0))
    for version, schema in versions.items():
        if version >= newest.since_version or version < first or schema.deprecated:
            continue
        feeds = dict(zip((v.name for v in graph.input), case.data_sets[0][0], strict=False))
        written = as_version(node, newest, schema, feeds)
        if written is None:
            continue
        opsets = [helper.make_opsetid("", 17 if domain else version)]
        opsets += [helper.make_opsetid(domain, version)] if domain else []
        inputs = [v for v in graph.input if v.name in written.input]
        model = helper.make_model(
            helper.make_graph([written], "main", inputs, graph.output),
            opset_imports=opsets,
            ir_version=8,
        )
        try:
            onnx.checker.check_model(model, full_check=True)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
            continue  # a type that came later
        yield version, model


def as_version(node, newest, schema, feeds):
    """The node in the words of an older version; None where that cannot say it."""
    written = helper.make_node(node.op_type, [], list(node.output), domain=node.domain)
    formals = [parameter.name for parameter in newest.inputs]
    is_variadic = bool(schema.inputs) and schema.inputs[-1].option.name == "Variadic"
    for i, name in enumerate(node.input):
        formal = formals[min(i, len(formals) - 1)]
        if is_variadic or i < len(schema.inputs):
            written.input.append(name)
        elif name and (formal not in schema.attributes or name not in feeds):
            return None
        elif name:
            written.attribute.append(as_attribute(schema.attributes[formal], feeds[name]))
    for attribute in node.attribute:
        if attribute.name in schema.attributes:
            written.attribute.append(attribute)
        elif not is_default(newest.attributes[attribute.name], attribute):
            return None
    return written


def as_attribute(declared, value):
    numbers = array_of(value).ravel().tolist()
    value = numbers if declared.type.name.endswith("S") else numbers[0]
    return helper.make_attribute(declared.name, value, attr_type=declared.type.value)


def is_default(declared, attribute):
    default = declared.default_value
    values = (helper.get_attribute_value(a) for a in (default, attribute) if a.name)
    return bool(default.name) and len({str(value) for value in values}) == 1


def versions_of(module):
    """One case of each version of each operator of a module."""
    rows = {}
    for case in cases_of(module):
        for version, model in older(case):
            rows.setdefault((case.model.graph.node[0].op_type, version), (case, model))
    return rows


def problem(case, model):
    """What is wrong with a case in an older version; empty where nothing is."""
    try:
        content = unverified(TFLiteConverter.from_onnx_model(model))
        runner = Interpreter(model_content=content).get_signature_runner()
        inputs, outputs = case.data_sets[0]
        used, names = runner.get_input_details(), [v.name for v in case.model.graph.input]
        pairs = zip(names, inputs, strict=False)
        results = runner(**{name: array_of(x) for name, x in pairs if name in used})
        for value, expected in zip(model.graph.output, outputs, strict=True):
            compare(case, results[value.name], array_of(expected))
    except (AssertionError, ConverterError, ValueError, RuntimeError) as error:
        return f"{case.name}: {type(error).__name__}: {str(error)[:200]}"
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_older_versions(module):
    problems = {key: problem(*row) for key, row in versions_of(module).items()}
    assert not {key: text for key, text in problems.items() if text}


@pytest.mark.slow
def test_most_versions_are_swept():
    """Those that are not have no case of plain tensors that they can state."""
    swept = {key for module in MODULES for key in versions_of(module)}
    assert len(swept) >= 250, len(swept)
