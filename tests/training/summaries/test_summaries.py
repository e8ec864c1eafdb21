"""Summaries are TensorFlow's, byte for byte but for the compression of images."""

import base64
import io
import json
from pathlib import Path

import numpy as np
import pytest
import summary_programs as programs
from PIL import Image

import flatlite.compat.v1 as tf

GOLDENS = json.loads(Path(__file__).with_name("summaries.json").read_text())


def decoded(png: bytes) -> list:
    """The pixels of a PNG file."""
    pixels = np.asarray(Image.open(io.BytesIO(png)))
    return (pixels[..., None] if pixels.ndim == 2 else pixels).tolist()


@pytest.mark.parametrize("name", programs.SUMMARIES)
def test_summary(name):
    with tf.Graph().as_default(), tf.Session() as session:
        content = session.run(programs.build(tf, programs.SUMMARIES[name]))
    summary, golden = tf.Summary.FromString(content), GOLDENS["summaries"][name]
    images = [value.image for value in summary.value if value.WhichOneof("value") == "image"]
    assert [decoded(image.encoded_image_string) for image in images] == golden["pixels"]
    for image in images:
        image.ClearField("encoded_image_string")
    expected = base64.b64decode(golden["summary"])
    assert summary.SerializeToString(deterministic=True) == expected, tf.Summary.FromString(
        expected
    )


@pytest.mark.parametrize("name", programs.NAMES)
def test_names_and_collections(name):
    with tf.Graph().as_default():
        shown = repr(programs.build(tf, programs.NAMES[name]))
    assert shown == GOLDENS["names"][name]


@pytest.mark.parametrize("name", programs.REFUSALS)
def test_refusal(name):
    with tf.Graph().as_default():
        assert list(programs.refusal(tf, programs.REFUSALS[name])) == GOLDENS["refusals"][name]


def test_names_of_old():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.scalar_summary(["a", "b"], [1.0, 2.0])
        tf.histogram_summary("c", [1.0])
        tf.image_summary("d", programs.IMAGES, max_images=1)
        tf.audio_summary("e", programs.CLIPS, 10.0, max_outputs=1)
        summary = tf.Summary.FromString(session.run(tf.merge_all_summaries()))
        assert tf.merge_all_summaries("none") is None
        merged = session.run(tf.merge_summary([tf.constant(b"")]))
    assert [value.tag for value in summary.value] == ["a", "b", "c", "d/image", "e/audio"]
    assert summary.value[1].simple_value == 2
    assert merged == b""


def test_summary_of_graph_def_of_old():
    """A TensorSummary node's description is JSON."""
    node = tf.NodeDef(op="TensorSummary", name="n")
    node.attr["description"].s = b'{"typeHint": "scalar"}'
    assert tf.summary.get_summary_description(node).type_hint == "scalar"
    node.op = "Const"
    with pytest.raises(ValueError, match="Can't get_summary_description on Const"):
        tf.summary.get_summary_description(node)
