"""Records graphs that only TensorFlow 2 writes, and what it answers, in graph_functions.npz.

Run as `python tests/converter/tf/make_graph_functions.py` in an environment that has TensorFlow
2.21. A case has the entries "<name>/graph" (a serialized GraphDef), "/ends" (names of inputs, then
of outputs, apart by a bar), "/in/<i>" and "/out/<i>".
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

HERE = Path(__file__).parent
SEED = np.int32([3, 7])
ROWS = np.random.default_rng(0).normal(size=(2, 9)).astype(np.float32)
LINE = np.linspace(-1.7, 2.3, 9, dtype=np.float32)
SYMMETRIC = ROWS[:, :3].T @ ROWS[:, :3] + np.eye(3, dtype=np.float32) * [1, 2, 3]
raw = tf.raw_ops


def quantized(dtype, mode, narrow, round_mode="HALF_AWAY_FROM_ZERO"):
    def function(x):
        attrs = {"mode": mode, "narrow_range": narrow}
        ends = {"min_range": -1.0, "max_range": 2.0}
        q, low, high = raw.QuantizeV2(input=x, T=dtype, round_mode=round_mode, **ends, **attrs)
        return raw.Dequantize(input=q, min_range=low, max_range=high, **attrs)

    return function


def by_seed(seed):
    key, counter = raw.StatelessRandomGetKeyCounter(seed=seed)
    return {"key": key, "counter": counter}


CASES = {
    f"quantized/{dtype.name}/{mode}/{narrow}": (quantized(dtype, mode, narrow), [LINE])
    for dtype in (tf.quint8, tf.qint8)
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
    for narrow in (False, True)
}
Ragged = tf.RaggedTensor
SIX = np.arange(1, 7, dtype=np.float32)
SPLITS = np.int32([0, 2, 2, 5, 6])
CASES |= {
    "ragged/splits": (
        lambda x, at: Ragged.from_row_splits(x, at).to_tensor(),
        [SIX, SPLITS],
    ),
    "ragged/lengths": (
        lambda x, n: Ragged.from_row_lengths(x, n).to_tensor(-1, shape=[3, 2]),
        [np.arange(6), np.int64([1, 4, 0, 1])],
    ),
    "ragged/rowids": (
        lambda x, rows: Ragged.from_value_rowids(x, rows, nrows=5).to_tensor(shape=[6, None, 3]),
        [ROWS.reshape(6, 3), np.int32([0, 0, 1, 3, 3, 3])],
    ),
    "ragged/nested": (
        lambda x, outer, inner: Ragged.from_nested_row_splits(x, [outer, inner]).to_tensor(7.0),
        [SIX, np.int64([0, 3, 3, 4]), SPLITS.astype(np.int64)],
    ),
    "ragged/nested_rowids": (
        lambda x, outer, inner: Ragged.from_nested_value_rowids(x, [outer, inner]).to_tensor(
            shape=[None, 2, None, 3]
        ),
        [ROWS.reshape(6, 3), np.int32([0, 0, 0, 2]), np.int32([0, 0, 2, 3, 3, 3])],
    ),
    "ragged/empty": (
        lambda x, at: Ragged.from_row_splits(x, at).to_tensor(),
        [SIX[:0], np.int32([0, 0, 0])],
    ),
}
CASES |= {
    "quantized/even": (quantized(tf.qint8, "SCALED", False, "HALF_TO_EVEN"), [LINE]),
    "approx_top_k": (lambda x: tf.math.approx_max_k(x, 3), [ROWS]),
    "uniform": (lambda seed: tf.random.stateless_uniform([2, 3], seed), [SEED]),
    "normal": (lambda seed: tf.random.stateless_normal([5], seed), [SEED]),
    "truncated": (lambda seed: tf.random.stateless_truncated_normal([7], seed), [SEED]),
    "integers": (lambda seed: tf.random.stateless_uniform([9], seed, -4, 9, tf.int32), [SEED]),
    "long": (lambda seed: tf.random.stateless_uniform([3], seed, -4, 9, tf.int64), [SEED]),
    "full": (lambda seed: tf.random.stateless_uniform([4], seed, None, None, tf.int32), [SEED]),
    "algorithm": (
        lambda seed: raw.StatelessRandomUniformV2(
            shape=[3], alg=raw.StatelessRandomGetAlg(), **by_seed(seed)
        ),
        [SEED],
    ),
    "fixed": (lambda x: x + tf.random.stateless_normal([2, 9], [1, 2]), [ROWS]),
    "sparse_product": (
        lambda x, y: raw.SparseMatMul(a=x, b=y, transpose_b=True, a_is_sparse=True),
        [ROWS, ROWS],
    ),
    "to_bool": (lambda x: raw.ToBool(input=x), [np.float32(0.5)]),
    "to_bool/elements": (lambda x: raw.ToBool(input=x), [ROWS]),
    "slice": (
        lambda x, start: xla.dynamic_slice(x, start, tf.constant([2, 3])),
        [ROWS, np.int32([1, 7])],
    ),
    "update": (xla.dynamic_update_slice, [ROWS, ROWS[:, :4] * 2, np.int32([-1, 7])]),
    "qr": (tf.linalg.qr, [ROWS.T]),
    "singular": (lambda x: tf.linalg.svd(x, compute_uv=False), [ROWS]),
    "eigen": (tf.linalg.eigvalsh, [SYMMETRIC.astype(np.float32)]),
}
DIAGONALS = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
for _k, _length in ((0, 3), (2, 2), (-1, 2)):
    _line = ROWS[:, :_length]
    CASES |= {
        f"diagonal_of/{_k}": (lambda x, k: tf.linalg.diag_part(x, k=k), [DIAGONALS, np.int32(_k)]),
        f"diagonal/{_k}": (lambda x, k: tf.linalg.diag(x, k=k), [_line, np.int32(_k)]),
        f"diagonal_in_rows/{_k}": (
            lambda x, k: tf.linalg.diag(x, k=k, num_rows=6, padding_value=7),
            [_line, np.int32(_k)],
        ),
        f"diagonal_set/{_k}": (
            lambda x, line, k: tf.linalg.set_diag(x, line, k=k),
            [DIAGONALS, _line, np.int32(_k)],
        ),
    }


def main():
    recorded = {}
    for name, (function, inputs) in CASES.items():
        specs = [tf.TensorSpec(x.shape, x.dtype) for x in inputs]
        traced = tf.function(function).get_concrete_function(*specs)
        run = tf.function(function, jit_compile=name in ("slice", "update"))
        results = tf.nest.flatten(run(*map(tf.constant, inputs)))
        definition = traced.graph.as_graph_def().SerializeToString(deterministic=True)
        recorded[f"{name}/graph"] = np.frombuffer(definition, np.uint8)
        ends = [",".join(t.name for t in side) for side in (traced.inputs, traced.outputs)]
        recorded[f"{name}/ends"] = np.array("|".join(ends))
        recorded.update({f"{name}/in/{i}": x for i, x in enumerate(inputs)})
        recorded.update({f"{name}/out/{i}": x.numpy() for i, x in enumerate(results)})
    np.savez_compressed(HERE / "graph_functions.npz", **recorded)


if __name__ == "__main__":
    main()
