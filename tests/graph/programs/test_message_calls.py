"""decode_proto and encode_proto against what TensorFlow gave."""

import json
from pathlib import Path

import pytest
from message_calls import CALLS, answer, descriptors, messages

import flatlite.compat.v1 as tf

RECORDED = json.loads(Path(__file__).with_name("message_calls.json").read_text())


@pytest.mark.parametrize("call", CALLS)
def test_as_tensorflow(call):
    assert answer(tf, call) == RECORDED[call]


def test_descriptors_of_a_file(tmp_path):
    path = tmp_path / "descriptors.pb"
    path.write_bytes(descriptors().SerializeToString())
    result = tf.io.decode_proto(messages(), "p.M", ["r_i32"], [tf.int32], str(path))
    assert (result.sizes.shape, result.values[0].shape.as_list()) == ((2, 1), [2, None])
    with tf.Session() as session:
        sizes, (numbers,) = session.run(result)
    assert (sizes.tolist(), numbers.tolist()) == ([[3], [1]], [[1, 2, 3], [5, 0, 0]])
