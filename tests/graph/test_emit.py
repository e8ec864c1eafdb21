"""Instructions of the engine give what the numpy kernels give."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.engine.plan.instruction import Instruction
from flatlite.graph.core.build import ops
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.registry import row_of
from flatlite.graph.emit.registry import EMITTERS
from flatlite.graph.session import compiling

F32 = np.float32
RANDOM = np.random.RandomState(5)


def f32(*shape, low=-2.0, high=2.0):
    return RANDOM.uniform(low, high, shape).astype(F32)


def i32(*shape, high=9):
    return RANDOM.randint(0, high, shape).astype(np.int32)


class Fixed:
    """A shape or axis, which is a constant of the graph; the rest is fed."""

    def __init__(self, numbers):
        self.array = np.int32(numbers)
        self.shape = self.array.shape


EDGES = F32([0.5, -0.5, 1e-9, -1e-9, 3.0, -3.0, 0.0, 30.0, 80.0, -80.0, np.inf, -np.inf, np.nan])
"""Numbers at which a formula of several steps may lose what a single function has."""
PLACES = np.int32([[3, 0, -1], [2, 7, 1]])
NUMBERED = F32([[3, -1, 3, 2, 0], [1, 5, -2, 5, 4]])
MARKS = (Fixed(4), F32(2.5), F32(-1))
FORMULAS = [
    *(("OneHot", (PLACES, *MARKS), {"axis": axis}) for axis in (-1, 0, 1)),
    ("OneHot", (np.int64(2), Fixed(4), np.int32(1), np.int32(0)), {}),
    *(("ReverseV2", (x, Fixed(axes)), {}) for x in (NUMBERED, PLACES) for axes in ([1], [-2, 1])),
    *(("TopKV2", (x, Fixed(3)), {}) for x in (NUMBERED, PLACES)),
    *(
        ("Cumsum", (x, Fixed(axis)), {"exclusive": exclusive, "reverse": reverse})
        for x, axis in ((NUMBERED, -1), (NUMBERED, 0), (PLACES, 1))
        for exclusive in (False, True)
        for reverse in (False, True)
    ),
    *((kind, (EDGES,), {}) for kind in ("Expm1", "Inv", "IsFinite", "IsInf", "IsNan", "Log1p")),
    *((kind, (EDGES,), {}) for kind in ("Reciprocal", "Selu", "Softplus", "Softsign")),
    *((kind, (EDGES[:, None], EDGES), {}) for kind in ("Xdivy", "Xlogy")),
    *((kind, (EDGES[:10], EDGES[9::-1]), {}) for kind in ("InvGrad", "ReciprocalGrad", "SeluGrad")),
    *((kind, (EDGES[:10], EDGES[9::-1]), {}) for kind in ("SoftplusGrad", "SoftsignGrad")),
    ("LeakyReluGrad", (EDGES, EDGES[::-1]), {"alpha": 0.3}),
]


def conv(kind, *arrays, strides=(1, 1), dilations=(1, 1), padding="SAME", **attrs):
    """A convolution's case."""
    if padding == "EXPLICIT":
        attrs["explicit_paddings"] = [0, 0, 1, 2, 0, 1, 0, 0]
    steps = {"strides": [1, *strides, 1], "dilations": [1, *dilations, 1]}
    return kind, arrays, {**steps, "padding": padding, **attrs}


def pool(kind, *arrays, size=(2, 2), strides=(2, 2), padding="VALID"):
    """A pooling's case."""
    return kind, arrays, {"ksize": [1, *size, 1], "strides": [1, *strides, 1], "padding": padding}


def filters_case(x, taps, n, **options):
    """A case of Conv2DBackpropFilter whose gradient has the size that belongs to it."""
    _, _, attrs = conv("", **options)
    with tf.Graph().as_default():
        out = ops.Conv2D(np.zeros(x, F32), np.zeros((*taps, x[3], n), F32), **attrs)
        shape = out.shape
    return "Conv2DBackpropFilter", (f32(*x), Fixed([*taps, x[3], n]), f32(*shape)), attrs


def input_case(x, taps, n, **options):
    """A case of Conv2DBackpropInput, likewise."""
    _, (_, sizes, dy), attrs = filters_case(x, taps, n, **options)
    return "Conv2DBackpropInput", (Fixed(x), f32(*sizes.array), dy), attrs


def pool_gradient(kind, x, **options):
    """A case of a pooling's gradient; elements repeat, so that the first largest one counts."""
    _, _, attrs = pool("", **options)
    with tf.Graph().as_default():
        shape = getattr(ops, kind)(np.zeros(x, F32), **attrs).shape
    gradient_in = i32(*x, high=3).astype(F32)
    if kind == "AvgPool":
        return "AvgPoolGrad", (Fixed(x), f32(*shape)), attrs
    with tf.Graph().as_default(), tf.Session() as session:
        y = session.run(ops.MaxPool(gradient_in, **attrs))
    return "MaxPoolGrad", (gradient_in, y, f32(*shape)), attrs


def batch_norms(kind, *shape, **attrs):
    """Cases of a batch normalization and its gradient, in training and not; channels far from 0."""
    x, scale, offset = 5 + f32(*shape), f32(shape[-1]), f32(shape[-1])
    mean, variance = 5 + f32(shape[-1]), f32(shape[-1], low=0.5)
    for is_training in (True, False):
        options = {"is_training": is_training, "epsilon": 1e-3}
        yield kind, (x, scale, offset, mean, variance), {**options, **attrs}
        reserved = [f32(0)] if kind.endswith("V3") else []
        operands = (f32(*shape), x, scale, mean, variance, *reserved)
        yield kind.replace("Norm", "NormGrad"), operands, options


CASES = [
    ("Identity", (f32(2, 3),), {}),
    ("Reshape", (f32(2, 3), Fixed([3, -1])), {}),
    ("ExpandDims", (f32(2, 3), Fixed(1)), {}),
    ("Squeeze", (f32(2, 1, 3),), {"squeeze_dims": [1]}),
    ("Transpose", (f32(2, 3, 4), Fixed([2, 0, 1])), {}),
    ("ConcatV2", ([f32(2, 3), f32(2, 1)], Fixed(1)), {}),
    ("Pack", ([f32(2, 3), f32(2, 3)],), {"axis": 1}),
    ("Split", (Fixed(1), f32(2, 6)), {"num_split": 3}),
    ("SplitV", (f32(2, 6), Fixed([1, 5]), Fixed(1)), {"num_split": 2}),
    ("Unpack", (f32(2, 3),), {"num": 3, "axis": 1}),
    ("Slice", (f32(4, 5), Fixed([1, 2]), Fixed([2, -1])), {}),
    ("Pad", (f32(2, 3), Fixed([[1, 0], [0, 2]])), {}),
    ("PadV2", (f32(2, 3), Fixed([[1, 0], [0, 2]]), F32(7)), {}),
    ("Tile", (f32(2, 3), Fixed([2, 3])), {}),
    ("BroadcastTo", (f32(2, 1), Fixed([3, 2, 4])), {}),
    ("Fill", (Fixed([2, 3]), F32(4)), {}),
    ("ZerosLike", (f32(2),), {}),
    ("OnesLike", (f32(2),), {}),
    ("GatherV2", (f32(5, 3), i32(4, high=5), Fixed(0)), {}),
    ("GatherV2", (f32(2, 5, 3), np.int64([[4, 0]]), Fixed(1)), {}),
    ("AddV2", (f32(2, 1, 4), f32(3, 1)), {}),
    ("Sub", (i32(4), i32(1)), {}),
    ("Mul", (np.arange(3), np.arange(3)), {}),
    ("RealDiv", (f32(4), f32(4)), {}),
    ("LogicalAnd", (i32(9, high=2) > 0, i32(9, high=2) > 0), {}),
    *((kind, (i32(3, 4, high=2) > 0, Fixed([1])), {}) for kind in ("All", "Any")),
    ("LogicalNot", (i32(9, high=2) > 0,), {}),
    ("LogicalOr", (i32(4, 1, high=2) > 0, i32(3, high=2) > 0), {}),
    *(
        (kind, (np.int32([7, -7, 5, -(2**31)]), np.int32([2, 2, -3, -1])), {})
        for kind in ("FloorDiv", "FloorMod")
    ),
    ("FloorMod", (np.int64([7, -7, 2**40]), np.int64([[3], [-5]])), {}),
    ("Maximum", (f32(4), f32(1)), {}),
    ("Minimum", (f32(4), f32()), {}),
    ("SquaredDifference", (f32(4), f32(2, 4)), {}),
    ("Pow", (f32(4, low=0), f32(4)), {}),
    ("AddN", ([f32(2, 3), f32(2, 3), f32(2, 3)],), {}),
    ("Greater", (f32(4), f32(4)), {}),
    ("LessEqual", (i32(9), i32(9)), {}),
    ("Equal", (i32(9), i32(9)), {}),
    ("Cast", (i32(9),), {"DstT": np.dtype(F32)}),
    ("Cast", (f32(9) > 0,), {"DstT": np.dtype(F32)}),
    ("Cast", (i32(9),), {"DstT": np.dtype(np.int64)}),
    ("Select", (f32(4) > 0, f32(4), f32(4)), {}),
    ("SelectV2", (f32(2, 1) > 0, f32(4), f32()), {}),
    *((kind, (f32(2, 5, low=0.1),), {}) for kind in ("Exp", "Log", "Sqrt", "Rsqrt")),
    *((kind, (f32(33),), {}) for kind in ("Abs", "Neg", "Sign", "Square", "Tanh", "Sigmoid")),
    *((kind, (8 * f32(33),), {}) for kind in ("Relu", "Relu6", "Elu", "Round", "Floor")),
    ("LeakyRelu", (f32(9),), {"alpha": 0.3}),
    *(
        (kind, (f32(33), 8 * f32(33)), {})
        for kind in ("ReluGrad", "Relu6Grad", "EluGrad", "TanhGrad", "SigmoidGrad")
    ),
    ("SqrtGrad", (f32(9, low=0.5), f32(9)), {}),
    ("RsqrtGrad", (f32(9, low=0.5), f32(9)), {}),
    ("MatMul", (f32(5, 40), f32(40, 33)), {}),
    ("MatMul", (f32(40, 5), f32(33, 40)), {"transpose_a": True, "transpose_b": True}),
    ("MatMul", (f32(17, 24), f32(100, 24)), {"transpose_b": True}),
    ("BatchMatMulV2", (f32(2, 1, 3, 4), f32(3, 5, 4)), {"adj_y": True}),
    ("BiasAdd", (f32(2, 4, 4, 6), f32(6)), {}),
    ("BiasAdd", (f32(7, 5), f32(5)), {}),
    ("BiasAddGrad", (f32(2, 4, 4, 6),), {}),
    conv("Conv2D", f32(2, 9, 8, 3), f32(3, 3, 3, 5)),
    conv("Conv2D", f32(2, 9, 8, 3), f32(3, 2, 3, 40), strides=(2, 1), padding="VALID"),
    conv("Conv2D", f32(2, 9, 8, 3), f32(3, 3, 3, 5), dilations=(2, 3)),
    conv("Conv2D", f32(2, 9, 8, 3), f32(3, 3, 3, 5), padding="EXPLICIT"),
    conv("Conv2D", f32(2, 4, 4, 3), f32(1, 1, 3, 5)),
    conv("Conv2D", f32(1, 24, 24, 1), f32(20, 20, 1, 2)),
    conv("DepthwiseConv2dNative", f32(2, 9, 8, 3), f32(3, 3, 3, 2)),
    filters_case((2, 9, 8, 3), (3, 3), 5),
    filters_case((2, 9, 8, 17), (3, 2), 40, strides=(2, 1), padding="VALID"),
    filters_case((2, 9, 8, 3), (3, 3), 33, dilations=(2, 3)),
    filters_case((3, 9, 8, 2), (3, 3), 5, padding="EXPLICIT", strides=(2, 2)),
    filters_case((1, 40, 300, 1), (2, 2), 70),
    input_case((2, 9, 8, 3), (3, 3), 5),
    input_case((2, 9, 8, 3), (3, 2), 40, strides=(2, 1), padding="VALID"),
    input_case((3, 9, 8, 2), (3, 3), 5, padding="EXPLICIT", strides=(2, 2)),
    input_case((1, 12, 12, 32), (3, 3), 32),
    input_case((1, 12, 12, 64), (5, 5), 2),
    pool("MaxPool", f32(2, 7, 8, 3), padding="SAME"),
    pool("AvgPool", f32(2, 7, 8, 3), size=(3, 2), strides=(1, 2), padding="SAME"),
    pool_gradient("MaxPool", (2, 8, 8, 3)),
    pool_gradient("MaxPool", (2, 7, 8, 20), size=(3, 3), strides=(2, 1), padding="SAME"),
    pool_gradient("AvgPool", (2, 8, 8, 3)),
    pool_gradient("AvgPool", (2, 7, 8, 5), size=(3, 3), strides=(2, 1), padding="SAME"),
    ("Softmax", (f32(3, 7),), {}),
    ("LogSoftmax", (f32(3, 7),), {}),
    ("SoftmaxCrossEntropyWithLogits", (f32(4, 7), f32(4, 7, low=0)), {}),
    ("SparseSoftmaxCrossEntropyWithLogits", (20 * f32(4, 7), i32(4, high=7)), {}),
    ("DivNoNan", (f32(3, 4), F32([2, 0, -1, 0])), {}),
    ("DivNoNan", (F32([0, 1, -2]), F32(0)), {}),
    *batch_norms("FusedBatchNorm", 2, 3, 5, 4),
    *batch_norms("FusedBatchNormV3", 4, 16, 16, 12),
    *batch_norms("FusedBatchNormV3", 2, 1, 1, 3, exponential_avg_factor=0.25),
    *batch_norms("FusedBatchNormV3", 1, 1, 1, 2),
    ("SparseSoftmaxCrossEntropyWithLogits", (f32(4, 7), np.int64([6, 0, 1, 2])), {}),
    *((kind, (f32(3, 4, 5), Fixed([0, -1])), {}) for kind in ("Sum", "Mean", "Max", "Min")),
    ("Sum", (i32(3, 4), Fixed([1])), {"keep_dims": True}),
    ("Prod", (f32(3, 4), Fixed(0)), {}),
    ("L2Loss", (f32(3, 4),), {}),
    ("ArgMax", (i32(3, 9), Fixed(1)), {}),
    ("ArgMin", (f32(3, 9, 2), Fixed(-2)), {"output_type": np.dtype(np.int32)}),
]


def _case_id(case):
    kind, arrays, _ = case
    return f"{kind}-{'-'.join(str(np.shape(a)) for a in arrays if not isinstance(a, list))}"


def _build(case):
    """The result of an op, and what to feed: everything but axes and sizes."""
    kind, arrays, attrs = case
    feeds = {}

    def fed(array):
        if isinstance(array, Fixed):
            return array.array
        tensor = tf.placeholder(np.asarray(array).dtype, np.shape(array))
        feeds[tensor] = array
        return tensor

    operands = [[fed(a) for a in x] if isinstance(x, list) else fed(x) for x in arrays]
    result = getattr(ops, kind)(*operands, **attrs)
    return result, feeds


@pytest.mark.parametrize("case", CASES, ids=_case_id)
@pytest.mark.parametrize("threads", [1, 2])
def test_rows(case, threads, monkeypatch):
    """No step in Python, and what the numpy kernel gives."""
    with tf.Graph().as_default():
        result, feeds = _build(case)
        config = tf.ConfigProto(intra_op_parallelism_threads=threads)
        with tf.Session(config=config) as session:
            values = session.run(result, feeds)
            steps = _instructions(session)
        monkeypatch.setattr(compiling.EMITTERS, "get", lambda kind: None)
        with tf.Session() as session:
            expected = session.run(result, feeds)
    assert all(type(instruction) is Instruction for instruction in steps)
    pairs = zip(values, expected, strict=True) if isinstance(values, list) else [(values, expected)]
    for got, expected_row in pairs:
        assert got.dtype == expected_row.dtype
        largest = np.abs(expected_row).max(initial=10)
        np.testing.assert_allclose(got, expected_row, rtol=2e-5, atol=2e-6 * largest)


def _instructions(session):
    return [
        instruction
        for plan in [plan for _, plan in session._plans.items()]
        for instruction in plan.first.program.instructions
    ]


@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: case[0])
def test_formulas(case, monkeypatch):
    """To the last digits, and at the ends of what float32 holds."""
    with tf.Graph().as_default():
        result, feeds = _build(case)
        with tf.Session() as session:
            value = session.run(result, feeds)
            assert all(type(instruction) is Instruction for instruction in _instructions(session))
        monkeypatch.setattr(compiling.EMITTERS, "get", lambda kind: None)
        with tf.Session() as session:
            expected = session.run(result, feeds)
    pairs = zip(value, expected, strict=True) if isinstance(value, list) else [(value, expected)]
    for got, expected_row in pairs:
        assert got.dtype == expected_row.dtype
        np.testing.assert_allclose(got, expected_row, rtol=1e-6, atol=1e-38)


def _network(x, activation):
    h = tf.nn.conv2d(x, tf.constant(f32(3, 3, 2, 4)), strides=1, padding="SAME")
    biased = tf.nn.bias_add(h, f32(4))
    y = activation(biased)
    flat = tf.reshape(y, [-1, 5 * 5 * 4])
    product = tf.matmul(flat, f32(100, 7))
    return h, biased, y, product, f32(7) + product, activation(f32(7) + product)


@pytest.mark.parametrize("activation", [tf.nn.relu, tf.nn.relu6, tf.nn.tanh])
def test_chains(activation, monkeypatch):
    """A product, its bias and its activation are one instruction, unless another reads them."""
    x = 3 * f32(2, 5, 5, 2)
    with tf.Graph().as_default():
        inputs = tf.placeholder(tf.float32, [None, 5, 5, 2])
        tensors = _network(inputs, activation)
        with tf.Session() as session:
            alone = [session.run(tensor, {inputs: x}) for tensor in tensors]
            together = session.run(tensors, {inputs: x})
            fed = session.run(tensors[2], {inputs: x, tensors[1]: -np.ones((2, 5, 5, 4))})
        monkeypatch.setattr(compiling.EMITTERS, "get", lambda kind: None)
        monkeypatch.setattr(compiling.chains, "find", lambda *_: {})
        with tf.Session() as session:
            expected = session.run(tensors, {inputs: x})
    for actual in (alone, together):
        for got, expected_output in zip(actual, expected, strict=True):
            np.testing.assert_allclose(got, expected_output, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(fed, np.tanh(-1) if activation is tf.nn.tanh else 0, rtol=1e-6)


NUMBERS = tuple(map(F32, (0.8, 0.9, 0.1, 0.9, 0.99, 1e-3)))
RATES = [F32(0.1), F32(0.4), F32(0.2)]
UPDATES = [
    ("AssignAdd", [f32(3, 5)], [f32(3, 5)], {}),
    ("AssignSub", [f32(7)], [f32(7)], {}),
    ("ApplyGradientDescent", [f32(40)], [F32(0.1), f32(40)], {}),
    ("ApplyMomentum", [f32(40), f32(40)], [F32(0.1), f32(40), F32(0.9)], {}),
    ("ApplyMomentum", [f32(40), f32(40)], [F32(0.1), f32(40), F32(0.9)], {"use_nesterov": True}),
    ("ApplyAdam", [f32(40), f32(40), f32(40, low=0)], [*NUMBERS, f32(40)], {}),
    ("ApplyAdam", [f32(40), f32(40), f32(40, low=0)], [*NUMBERS, f32(40)], {"use_nesterov": True}),
    ("ApplyAdagrad", [f32(40), f32(40, low=0.1)], [F32(0.1), f32(40)], {}),
    (
        "ApplyAdadelta",
        [f32(40), f32(40, low=0), f32(40, low=0)],
        [*RATES[:2], F32(0.1), f32(40)],
        {},
    ),
    ("ApplyRMSProp", [f32(40), f32(40, low=0), f32(40)], [*RATES, F32(0.1), f32(40)], {}),
    (
        "ApplyCenteredRMSProp",
        [f32(40), f32(40, low=-0.1, high=0.1), f32(40, low=0.1), f32(40)],
        [*RATES, F32(1.0), f32(40)],
        {},
    ),
    ("ApplyFtrl", [f32(40), f32(40, low=0.1), f32(40)], [f32(40), *RATES, F32(-0.5)], {}),
    (
        "ApplyFtrlV2",
        [f32(40), f32(40, low=0.1), f32(40)],
        [f32(40), *RATES, F32(0.1), F32(-0.7)],
        {},
    ),
    ("ApplyProximalGradientDescent", [f32(40)], [*RATES, f32(40)], {}),
    ("ApplyProximalAdagrad", [f32(40), f32(40, low=0.1)], [*RATES, f32(40)], {}),
    ("ApplyAdagradDA", [f32(40), f32(40), f32(40, low=0.1)], [f32(40), *RATES, np.int64(3)], {}),
    ("ApplyGradientDescent", [f32(9).astype(float)], [np.float64(0.1), f32(9).astype(float)], {}),
]


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("kind, values, arrays, attrs", UPDATES)
def test_updates(kind, values, arrays, attrs, resource, monkeypatch):
    """What is left in the variables after two runs is what the numpy kernels leave there."""
    results = []
    for with_rows in (True, False):
        with tf.Graph().as_default(), monkeypatch.context() as patch:
            if not with_rows:
                patch.setattr(compiling.EMITTERS, "get", lambda kind: None)
            variables = [tf.Variable(value, use_resource=resource) for value in values]
            if resource:
                name = f"{kind}VariableOp" if kind.startswith("Assign") else f"Resource{kind}"
                operands = [variable.handle for variable in variables]
            else:
                name, operands = kind, [variable.reference for variable in variables]
            update = getattr(ops, name)(*operands, *map(tf.constant, arrays), **attrs)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for _ in range(2):
                    session.run(getattr(update, "op", update))
                results.append(session.run(variables))
    for got, expected, start in zip(*results, values, strict=True):
        assert not np.allclose(got, start)
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


def test_every_row_has_a_kernel():
    """Whatever an instruction declines, a numpy kernel can do."""
    without = {"RefIdentity", "Snapshot", "ResourceGather", "BatchMatMul", "BiasAddV1"}
    assert [k for k in EMITTERS.names() if k not in without and row_of(k) is None] == []


def test_input_gradients_where_windows_are_all_padding():
    """A window that lies in the padding alone adds nothing."""
    draw = np.random.RandomState(0)
    padding = [[0, 0], [1, 2], [3, 4], [0, 0]]
    with tf.Graph().as_default(), tf.Session() as session:
        filters = tf.constant(draw.randn(4, 2, 3, 2).astype(np.float32))
        y = tf.nn.conv2d(tf.zeros([2, 8, 5, 3]), filters, [1, 3, 2, 1], padding)
        dy = tf.constant(draw.randn(*y.shape.as_list()).astype(np.float32))
        dx = tf.nn.conv2d_backprop_input([2, 8, 5, 3], filters, dy, [1, 3, 2, 1], padding)
        (expected,) = evaluate(dx.graph, [dx], {})
        np.testing.assert_allclose(session.run(dx), expected, rtol=1e-5, atol=1e-6)
