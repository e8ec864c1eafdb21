"""Models of one recurrent operator each, with seeded weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from flatlite.schema import model as schema
from flatlite.schema.flatbuffer import options_class

BIG = 30
BATCH, STEPS, DEPTH, UNITS, PROJECTED = 2, 5, 7, 10, 6


@dataclass(frozen=True)
class Sort:
    """What a model is like.

    Attributes:
        op: the operator.
        numbers: "float32", "hybrid" (weights of int8), "int8", or "uint8".
        coupled, peepholes, projected, normed: what the cells have.
        narrow: whether products of int8 are rounded to int8, too.
        auxiliary: None, "weights" (added to both directions), "alike" (so, as wide as the input)
            or "second" (the second one's input).
        options: of the operator.
        sizes: batch, steps, depth, units, elements of a result.
    """

    op: str
    numbers: str = "float32"
    coupled: bool = False
    peepholes: bool = False
    projected: bool = False
    normed: bool = False
    narrow: bool = False
    auxiliary: str | None = None
    options: tuple = ()
    sizes: tuple = (BATCH, STEPS, DEPTH, UNITS, PROJECTED)

    @property
    def name(self):
        flags = [
            f for f in ("coupled", "peepholes", "projected", "normed", "narrow") if getattr(self, f)
        ]
        flags += [f"auxiliary_{self.auxiliary}"] if self.auxiliary else []
        flags += [key for key, _ in self.options]
        size = [] if self.sizes == Sort.sizes else ["x".join(map(str, self.sizes))]
        return "-".join([self.op.lower(), self.numbers, *flags, *size])


class Maker:
    """A subgraph of one operator, input by input."""

    def __init__(self, sort: Sort):
        self.sort = sort
        self.random = np.random.default_rng(len(sort.name))
        self.graph = schema.Subgraph("main")
        self.inputs, self.outputs, self.intermediates = [], [], []

    def tensor(self, shape, dtype="FLOAT32", scale=None, zero=0, **fields):
        graph = self.graph
        if scale is not None:
            scales = np.float32(np.atleast_1d(scale))
            fields["quantization"] = schema.Quantization(scales, np.full(scales.size, zero))
        graph.tensors.append(schema.Tensor(f"t{len(graph.tensors)}", shape, dtype, **fields))
        return len(graph.tensors) - 1

    def add_input(self, shape):
        """An input of the model."""
        is_int8 = self.sort.numbers == "int8"
        index = self.tensor(shape, *(("INT8", 0.02, 3) if is_int8 else ("FLOAT32",)))
        self.graph.inputs.append(index)
        self.inputs.append(index)

    def weights(self, *shape, spread=0.5):
        """Weights, of 8 bits where the model has such."""
        if self.sort.numbers == "float32":
            self.reals(*shape, spread=spread)
            return
        data = self.random.integers(-127, 128, shape).astype(np.int8)
        self.inputs.append(self.tensor(shape, "INT8", spread / 100, data=data))

    def reals(self, *shape, spread=0.5):
        spread = spread / 4 if shape[-1] > BIG else spread  # else rounding errors grow
        data = self.random.normal(0, spread, shape).astype(np.float32)
        self.inputs.append(self.tensor(shape, data=data))

    def whole(self, dtype, most, shape, scale):
        data = self.random.integers(-most, most + 1, shape).astype(dtype)
        self.inputs.append(self.tensor(shape, dtype.upper(), scale, data=data))

    def omitted(self, count=1):
        self.inputs += [-1] * count

    def state(self, *shape, dtype="FLOAT32", scale=None, zero=0):
        self.inputs.append(self.tensor(shape, dtype, scale, zero, is_variable=True))

    def result(self, shape):
        is_int8 = self.sort.numbers == "int8"
        scheme = ("INT8", 0.0078, 4) if is_int8 else ("FLOAT32",)
        self.outputs.append(self.tensor(shape, *scheme))

    def content(self):
        """The file."""
        sort = self.sort
        options = options_class(sort.op)(**dict(sort.options))
        step = schema.Operator(
            sort.op, self.inputs, self.outputs, options, intermediates=self.intermediates
        )
        self.graph.operators.append(step)
        self.graph.outputs = self.outputs
        return schema.save(schema.Model([self.graph]))


def cell(maker, depth):
    """The weights of an LSTM cell but for its states and norms."""
    sort = maker.sort
    _, _, _, units, projected = sort.sizes
    n_out = projected if sort.projected else units
    for width in (depth, n_out):
        for gate in range(4):
            if sort.coupled and not gate:
                maker.omitted()
            else:
                maker.weights(units, width, spread=0.3 + 0.1 * gate)
    for gate in range(3):
        if not sort.peepholes or (sort.coupled and not gate):
            maker.omitted()
        elif sort.numbers == "int8":
            maker.whole("int16", 30000, (units,), 0.00002)
        else:
            maker.weights(units)
    for gate in range(4):
        if sort.coupled and not gate:
            maker.omitted()
        else:
            biases(maker, units)
    if sort.projected:
        maker.weights(projected, units)
        biases(maker, projected)
    else:
        maker.omitted(2)
    return n_out


def biases(maker, n):
    if maker.sort.numbers == "int8":
        maker.whole("int32", 3000, (n,), 0.0001)
    else:
        maker.reals(n)


def states(maker, n_out):
    batch, units = maker.sort.sizes[0], maker.sort.sizes[3]
    if maker.sort.numbers == "int8":
        maker.state(batch, n_out, dtype="INT8", scale=0.0078, zero=4)
        maker.state(batch, units, dtype="INT16", scale=2.0 ** (-15 if maker.sort.narrow else -11))
    else:
        maker.state(batch, n_out)
        maker.state(batch, units)


def norms(maker):
    for gate in range(4):
        if not maker.sort.normed or (maker.sort.coupled and not gate):
            maker.omitted()
        elif maker.sort.numbers == "int8":
            maker.whole("int16", 30000, (maker.sort.sizes[3],), 0.00005)
        else:
            maker.reals(maker.sort.sizes[3])


def intermediates(maker):
    """The scales of values inside an integer cell."""
    if maker.sort.numbers != "int8":
        return
    if maker.sort.narrow:
        for i in range(12):
            scheme = (0.00025, 0) if i % 3 == 0 else (0.012 + 0.001 * i, i - 5)
            maker.intermediates.append(maker.tensor((0,), "INT8", *scheme))
        return
    for gate in range(4):
        maker.intermediates.append(maker.tensor((0,), "INT16", 0.0002 + 0.0001 * gate))
    scheme = (0.0063, -7) if maker.sort.projected else (0.0078, 4)
    maker.intermediates.append(maker.tensor((0,), "INT8", *scheme))


def sequence(sort, *others):
    """The shape of a sequence."""
    batch, steps = sort.sizes[:2]
    return (
        (steps, batch, *others) if dict(sort.options).get("time_major") else (batch, steps, *others)
    )


def lstm(sort):
    """An LSTM, of one step or of a sequence."""
    if dict(sort.options).get("kernel_type"):
        return basic(sort)
    maker, depth = Maker(sort), sort.sizes[2]
    single = sort.op == "LSTM"
    maker.add_input((sort.sizes[0], depth) if single else sequence(sort, depth))
    n_out = cell(maker, depth)
    states(maker, n_out)
    norms(maker)
    intermediates(maker)
    maker.result((sort.sizes[0], n_out) if single else sequence(sort, n_out))
    return maker.content()


def basic(sort):
    """An LSTM with one matrix for all gates."""
    maker = Maker(sort)
    batch, _, depth, units, _ = sort.sizes
    if sort.numbers == "uint8":
        maker.inputs.append(maker.tensor((batch, depth), "UINT8", 1 / 128, 128))
        maker.graph.inputs.append(maker.inputs[0])
        maker.state(batch, units, dtype="UINT8", scale=1 / 128, zero=128)
        data = maker.random.integers(0, 256, (4 * units, depth + units)).astype(np.uint8)
        maker.inputs.append(maker.tensor(data.shape, "UINT8", 0.01, 120, data=data))
        maker.whole("int32", 20000, (4 * units,), 0.01 / 128)
        maker.state(batch, units, dtype="INT16", scale=2.0**-11)
        kinds = [("UINT8", 1 / 128, 128), ("INT16", 2.0**-11), ("UINT8", 1 / 128, 128)]
        kinds.append(("INT16", 2.0**-12))
    else:
        maker.add_input((batch, depth))
        maker.state(batch, units)
        maker.reals(4 * units, depth + units)
        maker.reals(4 * units)
        maker.state(batch, units)
        kinds = [("FLOAT32",)] * 4
    for kind, width in zip(kinds, (units, units, depth + units, 4 * units), strict=True):
        maker.outputs.append(maker.tensor((batch, width), *kind))
    return maker.content()


def auxiliary(maker, gates):
    """The auxiliary input, and weights of `gates` for it in both directions, if there are any."""
    sort = maker.sort
    width = sort.sizes[2] + (sort.auxiliary == "weights")
    if sort.auxiliary:
        maker.add_input(sequence(sort, width))
    else:
        maker.omitted()
    for _ in range(2):
        for gate in range(gates):
            if sort.auxiliary not in ("weights", "alike") or (sort.coupled and not gate):
                maker.omitted()
            else:
                maker.weights(sort.sizes[3], width)


def bidirectional_lstm(sort):
    """LSTMs in both directions."""
    maker, depth = Maker(sort), sort.sizes[2]
    maker.add_input(sequence(sort, depth))
    second = depth
    n_out = cell(maker, depth)
    cell(maker, second)
    states(maker, n_out)
    states(maker, n_out)
    auxiliary(maker, 4)
    directions(maker, n_out)
    return maker.content()


def directions(maker, n_out):
    if dict(maker.sort.options).get("merge_outputs"):
        maker.result(sequence(maker.sort, 2 * n_out))
    else:
        maker.result(sequence(maker.sort, n_out))
        maker.result(sequence(maker.sort, n_out))


def rnn(sort):
    """A plain cell, of one step or of a sequence."""
    maker = Maker(sort)
    batch, _, depth, units, _ = sort.sizes
    single = sort.op == "RNN"
    maker.add_input((batch, depth) if single else sequence(sort, depth))
    maker.weights(units, depth)
    maker.weights(units, units)
    maker.reals(units)
    maker.state(batch, units)
    maker.result((batch, units) if single else sequence(sort, units))
    return maker.content()


def bidirectional_rnn(sort):
    """Plain cells in both directions."""
    maker = Maker(sort)
    batch, _, depth, units, _ = sort.sizes
    maker.add_input(sequence(sort, depth))
    for width in (depth, depth):
        maker.weights(units, width)
        maker.weights(units, units)
        maker.reals(units)
        maker.state(batch, units)
    auxiliary(maker, 1)
    directions(maker, units)
    return maker.content()


def svdf(sort):
    """Filters over time; `projected` gives none a bias."""
    maker = Maker(sort)
    batch, memory, depth, units, _ = sort.sizes
    filters = units * dict(sort.options)["rank"]
    is_int8 = sort.numbers == "int8"
    maker.add_input((batch, depth))
    maker.weights(filters, depth)
    if is_int8:
        maker.whole("int16", 30000, (filters, memory), 0.00003)
    else:
        maker.weights(filters, memory)
    if sort.projected:
        maker.omitted()
    else:
        biases(maker, units)
    kind = {"dtype": "INT16", "scale": 0.0005} if is_int8 else {}
    maker.state(batch, filters * memory, **kind)
    maker.result((batch, units))
    return maker.content()


BUILDERS = {
    "LSTM": lstm,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm,
    "BIDIRECTIONAL_SEQUENCE_LSTM": bidirectional_lstm,
    "RNN": rnn,
    "UNIDIRECTIONAL_SEQUENCE_RNN": rnn,
    "BIDIRECTIONAL_SEQUENCE_RNN": bidirectional_rnn,
    "SVDF": svdf,
}


def content(sort: Sort) -> bytes:
    """The file of a model like `sort`."""
    return BUILDERS[sort.op](sort)


TANH = ("fused_activation_function", 4)
CLIPS = (("cell_clip", 0.6), ("proj_clip", 0.4))


def _lstms():
    for numbers in ("float32", "hybrid", "int8"):
        base = Sort("UNIDIRECTIONAL_SEQUENCE_LSTM", numbers, options=(TANH,))
        yield base
        yield replace(base, options=(TANH, ("time_major", True)))
        yield replace(base, coupled=True, peepholes=True)
        yield replace(base, peepholes=True, projected=True, options=(TANH, *CLIPS))
        yield replace(base, normed=True)
        yield replace(base, normed=True, coupled=True, projected=True)
        yield replace(base, normed=True, peepholes=True, projected=True)
        yield replace(base, peepholes=True, projected=True, options=(TANH, ("time_major", True)))
        yield replace(base, sizes=(1, 3, 40, 70, 33), projected=True)
        yield replace(base, op="LSTM", peepholes=True)
    narrow = Sort("LSTM", "int8", projected=True, normed=True, narrow=True, options=(TANH,))
    yield narrow
    yield replace(narrow, coupled=True, options=(TANH, *CLIPS))
    yield replace(narrow, coupled=True, sizes=(3, 1, 40, 70, 33))
    for numbers in ("float32", "uint8"):
        yield Sort("LSTM", numbers, options=(TANH, ("kernel_type", 1)), sizes=(3, 1, 5, 18, 0))
    base = Sort("UNIDIRECTIONAL_SEQUENCE_LSTM", "hybrid")
    yield replace(base, options=(TANH, ("asymmetric_quantize_inputs", True)), projected=True)
    for activation in (0, 1, 3):
        yield replace(base, numbers="float32", options=(("fused_activation_function", activation),))
    for numbers in ("float32", "hybrid"):
        both = Sort("BIDIRECTIONAL_SEQUENCE_LSTM", numbers, options=(TANH, ("time_major", True)))
        yield both
        yield replace(both, options=(*both.options, ("merge_outputs", True)), peepholes=True)
        yield replace(both, options=(TANH, ("time_major", False)), coupled=True, projected=True)
        yield replace(both, auxiliary="weights")
        yield replace(both, auxiliary="second")


def _others():
    for numbers in ("float32", "hybrid"):
        for activation in (0, 1, 2, 3, 4):
            option = (("fused_activation_function", activation),)
            yield Sort(
                "UNIDIRECTIONAL_SEQUENCE_RNN",
                numbers,
                options=option,
                sizes=(2, 4, 5, 4 + activation, 0),
            )
        yield Sort("RNN", numbers, options=(TANH,))
        both = Sort("BIDIRECTIONAL_SEQUENCE_RNN", numbers, options=(TANH,))
        yield both
        yield replace(both, options=(TANH, ("time_major", False), ("merge_outputs", True)))
        if numbers == "float32":  # LiteRT reads memory it does not own with weights of int8
            yield replace(both, options=(TANH, ("time_major", True), ("merge_outputs", True)))
            yield replace(both, auxiliary="weights")
            yield replace(both, auxiliary="second", options=(TANH, ("time_major", True)))
        yield replace(both, auxiliary="second")
        yield Sort("SVDF", numbers, options=(("rank", 2),))
        yield Sort(
            "SVDF", numbers, projected=True, options=(("rank", 1), ("fused_activation_function", 1))
        )
    for rank in (1, 2):
        yield Sort("SVDF", "int8", options=(("rank", rank), ("fused_activation_function", 1)))
    yield Sort(
        "SVDF", "int8", projected=True, options=(("rank", 3), ("fused_activation_function", 1))
    )
    yield Sort("RNN", "hybrid", options=(TANH, ("asymmetric_quantize_inputs", True)))


SORTS = [*_lstms(), *_others()]
