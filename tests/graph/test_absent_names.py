"""Names that flatlite leaves out say what to take, and names of small modules."""

from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.compat.v1 import absent

TABLES = {
    tf: absent.ROOT,
    tf.distribute: absent.DISTRIBUTE,
    tf.tpu: absent.TPU,
    tf.train: absent.TRAIN,
}


@pytest.mark.parametrize("module", TABLES, ids=lambda module: module.__name__)
def test_absent_names_say_what_to_take(module):
    for name, advice in TABLES[module].items():
        assert not hasattr(module, name)
        with pytest.raises(AttributeError) as caught:
            getattr(module, name)
        expected = f"module '{module.__name__}' has no attribute '{name}': {advice}"
        assert str(caught.value) == expected


def test_new_names_are_there():
    for new in absent.V0.values():
        home = tf
        for word in new.split(".")[1:]:
            home = getattr(home, word)


def test_shard():
    x, y = tf.reshape(tf.range(12.0), [4, 3]), tf.range(6.0)
    results = tf.tpu.shard(
        lambda part, other: (part * 2.0, tf.reduce_sum(other), tf.shape(part)),
        [x, y],
        num_shards=2,
        input_shard_axes=[0, 0],
        outputs_from_all_shards=[True, False, False],
    )
    (axis,) = tf.tpu.shard(
        tf.transpose, [x], num_shards=3, input_shard_axes=[1], output_shard_axes=[0]
    )
    (alone,) = tf.tpu.shard(lambda: tf.constant([1.0]), num_shards=2)
    with tf.Session() as session:
        doubled, total, shape = session.run(results)
        np.testing.assert_array_equal(session.run(axis), np.arange(12.0).reshape(4, 3).T)
        assert session.run(alone).tolist() == [1.0, 1.0]
    np.testing.assert_array_equal(doubled, np.arange(12.0).reshape(4, 3) * 2)
    assert (total, shape.tolist()) == (3.0, [2, 3])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"num_shards": 0}, "num_shards must be a positive integer"),
        ({"input_shard_axes": [0, 1]}, "Length of input_shard_axes must be equal to the number"),
        ({"output_shard_axes": []}, "Length of output_shard_axes must be equal to the number"),
        ({"outputs_from_all_shards": [True, True]}, "Length of outputs_from_all_shards must be"),
        ({"infeed_queue": object()}, "infeed_queue must be None"),
    ],
)
def test_shard_refuses(arguments, words):
    with pytest.raises(ValueError, match=words):
        tf.tpu.shard(tf.identity, [tf.zeros([4])], **{"num_shards": 2, **arguments})


def test_resource_loader(tmp_path):
    path = tf.resource_loader.get_path_to_datafile("conftest.py")
    assert path.endswith("tests/graph/conftest.py")
    assert tf.resource_loader.load_resource("conftest.py") == Path(path).read_bytes()
    assert path.startswith(tf.resource_loader.get_data_files_path())
    assert path.startswith(tf.resource_loader.get_root_dir_with_all_resources())
    assert tf.resource_loader.readahead_file_path("x") == "x"


def test_small_functions():
    assert tf.get_logger().name == "flatlite"
    assert tf.enable_control_flow_v2() is None and tf.control_flow_v2_enabled()
    assert tf.is_symbolic_tensor(tf.zeros([])) and not tf.is_symbolic_tensor(np.zeros(1))
    with tf.op_scope([tf.zeros([])], None, "scope") as scope:
        assert scope == "scope/" and tf.zeros([]).op.name.startswith("scope/")
    slices = tf.IndexedSlices(tf.zeros([1]), tf.constant([0]))
    assert tf.convert_to_tensor_or_indexed_slices(slices) is slices
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32 for Indexed"):
        tf.convert_to_tensor_or_indexed_slices(slices, tf.int32)
    assert tf.mixed_precision.FixedLossScale is tf.train.experimental.FixedLossScale


def test_approx_top_k_is_exact():  # TensorFlow's kernel ends its process
    values, places = tf.approx_top_k(np.float32([[3, 1, 2]]), 2)
    lowest, _ = tf.approx_top_k(np.float32([[3], [1], [2]]), 1, 0, is_max_k=False)
    with tf.Session() as session:
        arrays = session.run([values, places, lowest])
    assert [x.tolist() for x in arrays] == [[[3, 2]], [[0, 2]], [[1]]]
