"""`tf.config`; names and texts are TensorFlow 2.21's."""

import pytest

import flatlite.compat.v1 as tf

config = tf.config
GPU = config.PhysicalDevice("/physical_device:GPU:0", "GPU")


@pytest.fixture(autouse=True)
def as_before():
    yield
    config.threading.set_intra_op_parallelism_threads(0)
    config.threading.set_inter_op_parallelism_threads(0)
    config.set_soft_device_placement(False)


def test_devices():
    (cpu,) = config.list_physical_devices()
    assert repr(cpu) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    (placed,) = config.list_logical_devices("CPU")
    assert repr(placed) == "LogicalDevice(name='/device:CPU:0', device_type='CPU')"
    assert config.experimental.list_physical_devices("GPU") == []
    assert config.get_visible_devices("GPU") == config.list_logical_devices("TPU") == []
    config.set_visible_devices([], "GPU")
    config.set_visible_devices(cpu)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: config.set_visible_devices([GPU]), f"Unrecognized device: {GPU!r}"),
        (lambda: config.experimental.set_memory_growth(GPU, True), f"Unrecognized device: {GPU!r}"),
        (
            lambda: config.experimental.set_memory_growth(*config.list_physical_devices(), True),
            "Cannot set memory growth on non-GPU and non-Pluggable devices",
        ),
        (lambda: config.set_visible_devices([]), "the CPU cannot be hidden: graphs run on it"),
        (
            lambda: config.threading.set_intra_op_parallelism_threads(-1),
            "intra_op_parallelism_threads must be a number of threads, 0 or more, got -1",
        ),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError) as raised:
        call()
    assert str(raised.value) == words


def test_threads_of_new_sessions():
    config.threading.set_intra_op_parallelism_threads(3)
    config.threading.set_inter_op_parallelism_threads(2)
    with tf.Session() as session:
        assert session._n_threads == 3
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as session:
        assert session._n_threads == 1
    assert config.threading.get_inter_op_parallelism_threads() == 2
    config.set_soft_device_placement(True)
    assert config.get_soft_device_placement() is True
