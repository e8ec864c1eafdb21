"""Windows, buckets, spectra, boxes, sequences and look-ups by key."""

import numpy as np
from fuzz.drawing import Draw, rows
from fuzz.operators.elementwise import ACTIVATIONS
from fuzz.operators.layout import ANY, OTHERS, SCALED
from fuzz.operators.products import window


@rows({"BUCKETIZE": "float32 int32 int64 float64"})
def bucketize(d: Draw, op, kind):
    x = d.x(kind)
    bounds = np.sort(d.rng.uniform(-5, 5, d.integer(0, 6))).astype(np.float32)
    bounds = np.round(bounds) if d.flag() else bounds
    d.add(op, [x], [d.tensor("int32", d.at(x).shape)], boundaries=bounds)


@rows({"DILATE": f"{ANY} {OTHERS}"})
def dilate(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 7))
    shape = d.at(x).shape
    factors = [d.integer(1, 3) for _ in shape]
    expected = [n * f - (f - 1) if n else 0 for n, f in zip(shape, factors, strict=True)]
    padding = d.x(kind, shape=(), scheme=d.at(x).quantization)
    d.add(op, [x, d.known(factors), padding], [d.like(x, expected)])


def whole_windows(shape, taps, strides, dilations):
    """How many windows fit along each dimension."""
    sizes = zip(shape, taps, strides, dilations, strict=True)
    return [(n - (t - 1) * dilation - 1) // stride + 1 for n, t, stride, dilation in sizes]


@rows({"REDUCE_WINDOW": f"float32 float64 int8 uint8 int16 int32 int64 bool {SCALED}"}, sums=True)
def reduce_window(d: Draw, op, kind):
    shape = [d.integer(1, 7) for _ in range(d.integer(1, 5))]
    x = d.x(kind, shape=shape)
    functions = ("ALL", "ANY") if kind == "bool" else ("ADD", "MUL", "MINIMUM", "MAXIMUM")
    taps = [d.integer(1, n) for n in shape]
    strides = [d.integer(1, 3) for _ in shape]
    most = [max((n - 1) // (t - 1), 1) if t > 1 else 1 for n, t in zip(shape, taps, strict=True)]
    dilations = [d.integer(1, min(n, 3)) for n in most]
    operands = [d.known(numbers, "int64") for numbers in (taps, strides, dilations)]
    first = d.x(kind, shape=(), scheme=d.at(x).quantization)
    expected = whole_windows(shape, taps, strides, dilations)
    d.add(op, [x, first, *operands], [d.like(x, expected)], reduce_function=d.pick(functions))


@rows({"CONV_3D_TRANSPOSE": "float32"}, sums=True)
def conv_3d_transpose(d: Draw, op, kind):
    n, *sizes, c = (d.integer(1, 4) for _ in range(5))
    taps, strides, _, padding, _ = window(d, sizes, dilated=False)
    out = d.pick([1, 2, 7])
    counts = [
        m * s if padding == "SAME" else (m - 1) * s + t
        for m, s, t in zip(sizes, strides, taps, strict=True)
    ]
    x = d.x(kind, shape=(n, *sizes, c))
    weights, bias = d.constant(kind, (*taps, out, c)), d.constant(kind, (out,))
    steps = {f"stride_{a}": s for a, s in zip("dhw", strides, strict=True)}
    operands = [d.known([n, *counts, out]), weights, x, bias]
    d.add(op, operands, [d.tensor(kind, (n, *counts, out))], padding=padding,
          fused_activation_function=d.pick(ACTIVATIONS), **steps)  # fmt: skip


@rows({"RFFT2D": "float32"}, sums=True)
def rfft2d(d: Draw, op, kind):
    """A spectrum and what is read of it."""
    x = d.x(kind, ranks=range(2, 5))
    height, width = (d.pick([1, 2, 4, 8, 16]) for _ in range(2))
    shape = (*d.at(x).shape[:-2], height, width // 2 + 1)
    spectrum = d.tensor("complex64", shape)
    d.close(spectrum)
    d.add(op, [x, d.known([height, width])], [spectrum])
    for part in ("REAL", "IMAG", "COMPLEX_ABS"):
        if d.flag():
            d.add(part, [spectrum], [d.tensor("float32", shape)])


@rows({"REAL": "complex64 complex128", "IMAG": "complex64 complex128"})
@rows({"COMPLEX_ABS": "complex64 complex128"})
def part(d: Draw, op, kind):
    x = d.x(kind)
    d.add(op, [x], [d.tensor("float32" if kind == "complex64" else "float64", d.at(x).shape)])


@rows({"LSH_PROJECTION": "float32 int32 int64 int8"})
def projection(d: Draw, op, kind):
    """Bits of a hash of rows, as numbers or one by one."""
    seeds = d.constant("float32", (d.integer(1, 4), d.integer(1, 8)))
    x = d.x(kind, ranks=range(1, 4))
    n, bits = d.at(seeds).shape
    weights = d.input("float32", d.at(x).shape[:1]) if d.flag() else -1
    dense = d.flag()
    out = d.tensor("int32", (n * bits if dense else n,))
    d.add(op, [seeds, x, weights], [out], type="DENSE" if dense else "SPARSE")


@rows({"RANDOM_UNIFORM": "int32", "RANDOM_STANDARD_NORMAL": "int32", "MULTINOMIAL": "float32"})
def random(d: Draw, op, kind):
    """What two seeds give; one of them is not 0."""
    d.varies = True
    options = {"seed": d.integer(0, 99), "seed2": d.integer(1, 99)}
    if op == "MULTINOMIAL":
        logits, count, wide = d.x(kind, ranks=(2,)), d.integer(1, 9), d.pick(["int32", "int64"])
        out = d.tensor(wide, (d.at(logits).shape[0], count))
        d.add(op, [logits, d.known(count)], [out], **options)
        return
    shape = d.shape(range(1, 5))
    d.add(op, [d.known(np.array(shape))], [d.tensor("float32", shape)], **options)


@rows({"NON_MAX_SUPPRESSION_V4": "float32", "NON_MAX_SUPPRESSION_V5": "float32"}, sums=True)
def suppression(d: Draw, op, kind):
    n, most = d.integer(0 if d.hollow else 1, 12), d.integer(0, 14)
    corners = d.values(kind, (n, 4), 0, 5)
    boxes = d.known(corners, kind, 0.9)
    scores = d.known(d.rng.permutation(n) / 8, kind, 0.9)
    limits = [d.known(d.pick([0.0, 0.3, 0.5, 1.0]), kind), d.known(d.pick([0.0, 0.4, 2.0]), kind)]
    soft = op.endswith("V5")
    if soft:
        limits.append(d.known(d.pick([0.0, 0.5, 1.0]), kind))
    outs = [d.tensor("int32", (most,)), *[d.tensor(kind, (most,))] * soft, d.tensor("int32", ())]
    d.add(op, [boxes, scores, d.known(most), *limits], outs)


@rows({"HASHTABLE_LOOKUP": f"{ANY} string"})
def hashtable_lookup(d: Draw, op, kind):
    n = d.integer(1, 9)
    keys = np.sort(d.rng.choice(20, n, replace=False))
    values = d.x(kind, shape=(n, *d.shape(range(3))))
    expected = d.known(d.rng.integers(0, 20, d.integer(1, 8)), at_run_time=0.5)
    count = d.at(expected).shape
    outs = [d.like(values, (*count, *d.at(values).shape[1:])), d.tensor("uint8", count)]
    d.add(op, [expected, d.known(keys), values], outs)


@rows({"EMBEDDING_LOOKUP_SPARSE": "float32"}, sums=True)
def embedding_lookup_sparse(d: Draw, op, kind):
    n, rows_of_table, width = d.integer(1, 7), d.integer(1, 9), d.integer(1, 5)
    segments = np.sort(d.rng.integers(0, 4, n))
    points = np.stack([segments, np.arange(n)], -1)
    shape = [int(segments[-1]) + d.integer(1, 2), n]
    table = d.x(kind, shape=(rows_of_table, width))
    weights = d.known(d.values(kind, (n,), 0.5, 2), kind, 0.5)
    ids = d.known(d.rng.integers(0, rows_of_table, n), at_run_time=0.5)
    d.add(op, [ids, d.known(points), d.known(shape), weights, table],
          [d.tensor(kind, None)], combiner=d.pick(("SUM", "MEAN", "SQRTN")))  # fmt: skip


@rows({"UNIDIRECTIONAL_SEQUENCE_RNN": "float32", "RNN": "float32"}, sums=True)
def recurrent(d: Draw, op, kind):
    batch, time, depth, units = (d.integer(1, 5) for _ in range(4))
    major = op != "RNN" and d.flag()
    outer = (batch,) if op == "RNN" else (time, batch) if major else (batch, time)
    x = d.x(kind, shape=(*outer, depth))
    weights = [
        d.constant(kind, shape, None, -1, 1) for shape in ((units, depth), (units, units), (units,))
    ]
    state = d.tensor(kind, (batch, units))
    d.at(state).is_variable = True
    d.close(state)
    options = {} if op == "RNN" else {"time_major": major}
    d.add(op, [x, *weights, state], [d.tensor(kind, (*outer, units))],
          fused_activation_function=d.pick(("NONE", "RELU", "TANH")), **options)  # fmt: skip


@rows({"SVDF": "float32"}, sums=True)
def svdf(d: Draw, op, kind):
    batch, depth, units, rank, memory = (d.integer(1, 4) for _ in range(5))
    filters = units * rank
    x = d.x(kind, shape=(batch, depth))
    weights = [d.constant(kind, shape) for shape in ((filters, depth), (filters, memory))]
    bias = d.constant(kind, (units,)) if d.flag() else -1
    state = d.tensor(kind, (batch, memory * filters))
    d.at(state).is_variable = True
    d.close(state)
    d.add(op, [x, *weights, bias, state], [d.tensor(kind, (batch, units))],
          rank=rank, fused_activation_function=d.pick(("NONE", "RELU")))  # fmt: skip
