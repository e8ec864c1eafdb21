"""Results of branches, here and in LiteRT."""

import numpy as np
import pytest
import running
from rewriting import graph_of

import flatlite.compat.v1 as tf
from flatlite.converter.ir.write import write
from flatlite.converter.passes.branches import copy_results, trim_branches
from flatlite.lite import Interpreter
from flatlite.schema.model import save

TEXT = """graph main(c: bool[], x: float32[3], y: float32[3]) {
             p: float32[3], q: float32[3], r: float32[3] = IF(c, x, y; calls=[then, else])
             return RESULTS
           }

           graph then(x: float32[3], y: float32[3]) {
             a = SIN(x)
             b = COS(y)
             return a, b, a
           }

           graph else(x: float32[3], y: float32[3]) {
             d = NEG(x)
             e = EXP(y)
             return d, e, LAST
           }"""


@pytest.mark.parametrize(
    ("results", "last", "n_results", "n_inputs"),
    [("p, q, r", "d", 2, 3), ("r", "d", 1, 2), ("p, r", "e", 2, 3), ("p, q, r", "e", 3, 3)],
)
def test_trimmed(results, last, n_results, n_inputs, litert):
    graph = graph_of(TEXT.replace("RESULTS", results).replace("LAST", last))
    trim_branches(graph)
    (branch,) = (op for op in graph.ops if op.kind == "IF")
    assert (len(branch.outputs), len(branch.inputs)) == (n_results, n_inputs)
    assert copy_results(graph) == (last == "e")
    content = save(write(graph).model)
    x, y = np.float32([1, 2, 3]), np.float32([0.5, -1, 2])
    values = {
        True: {"p": np.sin(x), "q": np.cos(y), "r": np.sin(x)},
        False: {"p": -x, "q": np.exp(y), "r": -x if last == "d" else np.exp(y)},
    }
    for condition, expected in values.items():
        feeds = [np.array(condition), x, y]
        (theirs,) = litert.run(content, [feeds])
        for got in (theirs, running.answers(Interpreter(model_content=content), *feeds)):
            for name, value in zip(results.split(", "), got, strict=True):
                np.testing.assert_allclose(value, expected[name], rtol=1e-6)


def test_equal_results_of_a_source(litert):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, (3,), "x")
        results = tf.cond(
            tf.reduce_sum(x) > 0,
            lambda: (tf.sin(x), tf.sin(x), x * 2),
            lambda: (tf.cos(x), x * 3, x * 3),
        )
    with tf.Session(graph=graph) as session:
        converter = tf.lite.TFLiteConverter.from_session(session, [x], list(results))
        content = converter.convert()
    value = np.float32([1, 2, -1])
    for sign, expected in ((1, (np.sin, np.sin, 2)), (-1, (np.cos, 3, 3))):
        fed = sign * value
        (got,) = litert.run(content, [[fed]])
        for result, f in zip(got, expected, strict=True):
            np.testing.assert_allclose(result, f(fed) if callable(f) else f * fed, rtol=1e-5)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_constant_strings_of_a_source(shape, litert):
    graph = tf.Graph()
    with graph.as_default():
        index = tf.placeholder(tf.int32, (), "index")
        words = [np.full(shape, word, object) for word in (b"yes", b"no, not now", b"perhaps")]
        branches = [lambda word=word: tf.constant(word) for word in words]
        result = tf.switch_case(index, branches)
    with tf.Session(graph=graph) as session:
        content = tf.lite.TFLiteConverter.from_session(session, [index], [result]).convert()
    steps = [[np.int32(i)] for i in (2, 0, 1, 2)]
    theirs = litert.run(content, steps)
    for (i,), (got,) in zip(steps, theirs, strict=True):
        (here,) = running.answers(Interpreter(model_content=content), i)
        assert here.tolist() == got.tolist() == words[i].tolist()
