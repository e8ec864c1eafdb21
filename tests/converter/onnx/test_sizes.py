"""ONNX models whose sizes are known only when they run, at several sizes of the inputs."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from onnx_models import REFERENCE, checked, converted, floats, model_of, node
from running import kinds

from flatlite.converter.onnx.reference.evaluator import evaluate
from flatlite.errors import UnsupportedOps
from flatlite.lite import Interpreter, TFLiteConverter


def agrees_at(shapes, model, litert, tolerance=1e-5, content=None):
    """Converts once; the evaluator's answers at all shapes are those of both interpreters."""
    content = content or converted(model)
    interpreter = Interpreter(model_content=content)
    (name,) = [value.name for value in model.graph.input]
    for shape in shapes:
        feeds = {name: floats(*shape)}
        want = ReferenceEvaluator(model).run(None, feeds)[0]
        theirs = litert.run(content, [feeds], REFERENCE, "serving_default")
        assert not isinstance(theirs, str), theirs
        for results in (interpreter.get_signature_runner()(**feeds), theirs[0]):
            np.testing.assert_allclose(results["y"], want, tolerance, tolerance)


def free_model(nodes, shape, constants=None):
    """A model of `x`, all sizes of which are unknown but the channels."""
    return model_of(nodes, {"x": floats(*shape)}, constants=constants, free=set(shape) - {3})


IMAGES = ((1, 3, 4, 6), (2, 3, 5, 3), (1, 3, 1, 8))
SIZE_OF = [
    node("Shape", "x", "shape"),
    node("Gather", "shape at", "last"),
    node("Cast", "last", "length", to=TensorProto.FLOAT),
    node("Mul", "length factor", "scaled"),
    node("Floor", "scaled", "whole"),
    node("Cast", "whole", "tail", to=TensorProto.INT64),
    node("Slice", "shape zero two", "head"),
    node("Concat", "head tail", "sizes", axis=0),
]
"""Batch and channels as they are, height and width times a factor: in floats, as exporters do."""


@pytest.mark.parametrize("factor", [2.0, 1.5, 0.5])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_of_a_free_batch(mode, factor, litert):
    constants = {"scales": np.float32([1, 1, factor, factor])}
    resize = node(
        "Resize",
        "x  scales".replace("  ", " roi "),
        mode=mode,
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    constants["roi"] = np.zeros(0, np.float32)
    is_whole = factor == 2.0
    shape = (5, 3, 6, 7)
    free = {5, 6, 7} if is_whole else {5}
    model = model_of([resize], {"x": floats(*shape)}, constants=constants, free=free)
    sizes = IMAGES if is_whole else ((1, 3, 6, 7), (4, 3, 6, 7))
    agrees_at(sizes, model, litert)


SHRUNK = ((1, 3, 3, 9), (2, 3, 5, 4), (1, 3, 12, 3))
"""Images whose height or width becomes 1 at a third of it."""


@pytest.mark.parametrize(
    ("mode", "transformation", "factor", "shapes"),
    [
        ("nearest", "asymmetric", 2, IMAGES),
        ("nearest", "asymmetric", 1.5, IMAGES),
        ("nearest", "align_corners", 0.34, SHRUNK),
        ("linear", "half_pixel", 0.34, SHRUNK),
        ("linear", "pytorch_half_pixel", 1.5, IMAGES),
        ("linear", "pytorch_half_pixel", 0.34, SHRUNK),
    ],
)
def test_resize_by_computed_sizes(mode, transformation, factor, shapes, litert):
    resize = helper.make_node(
        "Resize",
        ["x", "", "", "sizes"],
        ["y"],
        mode=mode,
        coordinate_transformation_mode=transformation,
        nearest_mode="floor",
    )
    constants = {
        "at": np.int64([2, 3]),
        "factor": np.float32(factor),
        "zero": np.int64([0]),
        "two": np.int64([2]),
    }
    agrees_at(shapes, free_model([*SIZE_OF, resize], (5, 3, 6, 7), constants), litert)


@pytest.mark.parametrize(("length", "count"), [(2, 25), (4, 25), (6, 19), (6, 23), (8, 25)])
def test_nearest_half_way_between_two_elements(length, count, litert):
    """There the old element is the one before, in ONNX Runtime and the evaluator alike."""
    resize = helper.make_node(
        "Resize", ["x", "", "", "sizes"], ["y"], mode="nearest",
        coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_floor",
    )  # fmt: skip
    model = model_of(
        [resize], {"x": floats(1, 3, 4, length)}, constants={"sizes": np.int64([1, 3, 4, count])}
    )
    agrees_at([(1, 3, 4, length)], model, litert)


def test_scattered_slices_of_a_free_image(litert):
    """Into places of two axes, of an array all sizes of which are unknown."""
    constants = {
        "places": np.int64([[0, 2], [0, -2]]),
        "slices": np.int64([[0, 0], [0, 1]]),
        "double": np.float32(2),
    }
    nodes = [
        node("GatherND", "x slices", "from"),
        node("Mul", "from double", "updates"),
        node("ScatterND", "x places updates"),
    ]
    agrees_at(IMAGES, free_model(nodes, (5, 3, 6, 7), constants), litert)


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "LpPool"])
def test_images_smaller_than_a_window_are_none_to_compare_on(kind, litert):
    """Where ONNX Runtime pools part of a first window, TFLite pools nothing."""
    halves = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        node(kind, "x", "half", **halves),
        node(kind, "half", "quarter", **halves),
        node(kind, "quarter", "eighth", **halves),
        node("GlobalAveragePool", "eighth", "y"),
    ]
    agrees_at(((1, 3, 16, 24), (2, 3, 19, 17)), free_model(nodes, (5, 3, 16, 24)), litert)


def test_images_smaller_than_the_window_of_a_convolution_are_none_to_compare_on(litert):
    """ONNX Runtime refuses them; without elements there is no mean."""
    stride = {"strides": [3, 3]}
    nodes = [
        node("Conv", "x w", "third", **stride),
        node("Conv", "third w", "ninth", **stride),
        node("InstanceNormalization", "ninth scale zeros", "even"),
        node("GlobalAveragePool", "even", "y"),
    ]
    constants = {"w": floats(3, 3, 5, 5), "scale": floats(3), "zeros": floats(3)}
    model = free_model(nodes, (5, 3, 33, 34), constants)
    agrees_at(((1, 3, 33, 41), (2, 3, 40, 37)), model, litert, 1e-4)


WINDOWS = [
    ({}, 3, None),
    ({}, 4, 1),
    ({"pads": [1, 1]}, 1, None),
    ({"pads": [1, 1]}, 3, 2),
    ({"strides": [5]}, 3, None),
    ({"strides": [5]}, 5, 1),
    ({"dilations": [9]}, 5, None),
    ({"dilations": [9]}, 28, 1),
    ({"auto_pad": "SAME_UPPER"}, 0, None),
    ({"auto_pad": "SAME_UPPER"}, 1, 1),
    ({"auto_pad": "VALID"}, 3, None),
    ({"auto_pad": "VALID"}, 4, 1),
]
"""Attributes of a convolution with 4 weights, a length, and how many results ONNX Runtime 1.32
gives; None where it says "Invalid input shape"."""


@pytest.mark.parametrize(("attributes", "length", "count"), WINDOWS)
def test_the_reference_convolves_what_onnx_runtime_does(attributes, length, count):
    conv = helper.make_node("Conv", ["x", "w"], ["y"], **attributes)
    feeds = {"x": floats(2, 1, length), "w": floats(2, 1, 4)}
    if count is None:
        with pytest.raises(ValueError, match="smaller than a window"):
            evaluate(conv, {"": 17}, feeds)
    else:
        assert evaluate(conv, {"": 17}, feeds)[0].shape == (2, 2, count)


@pytest.mark.parametrize(
    "attributes",
    [
        {"strides": [2, 2]},
        {"strides": [2, 3], "pads": [1, 0, 1, 2], "output_padding": [1, 0]},
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"strides": [3, 2], "auto_pad": "SAME_LOWER", "dilations": [1, 2]},
    ],
    ids=["plain", "padded", "same_upper", "same_lower"],
)
def test_transposed_convolution_of_a_free_image(attributes, litert):
    constants = {"w": floats(3, 2, 3, 4), "b": floats(2)}
    agrees_at(
        IMAGES, free_model([node("ConvTranspose", "x w b", **attributes)], (5, 3, 6, 7), constants),
        litert, 1e-4,
    )  # fmt: skip


def test_sizes_that_must_agree_keep_the_channels_known(litert):
    """A pyramid: twice half the size is the size, for even ones alone."""
    nodes = [
        node("Conv", "x down", "small", strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Resize", "small roi scales", "large", mode="nearest", nearest_mode="floor",
             coordinate_transformation_mode="asymmetric"),
        node("Concat", "large x", "both", axis=1),
        node("Conv", "both mix"),
    ]  # fmt: skip
    constants = {
        "down": floats(4, 3, 3, 3),
        "mix": floats(2, 7, 1, 1),
        "roi": np.zeros(0, np.float32),
        "scales": np.float32([1, 1, 2, 2]),
    }
    sizes = ((1, 3, 4, 6), (2, 3, 2, 2), (1, 3, 8, 6))
    agrees_at(sizes, free_model(nodes, (5, 3, 6, 7), constants), litert, 1e-4)


def test_reshape_to_a_size_that_may_be_copied(litert):
    """The new height is 1, so the old one is; the channels are stated."""
    nodes = [
        node("Transpose", "x", "last", perm=[0, 2, 3, 1]),
        node("Shape", "x", "shape"),
        node("Gather", "shape at", "width"),
        node("Concat", "zero one width three", "sizes", axis=0),
        node("Reshape", "last sizes", "row"),
        node("Transpose", "row", "first", perm=[0, 3, 1, 2]),
        node("Conv", "first w"),
    ]
    constants = {
        "at": np.int64([3]),
        "zero": np.int64([0]),
        "one": np.int64([1]),
        "three": np.int64([3]),
        "w": floats(2, 3, 1, 1),
    }
    agrees_at(
        ((1, 3, 1, 6), (2, 3, 1, 5), (3, 3, 1, 1)),
        free_model(nodes, (5, 3, 6, 7), constants),
        litert,
    )


def branch(name, kind, *constants):
    tensor = onnx_value(f"{name}_out")
    return helper.make_graph([node(kind, " ".join(("h", *constants)), f"{name}_out")], name, [],
                             [tensor])  # fmt: skip


def onnx_value(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def chosen_branch(other):
    """`x` where its last size is even, else what `other` makes of it, before a convolution."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape last", "length"),
        node("Mod", "length two", "odd"),
        node("Equal", "odd zero", "is_even"),
        node("Identity", "x", "h"),
        node("If", "is_even", "chosen", then_branch=branch("then", "Identity"),
             else_branch=branch("else", *other)),
        node("Conv", "chosen w", "y"),
    ]  # fmt: skip
    constants = {
        "w": floats(2, 3, 3),
        "last": np.int64(2),
        "zero": np.int64(0),
        "two": np.int64(2),
        "axis": np.int64([0]),
    }
    return free_model(nodes, (5, 3, 6), constants)


def test_a_branch_that_alone_fits_is_chosen(litert):
    """ONNX' evaluator refuses the other one at all odd lengths; a warning says what is assumed."""
    model = chosen_branch(("Unsqueeze", "axis"))
    with pytest.warns(UserWarning, match=r"written as its then branch: with the other, Conv 'y'"):
        content = converted(model)
    agrees_at(((1, 3, 4), (2, 3, 8), (3, 3, 6)), model, litert, content=content)


def test_a_branch_that_has_no_lowering_decides_nothing():
    """The other is not taken for granted because of what is missing here."""
    with pytest.raises(UnsupportedOps, match="NoSuchOperation"):
        converted(chosen_branch(("NoSuchOperation",)), verify=False)


@pytest.mark.parametrize("keepdims", [0, 1])
def test_sequences_of_unknown_length(keepdims, litert):
    nodes = [
        node("SplitToSequence", "x", "s", axis=1, keepdims=keepdims),
        node("SequenceAt", "s second", "a"),
        node("SequenceAt", "s last", "z"),
        node("SequenceLength", "s", "n"),
        node("ConcatFromSequence", "s", "y", axis=-1 if not keepdims else 1, new_axis=1 - keepdims),
    ]
    constants = {"second": np.int64(1), "last": np.int64(-1)}
    x = floats(2, 5, 3)
    model = model_of(nodes, {"x": x}, ("a", "z", "n", "y"), constants, free=(5,))
    want = [x[:, 1], x[:, -1], np.int64(5), x if keepdims else x.swapaxes(1, 2)]
    want[:2] = [row[:, None] if keepdims else row for row in want[:2]]
    checked(model, {"x": x}, litert, want)


def test_states_behind_a_loop_have_memory_for_any_batch(litert):
    nodes = [
        node("GRU", "x gw gr", "g", hidden_size=6),
        node("Squeeze", "g one", "s"),
        node("LSTM", "s w r", "l", hidden_size=7),
        node("Squeeze", "l one", "y"),
    ]
    weights = {"gw": floats(1, 18, 3), "gr": floats(1, 18, 6), "w": floats(1, 28, 6)}
    constants = {**weights, "r": floats(1, 28, 7), "one": np.int64([1])}
    model = model_of(nodes, {"x": floats(9, 4, 3)}, constants=constants, free=(9, 4))
    content = converted(model)
    assert kinds(content).count("UNIDIRECTIONAL_SEQUENCE_LSTM") == 1
    agrees_at([(9, 4, 3), (5, 1, 3), (7, 11, 3)], model, litert, content=content)
    x = floats(8, 5, 3)
    (want,) = ReferenceEvaluator(model).run(None, {"x": x})
    with_delegate = litert.run(content, [{"x": x}], "AUTO", "serving_default")
    np.testing.assert_allclose(with_delegate[0]["y"], want, 1e-5, 1e-5)


def test_states_of_zeros_are_none(litert):
    nodes = [
        node("Shape", "x", "n", start=1, end=2),
        node("Concat", "two n units", "sizes", axis=0),
        node("ConstantOfShape", "sizes", "states"),
        node("LSTM", "x w r", "l", hidden_size=7),
        node("Squeeze", "l one", "y"),
    ]
    nodes[3].input[:] = ["x", "w", "r", "", "", "states", "states"]
    constants = {"w": floats(1, 28, 3), "r": floats(1, 28, 7), "one": np.int64([1])}
    constants |= {"two": np.int64([1]), "units": np.int64([7])}
    model = model_of(nodes, {"x": floats(9, 4, 3)}, constants=constants, free=(9, 4))
    content = converted(model)
    assert "FILL" not in kinds(content) and "WHILE" not in kinds(content)
    agrees_at([(9, 4, 3), (5, 1, 3)], model, litert, content=content)


def test_a_size_that_a_reshape_fixes(litert):
    """torch.onnx writes attention with the length it traced, beside a batch that stays free."""
    nodes = [
        node("Shape", "x", "n", start=0, end=1),
        node("Mul", "n heads", "rows"),
        node("Concat", "length rows width", "sizes", axis=0),
        node("Transpose", "x", "by_time", perm=[1, 0, 2]),
        node("Reshape", "by_time sizes", "split"),
        node("Transpose", "split", "y", perm=[1, 0, 2]),
    ]
    constants = {"heads": np.int64([4]), "length": np.int64([7]), "width": np.int64([8])}
    model = model_of(nodes, {"x": floats(2, 7, 32)}, constants=constants, free=(7, 2))
    converter = TFLiteConverter.from_onnx_model(model)
    converter.verify = False  # the source refuses other lengths, and so does the file
    content = converter.convert()
    agrees_at([(2, 7, 32), (1, 7, 32), (5, 7, 32)], model, litert, content=content)
    runner = Interpreter(model_content=content).get_signature_runner()
    with pytest.raises((ValueError, RuntimeError), match="do not divide into"):
        runner(x=floats(1, 5, 32))


PART = node("Unsqueeze", "p zero", "length")
MIXED = node("Conv", "part w", pads=[1, 1])
NORMED = node("LayerNormalization", "part ones", axis=-1)
COUNTED = {
    "slice to p": [PART, node("Slice", "x zero length two", "part"), MIXED],
    "slice from p": [PART, node("Slice", "x length eight two", "part"), MIXED],
    "slice, another axis": [PART, node("Slice", "x zero length one", "part"), NORMED],
    "pad": [
        PART, node("Concat", "five length", "pads", axis=0), node("Pad", "x pads", "part"), MIXED
    ],
    "tile": [
        PART, node("Concat", "pair length", "times", axis=0), node("Tile", "x times", "part"),
        MIXED,
    ],
    "expand": [
        PART, node("Concat", "first length", "sizes", axis=0),
        node("ReduceMean", "x", "mean", axes=[2]), node("Expand", "mean sizes", "part"), MIXED,
    ],
    "reshape": [
        PART, node("Concat", "open length", "sizes", axis=0), node("Reshape", "x sizes", "part"),
        MIXED,
    ],
    "fill": [
        PART, node("Concat", "first length", "sizes", axis=0),
        node("ConstantOfShape", "sizes", "part"), MIXED,
    ],
    "softmax": [PART, node("Slice", "x zero length two", "part"), node("Softmax", "part")],
}  # fmt: skip
"""What has a length that an input says: of the other sizes, what comes next needs to know."""


@pytest.mark.parametrize("nodes", COUNTED.values(), ids=COUNTED)
def test_sizes_beside_one_that_an_input_says_stay_known(nodes, litert):
    every = {
        "zero": [0], "one": [1], "two": [2], "eight": [8], "five": [0] * 5, "pair": [1, 1],
        "first": [1, 4], "open": [-1, 4],
    }  # fmt: skip
    constants = {name: np.int64(numbers) for name, numbers in every.items()}
    constants |= {"w": floats(5, 4, 3), "ones": np.ones(8, np.float32)}
    read = {name for one in nodes for name in one.input}
    constants = {name: array for name, array in constants.items() if name in read}
    model = model_of(nodes, {"x": floats(7, 4, 8), "p": np.int64(2)}, constants=constants, free={7})
    content = converted(model)
    feeds = [{"x": floats(n, 4, 8), "p": np.int64(p)} for n, p in ((2, 1), (1, 4), (3, 2))]
    theirs = litert.run(content, feeds, REFERENCE, "serving_default")
    assert not isinstance(theirs, str), theirs
    runner = Interpreter(model_content=content).get_signature_runner()
    for one, other in zip(feeds, theirs, strict=True):
        want = ReferenceEvaluator(model).run(None, one)[0]
        for results in (runner(**one), other):
            np.testing.assert_allclose(results["y"], want, 1e-5, 1e-5)


SIZES_AGAIN = [
    node("Shape", "x", "shape"),
    node("Gather", "shape first", "n"),
    node("Gather", "shape second", "length"),
    node("Unsqueeze", "n zero", "n1"),
    node("Unsqueeze", "length zero", "length1"),
    node("Concat", "n1 length1 heads", "sizes", axis=0),
    node("Reshape", "x sizes", "r"),
    node("Softmax", "r", "a", axis=-1),
    node("Shape", "a", "again"),
    node("Slice", "again zero two", "rows"),
    node("Concat", "rows minus", "whole", axis=0),
    node("Reshape", "a whole"),
]
"""As exporters write the sizes of attention, in every layer again."""


def test_sizes_are_taken_once(litert):
    constants = {
        "first": np.int64(0),
        "second": np.int64(1),
        "zero": np.int64([0]),
        "two": np.int64([2]),
        "heads": np.int64([3, 8]),
        "minus": np.int64([-1]),
    }
    model = model_of(SIZES_AGAIN, {"x": floats(5, 7, 24)}, constants=constants, free={5, 7})
    content = converted(model)
    sizes = ["SHAPE", "STRIDED_SLICE", "CONCATENATION"]
    assert kinds(content) == [*sizes, "RESHAPE", "SOFTMAX", "CONCATENATION", "RESHAPE"]
    agrees_at([(5, 7, 24), (1, 3, 24), (2, 1, 24)], model, litert, content=content)


def test_whole_numbers_of_strides_are_divided_in_int32(litert):
    """`(n - 1) // 2 + 1`, as torch writes the length behind a stride of 2, where it is negative."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Sub", "shape one", "less"),
        node("Div", "less two", "half"),
        node("Add", "half one", "length"),
        node("ConstantOfShape", "length"),
    ]
    constants = {"one": np.int64([1]), "two": np.int64([2])}
    model = model_of(nodes, {"x": floats(7)}, constants=constants, free={7})
    content = converted(model)
    assert kinds(content).count("DIV") == 1 and len(kinds(content)) < 9
    agrees_at([(7,), (1,), (6,), (0,)], model, litert, content=content)


def test_slices_of_packed_projections_are_one_split(litert):
    """As torch writes its packed projections of attention."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Slice", "shape zero two", "rows"),
        node("Concat", "rows parts", "sizes", axis=0),
        node("Reshape", "x sizes", "packed"),
        node("Unsqueeze", "packed zero", "unit"),
        node("Transpose", "unit", "moved", perm=[3, 1, 2, 0, 4]),
        node("Squeeze", "moved third", "three"),
        *(node("Gather", f"three i{i}", f"g{i}") for i in range(3)),
        node("Sub", "g0 g1", "d"),
        node("Mul", "d g2"),
    ]
    constants = {f"i{i}": np.int64(i) for i in range(3)}
    constants |= {"zero": np.int64([0]), "two": np.int64([2]), "third": np.int64([3])}
    constants["parts"] = np.int64([3, 8])
    model = model_of(nodes, {"x": floats(5, 7, 24)}, constants=constants, free={5, 7})
    content = converted(model)
    assert kinds(content) == ["SPLIT", "SUB", "MUL"]
    agrees_at([(5, 7, 24), (1, 3, 24)], model, litert, content=content)


def test_positions_are_never_negative(litert):
    """Embeddings of positions, whose indices are taken as they are."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape one", "length"),
        node("Range", "zero length one", "steps"),
        node("Add", "steps one", "positions"),
        node("Gather", "table positions", "rows"),
        node("Add", "x rows"),
    ]
    constants = {"zero": np.int64(0), "one": np.int64(1), "table": floats(20, 4)}
    model = model_of(nodes, {"x": floats(3, 7, 4)}, constants=constants, free={3, 7})
    content = converted(model)
    assert "FLOOR_MOD" not in kinds(content)
    agrees_at([(3, 7, 4), (1, 2, 4)], model, litert, content=content)


def test_channels_that_only_the_filters_tell(litert):
    """Tokens that go back into an image whose sizes are computed, as Segformer has it."""
    sizes = [
        node("Conv", "x w", "image", strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Shape", "image", "n", end=1),
        node("Shape", "image", "hw", start=2),
        node("Concat", "n hw unknown", "shape", axis=0),
        node("Max", "shape least", "full"),
        node("Reshape", "image tokens", "rows"),
        node("Transpose", "rows", "words", perm=[0, 2, 1]),
        node("Reshape", "words full", "back"),
        node("Transpose", "back", "first", perm=[0, 3, 1, 2]),
        node("Conv", "first k", pads=[1, 1, 0, 0]),
    ]
    constants = {"w": floats(4, 3, 3, 3), "k": floats(5, 4, 2, 2), "unknown": np.int64([-1]),
                 "least": np.int64([1, 1, 1, -1]), "tokens": np.int64([0, 4, -1])}  # fmt: skip
    model = free_model(sizes, (2, 3, 5, 7), constants)
    agrees_at(((2, 3, 5, 7), (1, 3, 4, 4), (3, 3, 9, 2)), model, litert)
