"""Functions of all slices at once give what TensorFlow gave for each slice by itself."""

from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from .vectorized_programs import FUNCTIONS, IN_LOOPS, X, results

RECORDED = np.load(Path(__file__).with_name("vectorized_programs.npz"))


def recorded(name):
    """The results of a function, in order."""
    n = len([key for key in RECORDED.files if key.startswith(f"{name}/")])
    return [RECORDED[f"{name}/{i}"] for i in range(n)]


@pytest.mark.filterwarnings("ignore:colocate|.*deprecated")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_vectorized_map(name):
    """Values, shapes and types; without loops but where an operation needs one."""
    for actual, expected in zip(results(tf, name), recorded(name), strict=True):
        assert actual.shape == expected.shape
        if actual.dtype == object:
            assert actual.tolist() == expected.tolist()
        else:
            assert actual.dtype == expected.dtype
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:colocate|.*deprecated")
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("mix", *IN_LOOPS)])
def test_elements_at_once(name):
    """A dataset's function gives for a batch of elements what it gives for each."""
    function, *elems = FUNCTIONS[name]
    dataset = tf.data.Dataset.from_tensor_slices(tuple(elems))
    dataset = dataset.map(lambda *parts: tuple(tf.nest.flatten(function(tf, *parts))))
    batch = tf.data.make_one_shot_iterator(dataset.batch(len(elems[0]))).get_next()
    with tf.Session() as session:
        for actual, expected in zip(session.run(batch), recorded(name), strict=True):
            if actual.dtype == object:
                assert actual.tolist() == expected.tolist()
            else:
                np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def test_no_form_for_all_slices():
    """An operation that needs a loop is an error where none may be made, or a warning."""
    with pytest.raises(
        ValueError, match=r"StatelessWhile 'while' has no form for all rows at once"
    ):
        tf.vectorized_map(FUNCTIONS["in_a_loop"][0].__get__(tf), X[:, 0, 0], False)
    with pytest.warns(UserWarning, match=r"StatelessWhile 'while.*' has no form for all slices"):
        tf.vectorized_map(FUNCTIONS["in_a_loop"][0].__get__(tf), X[:, 0, 0])


def test_unequal_lengths():
    """Elements have equally many slices, or one that is the same for all."""
    with pytest.raises(ValueError, match=r"elements must have equally many slices, got \[2, 3\]"):
        tf.vectorized_map(lambda pair: pair[0], (tf.zeros([2]), tf.zeros([3])))
    same = tf.vectorized_map(lambda pair: pair[0] + pair[1], (tf.zeros([3, 2]), tf.ones([1, 2])))
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(same), np.ones([3, 2]))
