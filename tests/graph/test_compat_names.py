"""`tf.logging` and `tf.compat`."""

import logging

import pytest

import flatlite.compat.v1 as tf


def test_messages_at_some_of_the_times(caplog):
    with caplog.at_level(logging.INFO, "flatlite"):
        for i in range(7):
            tf.logging.log_every_n(tf.logging.INFO, "every %d", 3, i)
            tf.logging.log_first_n(tf.logging.WARN, "first %d", 2, i)
            tf.logging.log_if(tf.logging.ERROR, "if %d", i == 4, i)
    every, first = (
        [f"{word} {i}" for i in at] for word, at in (("every", [0, 3, 6]), ("first", [0, 1]))
    )
    assert sorted(caplog.messages) == sorted([*every, *first, "if 4"])
    caplog.clear()
    with caplog.at_level(logging.WARNING, "flatlite"):
        tf.logging.vlog(tf.logging.INFO, "not shown")
        tf.logging.TaskLevelStatusMessage("shown")
    assert caplog.messages == ["shown"]
    tf.logging.flush()


def test_sizes():
    assert tf.compat.dimension_value(tf.Dimension(3)) == 3
    assert tf.compat.dimension_value(tf.Dimension(None)) is None
    assert tf.compat.dimension_at_index(tf.TensorShape([2, None]), 0).value == 2
    assert tf.compat.dimension_at_index(tf.TensorShape(None), 4).value is None


def test_text():
    assert (tf.compat.as_bytes("é"), tf.compat.as_text(b"a")) == ("é".encode(), "a")
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 1"):
        tf.compat.as_bytes(1)


def test_horizon():
    assert tf.compat.forward_compatible(2026, 1, 15)
    assert not tf.compat.forward_compatible(2026, 1, 16)
    with tf.compat.forward_compatibility_horizon(2018, 8, 2):
        assert tf.compat.forward_compatible(2018, 8, 1)
        assert not tf.compat.forward_compatible(2019, 1, 1)


def test_versions():
    recorded = {"VERSION": "2.21.0", "GRAPH_DEF_VERSION": 2474}
    for name, value in recorded.items():
        assert (getattr(tf, name), getattr(tf.version, name)) == (value, value)
    assert (tf.__version__, tf.__git_version__) == (tf.VERSION, tf.GIT_VERSION)
    assert tf.__compiler_version__ == tf.COMPILER_VERSION == tf.version.COMPILER_VERSION
