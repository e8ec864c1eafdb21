"""Variables that are written, and tables: calls one after the other give what TensorFlow gives."""

from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.converter.sources import saved_model
from flatlite.errors import ConverterError, ModelError
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema import model as schema_model

MODELS = Path(__file__).parent / "state_models"
SIGNATURES = {
    "loop": ["step"],
    "blocks": ["step"],
    "train": ["train", "infer", "restore", "save"],
    "optimizers": ["step"],
    "tables": ["find"],
    "filled": ["find"],
    "lists": ["grow", "outside", "push"],
    "uneven_lists": ["grow", "several", "ragged", "chosen", "lengths"],
    "version_1": ["serving_default"],
}
pytestmark = [
    pytest.mark.filterwarnings("ignore:the converted model was not verified"),
    pytest.mark.filterwarnings("ignore:The file does not do what no output depends on"),
]


def calls(name):
    """(signature, inputs, outputs) of the recorded calls, in order."""
    with np.load(MODELS / name / "cases.npz") as cases:
        arrays = dict(cases.items())
    rows = {}
    for key, value in arrays.items():
        number, signature, side, port = key.split("/")
        sides = rows.setdefault((number, signature), ({}, {}))
        array = value.astype(object) if value.dtype.kind == "S" else value
        sides[side == "out"][port] = array
    return [(signature, *sides) for (_, signature), sides in rows.items()]


def converted(name, io_order="source"):
    converter = TFLiteConverter.from_saved_model(MODELS / name, signature_keys=SIGNATURES[name])
    converter.io_order = io_order
    return converter.convert()


def close(expected, actual):
    if expected.dtype.kind == "f":
        return np.allclose(actual, expected, 1e-5, 1e-6)
    return actual.shape == expected.shape and actual.ravel().tolist() == expected.ravel().tolist()


@pytest.mark.parametrize(
    ("name", "io_order"),
    [*((name, "source") for name in SIGNATURES), ("train", "tensorflow"), ("loop", "tensorflow")],
)
def test_calls_one_after_the_other(name, io_order):
    interpreter = Interpreter(model_content=converted(name, io_order))
    for signature, inputs, outputs in calls(name):
        results = interpreter.get_signature_runner(signature)(**inputs)
        for port, expected in outputs.items():
            assert close(expected, results[port]), (signature, port, results[port])


def test_a_table_that_changes():
    path = MODELS / "filled"
    with pytest.raises(ConverterError, match="LookupTableInsertV2"):
        TFLiteConverter.from_saved_model(path, signature_keys=["add"]).convert()


def test_tables_of_a_session():
    with tf.Graph().as_default(), tf.Session() as session:
        keys = tf.constant([3, 4], tf.int64)
        words = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, -1.0)
        dense = tf.lookup.experimental.DenseHashTable(
            tf.int64, tf.int64, -1, empty_key=0, deleted_key=9
        )
        session.run([words.insert(keys, tf.constant([0.5, 0.25])), dense.insert(keys, keys + 4)])
        x = tf.placeholder(tf.int64, [3])
        y = [words.lookup(x), dense.lookup(x)]
        fed = np.int64([3, 4, 5])
        expected = session.run(y, {x: fed})
        content = TFLiteConverter.from_session(session, [x], y).convert()
        empty = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, -1.0)
        converter = TFLiteConverter.from_session(session, [x], [empty.lookup(x)])
        with pytest.raises(ConverterError, match=r"(?s)MutableHashTableV2.*need contents: fill"):
            converter.convert()
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], fed)
    interpreter.invoke()
    for detail, want in zip(interpreter.get_output_details(), expected, strict=True):
        assert close(want, interpreter.get_tensor(detail["index"]))
    assert expected[0].tolist() == [0.5, 0.25, -1.0] and expected[1].tolist() == [7, 8, -1]


ALONE = [(name, keys[0]) for name, keys in SIGNATURES.items() if len(keys) == 1]
ALONE += [(name, key) for name in ("lists", "uneven_lists") for key in SIGNATURES[name]]


@pytest.mark.parametrize(("name", "signature"), ALONE)
def test_litert_gives_the_same(name, signature, litert):
    rows = [call for call in calls(name) if call[0] == signature]
    inputs = [
        {k: x.astype("S") if x.dtype == object else x for k, x in row[1].items()} for row in rows
    ]
    resolver = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
    steps = litert.run(converted(name), inputs, resolver, signature)
    assert not isinstance(steps, str), steps
    for (_, _, outputs), results in zip(rows, steps, strict=True):
        for port, expected in outputs.items():
            assert close(expected, np.asarray(results[port])), (port, results[port])


def test_signatures_share_one_graph_that_runs_once():
    model = schema_model.load(converted("train"))
    kinds = [[op.op for op in graph.operators] for graph in model.subgraphs]
    assert [row.count("CALL_ONCE") for row in kinds] == [1, 1, 1, 1, 0]
    assert kinds[4].count("ASSIGN_VARIABLE") == 5
    written = [row.count("ASSIGN_VARIABLE") for row in kinds[:4]]
    assert written == [5, 0, 2, 0]


def test_a_variable_that_is_only_read_stays_a_constant():
    content = TFLiteConverter.from_saved_model(MODELS / "train", signature_keys=["infer"]).convert()
    kinds = [op.op for op in schema_model.load(content).subgraphs[0].operators]
    assert "READ_VARIABLE" not in kinds


def copied(tmp_path, name):
    folder = tmp_path / name
    for path in (MODELS / name).rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(MODELS / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder


def test_a_vocabulary_that_is_missing(tmp_path):
    folder = copied(tmp_path, "tables")
    (folder / "assets" / "vocabulary.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"vocabulary\.txt"):
        saved_model.load(folder)


def test_an_asset_that_leads_out_of_the_model(tmp_path):
    folder = copied(tmp_path, "tables")
    asset = folder / "assets" / "vocabulary.txt"
    asset.unlink()
    asset.symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="is a link that leads out of the SavedModel"):
        saved_model.load(folder)


def test_a_table_that_nothing_fills():
    from drafting import Draft

    from flatlite.converter.tf.lower import lower_graph

    draft = Draft()
    attrs = {"key_dtype": np.dtype(object), "value_dtype": np.dtype(np.int64)}
    table = draft.op("HashTableV2", **attrs)
    y = draft.op("LookupTableFindV2", table, draft.input("x", (2,), np.dtype(object)), np.int64(-1))
    with pytest.raises(ConverterError, match="that nothing fills, has no form"):
        lower_graph(draft.source(y))


def test_a_column_that_a_line_lacks(tmp_path):
    from drafting import Draft

    from flatlite.converter.sources.tables import _of_file

    path = tmp_path / "words.txt"
    path.write_bytes(b"a\tb\tc\na\n")
    draft = Draft()
    strings = {"key_dtype": np.dtype(object), "value_dtype": np.dtype(object)}
    table = draft.op("HashTableV2", **strings)
    attrs = {"key_index": 2, "value_index": -2}
    graph = table.op.graph
    filename = draft.op("Placeholder", dtype=np.dtype(object), shape=())
    filling = graph.add(
        "InitializeTableFromTextFileV2", "fill", (table, filename), attrs, n_outputs=0
    )
    with pytest.raises(ModelError, match=r"line 1 \(a\) : expected at least 3 got 1"):
        _of_file(filling, table.op, path)
