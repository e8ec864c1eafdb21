"""Operators that choose elements by number, and those whose result's size depends on values."""

import numpy as np
from fuzz.drawing import Draw, rows
from fuzz.operators.layout import ANY, HALVES, OTHERS, SCALED


def indices(d: Draw, limit, shape, kinds=("int32", "int64")):
    """Valid positions below `limit`."""
    kind = d.pick(kinds)
    return d.known(d.rng.integers(0, max(limit, 1), shape), kind, at_run_time=0.5)


@rows({"GATHER": f"{ANY} {HALVES} string"})
def gather(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    shape = d.at(x).shape
    axis = d.integer(0, len(shape) - 1)
    batch = d.integer(0, axis) if d.chance(0.3) else 0
    indices_shape = (*shape[:batch], *(d.shape(range(3)) if shape[axis] else (0,)))
    at = indices(d, shape[axis], indices_shape, ("int32", "int64", "int16"))
    expected = (*shape[:axis], *indices_shape[batch:], *shape[axis + 1 :])
    signed_axis = axis - len(shape) if d.chance(0.2) else axis
    d.add(op, [x, at], [d.like(x, expected)], axis=signed_axis, batch_dims=batch)


@rows({"GATHER_ND": f"{ANY} {HALVES} string"})
def gather_nd(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    shape = d.at(x).shape
    depth = d.integer(1, len(shape))
    outer_shape = d.shape(range(3)) if all(shape[:depth]) else (0,)
    points = np.stack([d.rng.integers(0, max(n, 1), outer_shape) for n in shape[:depth]], -1)
    at = d.known(points, d.pick(["int32", "int64", "int16"]), at_run_time=0.5)
    d.add(op, [x, at], [d.like(x, (*outer_shape, *shape[depth:]))])


@rows({"SCATTER_ND": "float32 int32 int64 int8 uint8 bool qint8 quint8"})
def scatter_nd(d: Draw, op, kind):
    shape = tuple(max(n, 1) for n in d.shape(range(1, 4)))
    depth = d.integer(1, len(shape))
    outer_shape = d.shape((1, 1, 2))
    points = np.stack([d.rng.integers(0, n, outer_shape) for n in shape[:depth]], -1)
    updates = d.x(kind, shape=(*outer_shape, *shape[depth:]))
    at = d.known(points, at_run_time=0.5)
    d.add(op, [at, updates, d.known(shape)], [d.like(updates, shape)])


@rows({"EMBEDDING_LOOKUP": f"{ANY} {OTHERS}"})
def embedding_lookup(d: Draw, op, kind):
    table = d.x(kind, ranks=(2, 3))
    shape = d.at(table).shape
    at = indices(d, shape[0], d.shape((1,)) if shape[0] else (0,), ("int32",))
    d.add(op, [at, table], [d.like(table, (*d.at(at).shape, *shape[1:]))])


@rows({"SPARSE_TO_DENSE": "float32 int32 int64 int8 uint8 qint8 quint8"})
def sparse_to_dense(d: Draw, op, kind):
    shape = tuple(max(n, 1) for n in d.shape(range(1, 5)))
    count = d.integer(1, 6)
    points = np.stack([d.rng.integers(0, n, count) for n in shape], -1)
    values = d.x(kind, shape=d.pick([(count,), ()]))
    default = d.x(kind, shape=(), scheme=d.at(values).quantization)
    dtype = d.pick(["int32", "int64"])
    operands = [d.known(points, dtype), d.known(shape, dtype), values, default]
    d.add(op, operands, [d.like(values, shape)])


@rows({"DYNAMIC_UPDATE_SLICE": f"{ANY} {OTHERS}"})
def dynamic_update_slice(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    shape = d.at(x).shape
    sizes = tuple(d.integer(min(1, n), n) for n in shape)
    update = d.x(kind, shape=sizes, scheme=d.at(x).quantization)
    starts = d.known([d.integer(-1, n) for n in shape], d.pick(["int32", "int64"]), 0.5)
    d.add(op, [x, update, starts], [d.like(x)])


@rows({"WHERE": "bool float32 int32 int64 int8 uint8 uint32 qint8 quint8"})
def where(d: Draw, op, kind):
    d.add(op, [d.x(kind, ranks=range(1, 5))], [d.tensor("int64", None)])


@rows({"UNIQUE": f"float32 int8 int16 int32 int64 uint8 {SCALED}"})
def unique(d: Draw, op, kind):
    x = d.x(kind, ranks=(1,))
    wide = d.pick(["int32", "int64"])
    outs = [d.tensor(kind, None, d.at(x).quantization), d.tensor(wide, d.at(x).shape)]
    d.add(op, [x], outs, idx_out_type=wide.upper())


@rows({"TOPK_V2": f"float32 int8 uint8 int16 int32 int64 {SCALED}"})
def top(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    shape = d.at(x).shape
    k = d.integer(0 if d.hollow else min(1, shape[-1]), shape[-1])
    expected = (*shape[:-1], k)
    d.add(op, [x, d.known(k)], [d.like(x, expected), d.tensor("int32", expected)])


@rows({"ARG_MAX": "float32 int32 int8 uint8 bool qint8 quint8"})
@rows({"ARG_MIN": "float32 int32 int8 uint8 bool qint8 quint8"})
def arg_max(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    shape = list(d.at(x).shape)
    axis = d.integer(-len(shape), len(shape) - 1)
    del shape[axis]
    wide = d.pick(["int32", "int64"])
    out = d.tensor(wide, shape)
    d.add(op, [x, d.known(axis, d.pick(["int32", "int64"]))], [out], output_type=wide.upper())


@rows({"SEGMENT_SUM": "float32 int32"})
def segment_sum(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 4))
    steps = d.rng.integers(0, 2, d.at(x).shape[0])
    ids = np.cumsum(steps) - (steps[0] if steps.size else 0)
    d.add(op, [x, d.known(ids, at_run_time=0.5)], [d.tensor(kind, None)])


@rows({f"UNSORTED_SEGMENT_{name}": "float32 int32" for name in ("SUM", "PROD", "MIN", "MAX")})
def unsorted_segments(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 4))
    shape = d.at(x).shape
    count = d.integer(1, 6)
    depth = d.integer(1, len(shape))
    ids = d.rng.integers(-1, count, shape[:depth])
    expected = (count, *shape[depth:])
    out = d.like(x, expected)
    d.close(out)  # an empty segment is the largest float
    d.add(op, [x, d.known(ids, at_run_time=0.5), d.known(count)], [out])
