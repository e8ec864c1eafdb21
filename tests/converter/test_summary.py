"""`conversion_summary_dir`: logs that are read by TensorFlow's own description of them."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

import flatlite.lite
from flatlite.schema.model import load

DIGITS = Path(__file__).parents[2] / "models" / "digits" / "saved_model"
DESCRIPTION = Path(__file__).with_name("conversion_log.pb")
FILES = [
    *("toco_conversion_summary.html", "toco_log_after.pb", "toco_log_before.pb"),
    *("toco_tf_graph.dot", "toco_tflite_graph.dot"),
]


@cache
def log_class():
    """TensorFlow's class of the messages."""
    pool = DescriptorPool()
    pool.AddSerializedFile(DESCRIPTION.read_bytes())
    return GetMessageClass(pool.FindMessageTypeByName("toco.TocoConversionLog"))


def converted(folder, **settings):
    converter = flatlite.lite.TFLiteConverter.from_saved_model(DIGITS)
    converter.verify = False
    for name, value in {"conversion_summary_dir": folder, **settings}.items():
        setattr(converter, name, value)
    return converter.convert()


def logs(folder):
    return [
        log_class().FromString((folder / f"toco_log_{word}.pb").read_bytes())
        for word in ("before", "after")
    ]


def test_the_logs_have_all_operators(tmp_path):
    folder = tmp_path / "new" / "summary"
    content = converted(folder)
    assert sorted(path.name for path in folder.iterdir()) == FILES
    before, after = logs(folder)
    operators = [op.op for graph in load(content).subgraphs for op in graph.operators]
    assert list(after.op_list) == operators
    assert dict(after.built_in_ops) == {op: operators.count(op) for op in operators}
    assert not after.custom_ops
    assert not after.select_ops
    assert (after.model_size, before.model_size) == (len(operators), len(before.op_list))
    assert before.model_size > after.model_size
    assert "RELU" in before.op_list
    assert "RELU" not in after.op_list
    assert list(after.input_tensor_types) == list(before.input_tensor_types) == ["float"]
    assert after.log_generation_ts > 1.7e9
    first = after.op_signatures[0]
    assert first == (
        "INPUT:[1,8,8,1]::float::[16,3,3,1]::float::[16]::float::OUTPUT:[1,8,8,16]::float"
        "::NAME:CONV_2D::VERSION:1"
    )
    drawing = (folder / "toco_tf_graph.dot").read_text()
    assert 'label="RELU"' in drawing
    page = (folder / "toco_conversion_summary.html").read_text()
    assert f"{before.model_size} operators before, {after.model_size} after" in page
    assert "quantization is not enabled" in page


def test_a_quantized_model(tmp_path):
    rng = np.random.default_rng(0)
    content = converted(
        tmp_path,
        optimizations=[flatlite.lite.Optimize.DEFAULT],
        representative_dataset=lambda: (
            [rng.normal(size=(1, 8, 8, 1)).astype(np.float32)] for _ in range(3)
        ),
    )
    after = logs(tmp_path)[1]
    kinds = [op.op for op in load(content).subgraphs[0].operators]
    assert list(after.op_list) == kinds
    assert after.built_in_ops["QUANTIZE"] == 1
    assert any("::int8::" in signature for signature in after.op_signatures)
    assert "is enabled" in (tmp_path / "toco_conversion_summary.html").read_text()
    assert "INT8" in (tmp_path / "toco_tflite_graph.dot").read_text().upper()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match=r"file"):
        converted(tmp_path / "file" / "folder")
