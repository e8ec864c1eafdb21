"""`tf.test.TestCase`: what passes, what fails and with which words; `tf.flags` and `tf.app`."""

import io
import subprocess
import sys
import unittest

import numpy as np
import pytest

import flatlite.compat.v1 as tf

NAN = float("nan")


class Example(tf.test.TestCase):
    """A test case as programs have them; pytest does not collect it."""

    __test__ = False

    def runTest(self):
        """Nothing: the comparisons are called from outside."""


@pytest.fixture
def case():
    case = Example()
    case.setUp()
    yield case
    case.tearDown()


PASS = [
    ("assertAllClose", ({"a": [1.0, NAN]}, {"a": [1.0 + 1e-7, NAN]})),
    ("assertAllClose", ([np.ones(2), np.ones(3)], [np.ones(2), np.ones(3)])),
    ("assertAllEqual", (np.array([b"a"]), [b"a"])),
    ("assertAllEqual", ([[1.0, NAN]], [[1.0, NAN]])),
    ("assertAllCloseAccordingToType", (np.float16([1.0]), np.float16([1.001]))),
    ("assertAllGreater", ([2, 3], 1)),
    ("assertAllGreaterEqual", ([2, 3], 2)),
    ("assertAllLess", ([2, 3], 4)),
    ("assertAllLessEqual", ([2, 3], 3)),
    ("assertAllInRange", ([1, 2], 1, 2)),
    ("assertAllInSet", ([1, 2], {1, 2, 3})),
    ("assertArrayNear", ([1.0, 2.0], [1.05, 2.0], 0.1)),
    ("assertDeviceEqual", ("/cpu:0", "/device:CPU:0")),
    ("assertDTypeEqual", (np.int8([1]), tf.int8)),
    ("assertNDArrayNear", (np.ones(4), np.ones(4) + 0.01, 0.1)),
    ("assertNear", (1.0, 1.05, 0.1)),
    ("assertNotAllClose", ([1.0], [2.0])),
    ("assertNotAllEqual", ([1], [2])),
    ("assertShapeEqual", (np.zeros((2, 3)), np.ones((2, 3)))),
]
FAIL = [
    ("assertAllClose", ([1.0, 2.0], [1.0, 3.0]), "2.0 at (1,): not within rtol = 1e-06"),
    ("assertAllClose", ([1.0], [1.0, 3.0]), "Shape mismatch: expected (1,), got (2,)."),
    ("assertAllClose", ({"a": 1.0}, {"b": 1.0}), "Element counts were not equal"),
    ("assertAllEqual", ([[1, 2]], [[1, 4]]), "2 at (0, 1): not equal to [[1 4]]; 1 of 2 elements"),
    ("assertAllEqual", (np.arange(99), np.ones(99)), "and 88 more"),
    ("assertAllCloseAccordingToType", (np.float32([1.0]), np.float32([1.001])), "not within"),
    ("assertAllGreater", ([2, 1], 1), "1 at (1,): not > 1"),
    ("assertAllInRange", ([1, 2], 1, 2, True), "1 at (0,): not in (1, 2]"),
    ("assertAllInSet", ([1, 5], {1, 2}), "5 at (1,): not in {1, 2}"),
    ("assertDeviceEqual", ("/cpu:0", "/cpu:1"), "Devices /cpu:0 and /cpu:1 differ"),
    ("assertNear", (1.0, 2.0, 0.1), "1.0 != 2.0 +/- 0.1"),
    ("assertNotAllClose", ([1.0], [1.0]), "The two values are close at all elements."),
    ("assertNotAllEqual", ([1], [1]), "The two values are equal at all elements."),
    ("assertShapeEqual", (np.zeros(2), np.zeros(3)), "Lists differ: [2] != [3]"),
]


@pytest.mark.parametrize(("method", "arguments"), PASS)
def test_comparisons_that_hold(case, method, arguments):
    getattr(case, method)(*arguments)


@pytest.mark.parametrize(("method", "arguments", "words"), FAIL)
def test_comparisons_that_fail(case, method, arguments, words):
    with pytest.raises(AssertionError) as raised:
        getattr(case, method)(*arguments)
    assert words in str(raised.value)


def test_tensors_are_evaluated(case):
    v = tf.Variable([1.0, 2.0])
    with case.test_session() as session:
        session.run(v.initializer)
        case.assertAllEqual(v, [1, 2])
        case.assertAllClose(v + 1, [2, 3])
        with case.cached_session() as again:
            assert again is session
        with case.assertRaisesOpError("must feed a value"):
            tf.placeholder(tf.float32).eval()
    match = "The graph used to get the cached session is different"
    with pytest.raises(ValueError, match=match), case.cached_session(graph=tf.Graph()):
        pass


def test_ragged_tensors(case):
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    case.assertAllEqual(ragged, [[1.0], [2.0, 3.0]])
    case.assertAllClose(ragged + 1e-8, case.evaluate(ragged))
    with pytest.raises(AssertionError, match="Lists differ"):
        case.assertAllEqual(ragged, [[1.0], [2.0]])
    with pytest.raises(AssertionError, match=r"3.0 at \(1,\): not within"):
        case.assertAllClose(ragged, [[1.0], [2.0, 4.0]])


def test_each_test_has_seeds_and_a_graph(case):
    with case.test_session():
        first = tf.random_normal([3]).eval()
    graph, numbers = tf.get_default_graph(), np.random.rand(3)  # noqa: NPY002
    case.setUp()
    assert tf.get_default_graph() is not graph
    np.testing.assert_array_equal(np.random.rand(3), numbers)  # noqa: NPY002
    with case.test_session():
        np.testing.assert_array_equal(tf.random_normal([3]).eval(), first)


def test_messages(case):
    graph = tf.Graph().as_graph_def(add_shapes=True)
    versions = f"versions {{ producer: {graph.versions.producer} }}"
    case.assertProtoEquals(versions, graph)
    with pytest.raises(AssertionError):
        case.assertProtoEquals("versions { producer: 1 }", graph)
    with tf.Graph().as_default() as other:
        tf.constant(1, name="c")
    tf.test.assert_equal_graph_def(other.as_graph_def(), other.as_graph_def())
    with pytest.raises(AssertionError, match="nodes that lack: c"):
        tf.test.assert_equal_graph_def(graph, other.as_graph_def())


def test_a_thread_that_raises_fails_the_test(case):
    thread = case.checkedThread(lambda: 1 / 0)
    thread.start()
    with pytest.raises(AssertionError, match="Error in checkedThread: division by zero"):
        thread.join()


class SquareTest(tf.test.TestCase):
    def testSquare(self):
        with self.test_session():
            self.assertAllClose(tf.square([1.0, 2.0]), [1, 4])


def test_as_unittest_runs_it():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(SquareTest)
    result = unittest.TextTestRunner(io.StringIO()).run(suite)
    assert (result.testsRun, len(result.skipped)) == (2, 1)  # test_session is none
    assert not result.failures + result.errors


PROGRAM = """
import sys
import flatlite.compat.v1 as tf

tf.app.flags.DEFINE_string("name", "x", "A name.")
tf.flags.DEFINE_integer(flag_name="steps", default_value=3, docstring="How many.")
FLAGS = tf.flags.FLAGS


def main(argv):
    print(argv[1:], FLAGS.name, FLAGS.steps, "name" in FLAGS, FLAGS["steps"].value)
    FLAGS.steps = 7
    return FLAGS.steps


print(FLAGS.steps)  # parses the command line
tf.app.run(argv=[*sys.argv, "--unknown=1"])
"""


def test_a_program_with_flags():
    command = [sys.executable, "-c", PROGRAM, "--steps", "5", "file"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.stdout == "5\n['file', '--unknown=1'] x 5 True 5\n"
    assert ended.returncode == 7
