"""Runs programs over shapes in TensorFlow and ONNX Runtime; make_programs.py calls it.

python tests/sizes/answer_programs.py DRAWN.pickle ANSWERS.pickle
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import onnxruntime
import tensorflow.compat.v1 as tf
from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors
from stored import feeds, sample

ERRORS = tuple(
    v for v in vars(onnx_errors).values() if isinstance(v, type) and issubclass(v, Exception)
)


def of_tensorflow(content, names, n_outputs, fed):
    """The outputs for each list of arrays; None where TensorFlow refuses it."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(tf.GraphDef.FromString(content), name="")
    options = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    options.graph_options.rewrite_options.disable_meta_optimizer = True
    outputs = [f"out{i}:0" for i in range(n_outputs)]
    with tf.Session(graph=graph, config=options) as session:
        for arrays in fed:
            by_name = {f"{name}:0": array for name, array in zip(names, arrays, strict=True)}
            try:
                yield session.run(outputs, by_name)
            except (tf.errors.OpError, ValueError):
                yield None


def of_onnx_runtime(content, names, n_outputs, fed):
    """The outputs for each list of arrays; None where ONNX Runtime refuses it."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    for arrays in fed:
        with contextlib.suppress(*ERRORS):
            yield session.run(None, dict(zip(names, arrays, strict=True)))
            continue
        yield None


def main() -> None:
    """Answers everything in the first file."""
    with open(sys.argv[1], "rb") as file:
        drawn = pickle.load(file)
    answers = []
    for kind, content, inputs, n_outputs, rows in drawn:
        names = [name for name, *_ in inputs]
        fed = [feeds(inputs, shapes) for shapes in rows]
        run = {"tf": of_tensorflow, "onnx": of_onnx_runtime}[kind]
        try:
            results = list(run(content, names, n_outputs, fed))
        except (*ERRORS, ValueError) as error:
            print(f"{kind} refused: {str(error)[:300]}")
            results = [None] * len(rows)
        answers.append([r and [(x.shape, sample(x)) for x in r] for r in results])
    with open(sys.argv[2], "wb") as file:
        pickle.dump(answers, file)


if __name__ == "__main__":
    main()
