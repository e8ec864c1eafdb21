"""Batch normalisation: TensorFlow's recorded outputs, gradients, averages and names; errors."""

import make_batch_norm
import numpy as np
import pytest

import flatlite.compat.v1 as tf

GOLDENS = np.load(make_batch_norm.GOLDENS)


@pytest.mark.parametrize("is_tensor", [False, True], ids=["known", "tensor"])
@pytest.mark.parametrize("case", make_batch_norm.CASES)
def test_recorded(case, is_tensor):
    shape, options = make_batch_norm.CASES[case]
    arrays, names = make_batch_norm.results(tf, shape, options, is_tensor)
    prefix = f"{case}:{is_tensor}:"
    assert names == GOLDENS[f"{prefix}names"].tolist()
    keys = sorted(k for k in GOLDENS.files if k.startswith(prefix) and not k.endswith("names"))
    assert len(keys) == len(arrays)
    for got, key in zip(arrays, keys, strict=True):
        np.testing.assert_allclose(got, GOLDENS[key], rtol=2e-4, atol=1e-5, err_msg=key)


def test_errors():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="undefined `axis` dimension"):
            tf.layers.batch_normalization(tf.placeholder(tf.float32, [2, None]))
        wrong = [
            ({"renorm": True, "renorm_clipping": {"max": 1}}, "invalid keys for `renorm_clipping`"),
            ({"virtual_batch_size": 0}, "`virtual_batch_size` must be a positive integer"),
            ({"virtual_batch_size": 2, "axis": 0}, "the batch dimension must be 0"),
            (
                {"virtual_batch_size": 2, "adjustment": lambda shape: (1.0, 0.0)},
                "adjustment cannot be specified",
            ),
            ({"axis": 2}, "Invalid value for `axis` argument"),
            ({"axis": [0, -2]}, "Duplicate axis"),
        ]
        for options, words in wrong:
            with pytest.raises(ValueError, match=words):
                tf.layers.batch_normalization(tf.zeros([2, 3]), **options)
        with pytest.raises(TypeError, match="Expected an int or a list/tuple of ints"):
            tf.layers.batch_normalization(tf.zeros([2, 3]), axis="last")
        with pytest.raises(ValueError, match="Input has undefined rank"):
            tf.layers.batch_normalization(tf.placeholder(tf.float32))


def test_dropout_by_a_tensor():
    with tf.Graph().as_default(), tf.Session() as session:
        training = tf.placeholder(tf.bool, [])
        y = tf.layers.dropout(tf.ones([100]), 0.5, training=training)
        assert set(session.run(y, {training: True}).tolist()) == {0, 2}
        assert set(session.run(y, {training: False}).tolist()) == {1}
