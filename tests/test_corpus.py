"""The acceptance corpus: read and written, run by the interpreter, converted from its sources.

A case whose operators are not there yet must be refused by name, and the name must stand in
not_yet.txt; anything else is a failure.
"""

import re
import warnings

import numpy as np
import pytest
from recorded import agree, has_runs, load, rows, runs_of
from refusals import not_yet

import flatlite.lite
from flatlite.errors import ConverterError
from flatlite.schema import model as schema_model


def by_id(row):
    return row["id"]


FILES = {r["files"]["tflite"]: r for r in rows() if "tflite" in r.get("files", {})}


@pytest.mark.parametrize("path", list(FILES))
def test_read_write_read(path, corpus, litert, record_property):
    record_property("corpus", "read-write-read")
    content = (corpus / path).read_bytes()
    model = schema_model.load(content)
    written = schema_model.save(model)
    assert schema_model.load(written) == model
    assert schema_model.save(schema_model.load(written)) == written
    if litert.run(content) == []:
        assert litert.run(written) == []


@pytest.mark.parametrize("row", [r for r in rows() if has_runs(r)], ids=by_id)
def test_interpreter(row, corpus, record_property):
    record_property("corpus", f"interpreter {row['kind']}")
    runs = runs_of(row)
    try:
        interpreter = flatlite.lite.Interpreter(model_path=corpus / row["files"]["tflite"])
        interpreter.allocate_tensors()
        answers = []
        for inputs in runs.steps:
            if not row.get("stateful"):
                interpreter.reset_all_variables()
            answers.append(run_model(interpreter, inputs))
    except RuntimeError as error:
        not_yet("interpreter", error, record_property)
    oracle = "tf" if runs.tags == ["tf"] else "ref"
    tolerance = row.get("tolerance", {}).get(oracle, {"rtol": 1e-5, "atol": 1e-5})
    for step, got in enumerate(answers):
        complaints = [differences(runs.expected(step, tag), got, tolerance) for tag in runs.tags]
        assert "" in complaints, f"step {step}: {complaints[0]}"


def run_model(interpreter, inputs) -> dict:
    """Outputs by signature name for a dict of inputs, by position for a list."""
    if isinstance(inputs, dict):
        return interpreter.get_signature_runner()(**inputs)
    details = interpreter.get_input_details()
    for detail, array in zip(details, inputs, strict=True):
        if tuple(detail["shape"]) != np.shape(array):
            interpreter.resize_tensor_input(detail["index"], np.shape(array))
            interpreter.allocate_tensors()
    for detail, array in zip(details, inputs, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    outputs = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    return {str(i): x for i, x in enumerate(outputs)}


def differences(want: dict, got: dict, tolerance: dict) -> str:
    """ "" when all outputs are as expected."""
    missing = set(want) - set(got)
    if missing:
        return f"outputs {sorted(missing)} are missing, there are {sorted(got)}"
    problems = [(k, agree(want[k], got[k], tolerance["rtol"], tolerance["atol"])) for k in want]
    return "; ".join(f"{k}: {text}" for k, text in problems if text)


def sources():
    """(row, format) of every source that this version reads."""
    for row in rows():
        files = row.get("files", {})
        if row["kind"] in ("model_source", "third_party_saved_model", "tf1_checkpoint"):
            for form in ("saved_model", "frozen_graphdef", "frozen_graphdef_control_flow_v1"):
                if form in files:
                    yield row, form
        elif "graphdef" in files and not row.get("quant") and row.get("variant") in (None, "float"):
            yield row, "graphdef"


def arrays_of(row) -> list[tuple[list, list]]:
    """(inputs, expected outputs) in the row's order, one pair for each recorded set."""
    files = row["files"]
    arrays = load(files.get("data_tf") or files.get("source_data") or files["data"])
    if row["kind"] in ("op_test", "tf1_checkpoint"):
        inputs = [arrays[f"in:{i['name']}"] for i in row["inputs"]]
        return [(inputs, [arrays[f"tf:{o['name']}"] for o in row["outputs"]])]
    if row["kind"] == "tflite_case":
        inputs = [arrays[f"in:{i['name']}"] for i in row["tf_inputs"]]
        return [(inputs, [arrays[f"tf:{i}"] for i in range(len(row["graph_outputs"]))])]
    sets = sorted({int(m[1]) for k in arrays if (m := re.match(r"in(\d+):", k))})
    return [
        (
            [arrays[f"in{s}:{i['name']}"] for i in row["inputs"]],
            [arrays[f"tf{s}:{o['name']}"] for o in row["outputs"]],
        )
        for s in sets
    ]


def converter_for(row, form, corpus):
    """A converter for one format of a row."""
    path = corpus / row["files"][form]
    if form == "saved_model":
        return flatlite.lite.TFLiteConverter.from_saved_model(path)
    if row["kind"] == "tflite_case":
        names = row["graph_inputs"], row["graph_outputs"]
    elif "frozen_inputs" in row:
        names = row["frozen_inputs"], row["frozen_outputs"]
    else:
        names = ([i["tensor"] for i in row["inputs"]], [o["tensor"] for o in row["outputs"]])
    shapes = {
        i["tensor"]: i["graph_shape"] or i["shape"]  # a frozen graph's unknown shapes must be said
        for i in row.get("inputs", ())
        if "graph_shape" in i and (i["graph_shape"] is None or None in i["graph_shape"])
    }
    return flatlite.lite.TFLiteConverter.from_frozen_graph(path, *names, shapes)


def limits() -> dict:
    """Source row id -> (bytes, operators) of the float file TensorFlow's converter wrote for it."""
    problem_limits = {}
    for row in rows():
        if row["kind"] == "model_tflite" and row["id"].endswith("/tflite_float"):
            problem_limits[row["id"].rsplit("/", 1)[0]] = (
                row.get("tflite_size"),
                row.get("op_count"),
            )
    problem_limits["D/basic_pitch/saved_model"] = 204_448, 222
    return {k: v for k, v in problem_limits.items() if v[0]}


@pytest.mark.parametrize(
    ("row", "form"), list(sources()), ids=lambda v: v if isinstance(v, str) else v["id"]
)
def test_convert(row, form, corpus, litert, record_property):
    record_property("corpus", f"convert {row['kind']} {form}")
    converter = converter_for(row, form, corpus)
    # TensorFlow's converter was allowed them, too
    converter.allow_custom_ops = any(kind.startswith("CUSTOM:") for kind in row.get("ops", ()))
    try:
        with warnings.catch_warnings():
            # some sources refuse any input but their own, and a loaded machine takes its time
            warnings.filterwarnings("ignore", "the converted model was (not )?verified")
            content = converter.convert()
        interpreter = flatlite.lite.Interpreter(model_content=content)
        interpreter.allocate_tensors()
    except (ConverterError, RuntimeError) as error:
        not_yet("converter", error, record_property)
    if row["id"] in limits():
        size, ops = limits()[row["id"]]
        assert len(content) <= size
        assert len(interpreter._get_ops_details()) <= ops
    tolerance = row.get("tolerance", {}).get("tf", {"rtol": 1e-4, "atol": 1e-5})
    recorded = [r for r in arrays_of(row) if form == "saved_model" or allowed(interpreter, r[0])]
    assert recorded
    for inputs, want in recorded:
        expected = {str(i): x for i, x in enumerate(want)}
        ours = (
            run_model(interpreter, inputs)
            if form != "saved_model"
            else by_row(row, interpreter, inputs)
        )
        assert not differences(expected, ours, tolerance)
        theirs = litert.run(
            content, [named(row, interpreter, inputs, form)], "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
        )
        if converter.allow_custom_ops and "unresolved custom op" in theirs:
            continue  # LiteRT's wheel comes without its custom operators
        if theirs == "ValueError: Invalid tensor size." and any(x.size == 0 for x in want):
            continue  # LiteRT hands out no empty tensors
        assert not isinstance(theirs, str), theirs
        if isinstance(theirs[0], dict):
            names = row.get("signature_outputs") or [o["name"] for o in row["outputs"]]
            outputs = {str(i): theirs[0][n] for i, n in enumerate(names)}
        else:
            outputs = {str(i): x for i, x in enumerate(theirs[0])}
        assert not differences(expected, outputs, tolerance)


def allowed(interpreter, inputs) -> bool:
    """Whether the source's own shapes admit these inputs: a frozen graph may fix its batch."""
    signatures = [d["shape_signature"] for d in interpreter.get_input_details()]
    return all(
        np.ndim(x) == len(shape)
        and all(n in (-1, m) for n, m in zip(shape, np.shape(x), strict=True))
        for shape, x in zip(signatures, inputs, strict=True)
    )


def named(row, interpreter, inputs, form):
    """The inputs as LiteRT takes them: by signature name for a SavedModel, else in order."""
    if form != "saved_model":
        return inputs
    names = row.get("signature_inputs") or [i["name"] for i in row["inputs"]]
    return dict(zip(names, inputs, strict=True))


def by_row(row, interpreter, inputs) -> dict:
    """Outputs in the row's order, run by signature name."""
    outputs = interpreter.get_signature_runner()(**named(row, interpreter, inputs, "saved_model"))
    names = row.get("signature_outputs") or [o["name"] for o in row["outputs"]]
    return {str(i): outputs[n] for i, n in enumerate(names)}
