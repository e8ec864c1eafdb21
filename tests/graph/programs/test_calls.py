"""Functions of strings, parsing, ragged tensors and messages against what TensorFlow gave."""

import json
from pathlib import Path

import pytest

import flatlite.compat.v1 as tf

from . import message_calls, ragged_calls, text_calls
from .message_calls import descriptors, messages

RECORDED = {
    module: json.loads(Path(module.__file__).with_suffix(".json").read_text())
    for module in (message_calls, ragged_calls, text_calls)
}
OTHERWISE = {*ragged_calls.OTHERWISE, *text_calls.OTHERWISE}
"""Calls with other results on purpose."""
CALLS = [(module, call) for module in RECORDED for call in module.CALLS]


def _agree(outcome: object, recorded: object) -> bool:
    """Whether values are the same, or an error of the same type begins with the same words."""
    if not (isinstance(recorded, list) and recorded and recorded[0] == "raises"):
        return outcome == recorded
    return outcome[:-1] == recorded[:-1] and outcome[-1].startswith(recorded[-1])


@pytest.mark.parametrize(("module", "call"), CALLS, ids=[call for _, call in CALLS])
def test_call(module, call):
    """The same values and types, or error."""
    assert _agree(module.outcome(tf, call), RECORDED[module][call]) == (call not in OTHERWISE)


def test_descriptors_of_a_file(tmp_path):
    path = tmp_path / "descriptors.pb"
    path.write_bytes(descriptors().SerializeToString())
    result = tf.io.decode_proto(messages(), "p.M", ["r_i32"], [tf.int32], str(path))
    assert (result.sizes.shape, result.values[0].shape.as_list()) == ((2, 1), [2, None])
    with tf.Session() as session:
        sizes, (numbers,) = session.run(result)
    assert (sizes.tolist(), numbers.tolist()) == ([[3], [1]], [[1, 2, 3], [5, 0, 0]])
