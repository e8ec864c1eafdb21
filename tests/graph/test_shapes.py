"""Static shapes that follow from shapes and small values known in part."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.shapes import broadcast, merge

INT = np.dtype("int32")


class Maker:
    """Appends operations and returns their only output."""

    def __init__(self):
        self.graph = Graph()

    def input(self, shape, dtype="float32"):
        attrs = {"dtype": np.dtype(dtype), "shape": shape}
        return self.graph.add("Placeholder", None, (), attrs).outputs[0]

    def __getattr__(self, kind):
        def add(*inputs, **attrs):
            tensors = [
                item if hasattr(item, "op") else self.graph.constant(np.asarray(item, np.int32))
                for item in inputs
            ]
            return self.graph.add(kind, None, tensors, attrs).outputs[0]

        return add


@pytest.fixture
def make():
    return Maker()


def first(make, shape):
    return make.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)


def test_a_padding_that_there_is_not(make):
    x, w = make.input((1, 4, 4, 1)), make.input((3, 3, 1, 1))
    with pytest.raises(ValueError, match="padding must be SAME, VALID or EXPLICIT, got 'SAM'"):
        make.Conv2D(x, w, strides=[1, 1, 1, 1], padding=b"SAM")


def test_flatten_keeps_the_rest_of_the_shape(make):
    x = make.input((None, 4, 5))
    batch = first(make, make.Shape(x))
    assert batch.value.item() is None
    target = make.Pack(batch, -1)
    assert make.Reshape(x, target).shape == (None, None)
    assert make.Reshape(x, make.Pack(batch, 20)).shape == (None, 20)
    assert make.Reshape(make.input((2, 4, 5)), target).shape == (None, None)


def test_sizes_are_computed_along(make):
    shape = make.Shape(make.input((None, 6, 8, 3)))
    sizes = make.StridedSlice(shape, [1], [3], [1])
    assert sizes.value.tolist() == [6, 8]
    double = make.Mul(sizes, [2, 2])
    images = make.ResizeBilinear(make.input((None, None, None, 3)), double)
    assert images.shape == (None, 12, 16, 3)


@pytest.mark.parametrize("mask", ["begin_mask", "end_mask"])
def test_a_slice_of_an_unknown_size_from_or_to_an_unknown_place(make, mask):
    x, unknown = make.input((None,)), make.input((1,), "int32")
    bounds = (unknown, [3]) if mask == "begin_mask" else ([3], unknown)
    assert make.StridedSlice(x, *bounds, [1], **{mask: 1}).shape == (None,)


def test_unknown_sizes_stay_unknown_through_arithmetic(make):
    shape = make.Shape(make.input((None, 6)))
    product = make.Mul(
        make.Cast(shape, DstT=np.dtype("int64")), make.Cast([3, 3], DstT=np.dtype("int64"))
    )
    assert product.value.tolist() == [None, 18]
    joined = make.ConcatV2(shape, [7], 0)
    assert joined.value.tolist() == [None, 6, 7]
    assert make.Fill(joined, make.input((), "float32")).shape == (None, 6, 7)


def test_joined_unknown_numbers_leave_the_known_ones(make):
    n = make.input((), "int32")
    assert make.Fill(make.Pack(n, 3), make.input(())).shape == (None, 3)
    assert make.Fill(make.input((3,), "int32"), make.input(())).shape == (None, None, None)
    assert make.Fill(make.input((None,), "int32"), make.input(())).sizes is None


def test_large_values_are_not_computed(make):
    assert make.Fill([1024], make.graph.constant(np.float32(1))).value is not None
    big = make.Fill([1025], make.graph.constant(np.float32(1)))
    assert (big.shape, big.value) == ((1025,), None)
    huge = make.Fill([2**31 - 1, 2**31 - 1], make.graph.constant(np.float32(1)))
    assert (huge.shape, huge.value) == ((2**31 - 1, 2**31 - 1), None)


def test_a_placeholder_with_default_has_no_value(make):
    x = make.PlaceholderWithDefault([1, 2], shape=(2,))
    assert (x.shape, x.value) == ((2,), None)


def test_reshape_to_unknown_numbers(make):
    x = make.input((2, None))
    assert make.Reshape(x, make.input((3,), "int32")).shape == (None, None, None)
    assert make.Reshape(x, make.input((None,), "int32")).sizes is None
    assert make.Reshape(make.input((4, 6)), [-1, 8]).shape == (3, 8)
    assert make.Reshape(make.input((None, 0, 6)), [-1, 0]).shape == (None, 0)
    with pytest.raises(ValueError, match="Dimension size must be evenly divisible by 7 but is 24"):
        make.Reshape(make.input((4, 6)), [-1, 7])


CANNOT, DIVIDE = "Cannot reshape a tensor with ", "Dimension size must be evenly divisible by "


@pytest.mark.parametrize(
    ("shape", "target", "text"),
    [
        ((2, 3), [0, -1], f"{CANNOT}6 elements to shape [0,?] (0 elements)"),
        ((2, 3), [0, -1, 3], f"{CANNOT}6 elements to shape [0,?,3] (0 elements)"),
        ((2, 3), [-1, 0], f"{CANNOT}6 elements to shape [?,0] (0 elements)"),
        ((2, 3), [0, 0, -1], f"{CANNOT}6 elements to shape [0,0,?] (0 elements)"),
        ((2, 3), [0], f"{CANNOT}6 elements to shape [0] (0 elements)"),
        ((2, 3), [], f"{CANNOT}6 elements to shape [] (1 elements)"),
        ((), [0, -1], f"{CANNOT}1 elements to shape [0,?] (0 elements)"),
        ((0, 2, 3), [6], f"{CANNOT}0 elements to shape [6] (6 elements)"),
        ((2, 3), [4, -1], f"{DIVIDE}4 but is 6"),
        ((None, 2, 3), [5], f"{DIVIDE}6 but is 5"),
        ((None, 2, 3), [], f"{DIVIDE}6 but is 1"),
        ((2, None, 0), [5], f"{CANNOT}0 elements to shape [5] (5 elements)"),
        (None, [-2, 3], "Invalid value in tensor used for shape: -2"),
    ],
)
def test_reshapes_that_cannot_be(make, shape, target, text):
    """In the words that TensorFlow 2.21 printed, when the graph is made."""
    with pytest.raises(ValueError) as raised:
        make.Reshape(make.input(shape), target)
    assert str(raised.value).split("': ")[-1].split(" for '")[0] == text


@pytest.mark.parametrize(
    ("shape", "target"),
    [((2, None, 0), [4, -1]), ((None, None), [5]), ((None, 2, 3), [0])],
)
def test_reshapes_that_may_be(make, shape, target):
    assert make.Reshape(make.input(shape), target).shape == tuple(0 if n < 0 else n for n in target)


@pytest.mark.parametrize(
    ("shapes", "result"),
    [
        ([(2, 1), (3,)], (2, 3)),
        ([(None, 1), (3,)], (None, 3)),
        ([(None,), (3,)], (3,)),
        ([(None,), (1,)], (None,)),
        ([None, (3,)], None),
        ([(), (2,), (5, 1)], (5, 2)),
        ([(0,), (1,)], (0,)),
    ],
)
def test_broadcast(shapes, result):
    assert broadcast(*shapes) == result


def test_merge():
    assert merge((None, 2), (3, None)) == (3, 2)
    assert merge(None, (3, None)) == (3, None)
    with pytest.raises(ValueError, match="are not compatible"):
        merge((1,), (1, 1))


def test_loops_leave_the_rank_open(make):
    x = make.input((2, 3))
    enter = make.Enter(x, frame_name=b"f")
    merge_op = make.graph.add("Merge", "m", [enter, None], {"T": np.dtype("float32"), "N": 2})
    following = make.NextIteration(merge_op.outputs[0])
    merge_op.set_input(1, following)
    assert [tensor.shape for tensor in merge_op.outputs] == [None, ()]
    assert merge_op.inputs == (enter, following)


NODES = {
    # what TensorFlow 2.21 says
    "tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))": (
        "Dimensions must be equal, but are 3 and 2 for '{{node MatMul}} = MatMul[T=DT_FLOAT, "
        "grad_a=false, grad_b=false, transpose_a=false, transpose_b=false](zeros, zeros_1)' with "
        "input shapes: [2,3], [2,3]."
    ),
    "tf.nn.conv2d(tf.zeros([2, 3]), tf.zeros([2, 3]), 1, 'SAME')": (
        "Shape must be rank 4 but is rank 2 for '{{node Conv2D}} = Conv2D[T=DT_FLOAT, "
        'data_format="NHWC", dilations=[1, 1, 1, 1], explicit_paddings=[], padding="SAME", '
        "strides=[1, 1, 1, 1], use_cudnn_on_gpu=true](zeros, zeros_1)' with input shapes: [2,3], "
        "[2,3]."
    ),
    "tf.ensure_shape(tf.placeholder(tf.float32, [2, 3]), [None, None, 2])": (
        "Shape must be rank 3 but is rank 2 for '{{node EnsureShape}} = EnsureShape[T=DT_FLOAT, "
        "shape=[?,?,2]](Placeholder)' with input shapes: [2,3]."
    ),
    "tf.squeeze(tf.zeros([2, 3]), [0])": (
        "Can not squeeze dim[0], expected a dimension of 1, got 2 for '{{node Squeeze}} = "
        "Squeeze[T=DT_FLOAT, squeeze_dims=[0]](zeros)' with input shapes: [2,3]."
    ),
    "tf.gather_nd(tf.zeros([2, 3]), tf.zeros([2, 5], tf.int32))": (
        "indices.shape[-1] must be <= params.rank, but saw indices shape: [2,5] and params shape: "
        "[2,3] for '{{node GatherNd}} = GatherNd[Tindices=DT_INT32, Tparams=DT_FLOAT, "
        'bad_indices_policy=""](zeros, zeros_1)\' with input shapes: [2,3], [2,5].'
    ),
    "tf.concat([tf.ones([2, 3, 4]), tf.ones([2, 5, 5])], 1)": (
        "Dimension 0 in both shapes must be equal, but are 4 and 5. Shapes are [4] and [5]. "
        "for '{{node concat}} = ConcatV2[N=2, T=DT_FLOAT, Tidx=DT_INT32](ones, ones_1, "
        "concat/axis)' with input shapes: [2,3,4], [2,5,5], [] and with computed input "
        "tensors: input[2] = <1>."
    ),
    "tf.reshape(tf.ones([6]), [4])": (
        "Cannot reshape a tensor with 6 elements to shape [4] (4 elements) for '{{node "
        "Reshape}} = Reshape[T=DT_FLOAT, Tshape=DT_INT32](ones, Reshape/shape)' with input "
        "shapes: [6], [1] and with input tensors computed as partial shapes: input[1] = [4]."
    ),
    "tf.range(3, 1, 1)": (
        "Requires start <= limit when delta > 0: 3/1 for '{{node range}} = "
        "Range[Tidx=DT_INT32](range/start, range/limit, range/delta)' with input shapes: [], "
        "[], [] and with computed input tensors: input[0] = <3>, input[1] = <1>, input[2] = "
        "<1>."
    ),
    "tf.reduce_sum(tf.ones([2, 3]), [0, 5])": (
        "Invalid reduction dimension 5 for input with 2 dimensions. for '{{node Sum}} = "
        "Sum[T=DT_FLOAT, Tidx=DT_INT32, keep_dims=false](ones, Sum/reduction_indices)' with "
        "input shapes: [2,3], [2] and with computed input tensors: input[1] = <0 5>."
    ),
    "tf.split(tf.ones([5, 3]), [2, 2])": (
        "can't split axis of size 5 into pieces of size [2,2] for '{{node split}} = "
        "SplitV[T=DT_FLOAT, Tlen=DT_INT32, num_split=2](ones, Const, split/split_dim)' with "
        "input shapes: [5,3], [2], [] and with computed input tensors: input[1] = <2 2>, "
        "input[2] = <0>."
    ),
    "tf.expand_dims(tf.ones([2, 3]), 5)": (
        "dim 5 not in the interval [-3, 2]. for '{{node ExpandDims}} = "
        "ExpandDims[T=DT_FLOAT, Tdim=DT_INT32](ones, ExpandDims/dim)' with input shapes: "
        "[2,3], [] and with computed input tensors: input[1] = <5>."
    ),
    "tf.broadcast_to(tf.ones([3]), [2, 4])": (
        "Dimensions must be equal, but are 3 and 4 for '{{node BroadcastTo}} = "
        "BroadcastTo[T=DT_FLOAT, Tidx=DT_INT32](ones, BroadcastTo/shape)' with input shapes: "
        "[3], [2] and with input tensors computed as partial shapes: input[1] = [2,4]."
    ),
    "tf.space_to_batch_nd(tf.ones([1, 3, 4, 1]), [2, 2], [[0, 0], [0, 0]])": (
        "Dimension size must be evenly divisible by 2 but is 3 for '{{node SpaceToBatchND}} "
        "= SpaceToBatchND[T=DT_FLOAT, Tblock_shape=DT_INT32, Tpaddings=DT_INT32](ones, "
        "SpaceToBatchND/block_shape, SpaceToBatchND/paddings)' with input shapes: [1,3,4,1], "
        "[2], [2,2] and with computed input tensors: input[1] = <2 2>, input[2] = <[0 0][0 "
        "0]>."
    ),
}


@pytest.mark.parametrize("call", NODES)
def test_errors_write_the_node_with_its_attributes(call):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"for '\{\{node") as caught:
        eval(call, {"tf": tf})
    assert str(caught.value) == NODES[call]


@pytest.mark.parametrize("shape", [[2**33, 1], tf.TensorShape([2**33, 1])])
def test_sizes_above_int32_are_int64(shape):
    with tf.Graph().as_default():
        drawn = tf.random.truncated_normal(shape)
        assert drawn.shape.as_list() == [2**33, 1]
        sizes = [op for op in drawn.graph.operations if op.type == "Const" and op.outputs[0].shape]
        assert sizes[0].outputs[0].dtype == tf.int64
