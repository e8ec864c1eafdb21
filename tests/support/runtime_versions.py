"""Nodes of ai.onnx whose meaning depends on the operator set, and recurrent layers of all kinds.

make_runtime_nodes.py records what ONNX Runtime gives for them. All of them are verified: the ONNX
project's evaluator, which verification asks, knows the newest operators only, and of recurrent
layers neither activations, nor clip, nor lengths.
"""

import itertools

import numpy as np
from onnx import helper
from runtime_nodes import Row, floats


class Standard(Row):
    """A node of ai.onnx."""

    domain = ""


class Estimator(Standard):
    """A node of ai.onnx.ml."""

    domain, opset = "ai.onnx.ml", 18

    def model(self):
        model = super().model()
        model.opset_import.append(helper.make_opsetid(self.domain, 1))
        return model


def version(opset, *arguments, **attributes):
    """A node in the first operator set that it is valid in, or a later one."""
    row = type("Row", (Standard,), {"opset": opset})(*arguments, **attributes)
    return row


X = floats(3, 4, 5)
IMAGE = floats(2, 3, 4, 5)
BOXES = np.float32([[0.3, 1, 2.9, 3.2], [0, 0, 3, 3], [1.1, 0.4, 3.7, 2.2]])
MORE_BOXES = np.float32([[-4.3, -2.1, 9.7, 14.2], [2, 1, 2, 3], [3.2, 2.1, 1.1, 0.3]])
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STEPS, BATCH, WIDTH, UNITS = 6, 3, 4, 5
WORDS = np.int64([[2, 3, 4, 5, 6, 7, 8], [5, 4, 5, 6, 2, 2, 3]])
LENGTHS = np.int32([6, 1, 3])
BASES = np.array([3, 7, -5, 2, 0, 11, -1, -1, 1])
EXPONENTS = np.array([33, 11, 3, 30, 2, 8, 64, 67, 1000])
WHOLE = np.array([[4, -7, 2], [9, 3, -5], [8, 6, 1]])
OUTPUTS = {"RNN": "y h", "GRU": "y h", "LSTM": "y h c"}


def layer(kind, names="x w r b", outputs=None, opset=14, **attributes):
    """A recurrent layer; `names` of its operands say which of them it has."""
    n = 2 if attributes.get("direction") == "bidirectional" else 1
    by_batch = attributes.get("layout", 0)
    gates = GATES[kind] * UNITS
    state = (BATCH, n, UNITS) if by_batch else (n, BATCH, UNITS)
    arrays = {
        "x": floats(BATCH, STEPS, WIDTH) if by_batch else floats(STEPS, BATCH, WIDTH),
        "w": floats(n, gates, WIDTH, size=0.6),
        "r": floats(n, gates, UNITS, size=0.4),
        "b": floats(n, 2 * gates, size=0.3),
        "l": LENGTHS,
        "h0": floats(*state),
        "c0": floats(*state),
        "p": floats(n, 3 * UNITS, size=0.3),
    }
    feeds = {name: arrays[name] for name in names.split() if name in ("x", "l", "h0", "c0")}
    constants = {name: arrays[name] for name in names.split() if name in ("w", "r", "b", "p")}
    attributes = {"hidden_size": UNITS, **attributes}
    results = outputs or OUTPUTS[kind]
    return version(opset, kind, names, feeds, constants, results, 1e-5, **attributes)


def layers():
    """Each kind in each direction with what its operands and attributes can be."""
    directions = ("forward", "reverse", "bidirectional")
    for kind, direction in itertools.product(GATES, directions):
        yield f"{kind} {direction}", layer(kind, direction=direction)
        yield f"{kind} {direction} lengths", layer(kind, "x w r b l h0", direction=direction)
    for kind in GATES:
        count = {"RNN": 1, "GRU": 2, "LSTM": 3}[kind]
        yield f"{kind} states", layer(kind, "x w r - - h0" + " c0" * (kind == "LSTM"))
        yield f"{kind} clip", layer(kind, clip=0.3)
        for names, alphas, betas in (
            (["Relu", "Affine", "Softsign"], [0.7], [0.1]),
            (["HardSigmoid", "ScaledTanh", "Tanh"], [0.3, 0.8], [0.4, 0.9]),
            (["LeakyRelu", "Elu", "Softplus"], [0.05, 0.6], []),
            (["ThresholdedRelu", "Sigmoid", "Elu"], [0.2, 0.9], []),
        ):
            chosen = names[:count]
            n_alphas = sum(name in WITH_ALPHA for name in chosen)
            n_betas = sum(name in WITH_BETA for name in chosen)
            options = {"activation_alpha": alphas[:n_alphas], "activation_beta": betas[:n_betas]}
            options = {name: values for name, values in options.items() if values}
            yield f"{kind} {chosen[0]}", layer(kind, activations=chosen, clip=2.0, **options)
    yield "GRU after", layer("GRU", "x w r b l", linear_before_reset=1)
    yield "GRU of operator set 7", layer("GRU", "x w r b", opset=7, linear_before_reset=1)
    yield "LSTM peepholes", layer("LSTM", "x w r b - h0 c0 p")
    yield "LSTM peepholes, lengths", layer("LSTM", "x w r b l - - p", direction="bidirectional")
    yield "LSTM of operator set 7", layer("LSTM", "x w r b - h0 c0 p", opset=7, clip=0.5)
    yield "LSTM coupled", layer("LSTM", input_forget=1)


WITH_ALPHA = {"Affine", "Elu", "HardSigmoid", "LeakyRelu", "ScaledTanh", "ThresholdedRelu"}
WITH_BETA = {"Affine", "HardSigmoid", "ScaledTanh"}

LAYERS = dict(layers())
SLOW = {name for i, name in enumerate(LAYERS) if i % 5}
"""Those that are not in every run."""
ROWS = {
    **LAYERS,
    **{
        f"{kind} {axis} of operator set 11": version(11, kind, "x", {"x": X}, axis=axis)
        for kind in ("Softmax", "LogSoftmax", "Hardmax")
        for axis in (0, 1, -1)
    },
    **{
        f"LpNormalization {p} {axis}": version(1, "LpNormalization", "x", {"x": X}, p=p, axis=axis)
        for p in (1, 2)
        for axis in (0, -1)
    },
    **{
        f"GlobalLpPool {p}": version(2, "GlobalLpPool", "x", {"x": IMAGE}, p=p) for p in (1, 2, 3)
    },
    **{
        f"Upsample {mode} of operator set {opset}": version(
            opset, "Upsample", "x s" if opset > 7 else "x", {"x": IMAGE},
            {"s": np.float32([1, 1, 2, 3])} if opset > 7 else {}, mode=mode,
            **({} if opset > 7 else {"scales": [1.0, 1.0, 2.0, 3.0]}))
        for mode in ("nearest", "linear")
        for opset in (7, 9)
    },
    **{
        f"LRN {size}": version(13, "LRN", "x", {"x": IMAGE}, size=size, alpha=0.9, beta=0.6)
        for size in (1, 3, 7)
    },
    "Upsample by a part": version(9, "Upsample", "x s", {"x": IMAGE},
        {"s": np.float32([1, 1, 1.5, 1.6])}, mode="nearest"),
    "Scatter": version(9, "Scatter", "x i u", {"x": X, "i": np.array([[[2, 0], [1, 3]]]),
        "u": floats(1, 2, 2)}, axis=2),
    "RoiAlign of operator set 10": version(10, "RoiAlign", "x r i", {"x": IMAGE, "r": BOXES},
        {"i": np.array([0, 1, 1])}, output_height=2, output_width=3, spatial_scale=0.9,
        sampling_ratio=2),
    **{
        f"RoiAlign {name}": version(opset, "RoiAlign", "x r i",
            {"x": IMAGE[:n], "r": np.concatenate([BOXES, MORE_BOXES])},
            {"i": np.array([0, 1, 1, 0, 1, 1]) % n}, output_height=2, output_width=3,
            spatial_scale=0.9, sampling_ratio=0)
        for name, opset, n in (("of as many samples as places", 16, 2),
            ("of one image", 16, 1), ("of as many samples in set 10", 10, 2))
    },
    "OneHot": version(9, "OneHot", "x d v", {"x": np.array([[0, -1], [2, 5]])},
        {"d": np.float32(4), "v": np.float32([2, 7])}, axis=1),
    "Split": version(13, "Split", "x s", {"x": X}, {"s": np.array([1, 3])}, "y z", axis=1),
    "Resize to sizes of 0 and 1": version(13, "Resize", "x - - s", {"x": IMAGE},
        {"s": np.array([2, 3, 1, 1])}, mode="nearest"),
    "Mod": version(13, "Mod", "x z", {"x": np.int32([7, -7, 5]), "z": np.int32([3, 3, -2])}),
    "Pow of int64": version(15, "Pow", "x z", {"x": BASES, "z": EXPONENTS}),
    "Pow of int32 by int64": version(15, "Pow", "x z", {"x": np.int32(BASES[1:]),
        "z": EXPONENTS[1:]}),
    "Pow of int64 by a whole float32": version(15, "Pow", "x z", {"x": BASES[1:]},
        {"z": np.float32(9)}),
    "Pow of int32 by whole float32": version(15, "Pow", "x z", {"x": np.int32([3, 7, -5])},
        {"z": np.float32([19, 11, 3])}),
    "Pow of int32 by float32": version(15, "Pow", "x z", {"x": np.int32([3, 7, 5]),
        "z": np.float32([2.5, -1, 3])}),
    "Div": version(14, "Div", "x z", {"x": np.int32([7, -7, 5]), "z": np.int32([3, 3, -2])}),
    "ScatterND": version(16, "ScatterND", "x i u", {"x": X, "i": np.array([[2, 1], [0, 3]]),
        "u": floats(2, 5)}),
    "ScatterElements": version(16, "ScatterElements", "x i u", {"x": X,
        "i": np.array([[[2, 0], [1, 3]]]), "u": floats(1, 2, 2)}, axis=2),
    "MaxRoiPool": version(1, "MaxRoiPool", "x r", {"x": floats(2, 3, 9, 8), "r": np.float32(
        [[0, 1, 1, 6, 6], [1, 0, 2, 15, 12], [1, 5, 5, 4, 2], [0, 14, 16, 20, 20]])},
        pooled_shape=[2, 3], spatial_scale=0.5),
    "MelWeightMatrix": version(17, "MelWeightMatrix", "n l r a z", {}, {"n": np.array(8),
        "l": np.array(32), "r": np.array(8000), "a": np.float32(20), "z": np.float32(4000)}),
    **{
        f"TfIdfVectorizer {mode} {skips}": version(9, "TfIdfVectorizer", "x", {"x": WORDS},
            mode=mode, min_gram_length=1, max_gram_length=3, max_skip_count=skips,
            pool_int64s=[2, 3, 5, 4, 5, 5, 6, 7, 8, 3, 4, 5], ngram_counts=[0, 3, 9],
            ngram_indexes=[0, 3, 2, 1, 6, 4, 5], weights=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
        for mode in ("TF", "IDF", "TFIDF")
        for skips in (0, 2)
    },
    "MaxUnpool": version(11, "MaxUnpool", "x i", {"x": floats(1, 1, 2, 2),
        "i": np.array([[[[5, 7], [13, 15]]]])}, kernel_shape=[2, 2], strides=[2, 2]),
    "MaxPool ceil in steps of 1": version(12, "MaxPool", "x", {"x": floats(2, 3, 6, 7)},
        kernel_shape=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1),
    "MaxPool ceil, a window in the padding": version(12, "MaxPool", "x",
        {"x": floats(1, 2, 6, 5)}, kernel_shape=[2, 3], strides=[3, 2], pads=[1, 0, 1, 2],
        ceil_mode=1),
    "MaxPool indices by columns": version(12, "MaxPool", "x", {"x": floats(2, 2, 6, 5)},
        outputs="y i", kernel_shape=[2, 2], strides=[2, 2], storage_order=1),
    **{
        f"{kind} of less than a window, {label}": version(22, kind, "x", {"x": floats(2, 3, *size)},
            **{**attributes, "count_include_pad": 1} if label == "padding counts"
            else attributes)
        for label, size, attributes in (
            ("row", (2,), {"kernel_shape": [3], "strides": [2]}),
            ("image", (1, 7), {"kernel_shape": [2, 2], "strides": [2, 2]}),
            ("padding", (1, 7), {"kernel_shape": [4, 4], "strides": [3, 3],
                "pads": [0, 1, 1, 0]}),
            ("dilated", (2, 7), {"kernel_shape": [2, 2], "strides": [3, 3], "dilations": [2, 2]}),
            ("rounded up", (1, 7), {"kernel_shape": [3, 3], "strides": [4, 4], "ceil_mode": 1}),
            ("volume", (2, 7, 7), {"kernel_shape": [4, 3, 3], "strides": [3, 2, 2]}),
            ("padding counts", (1, 7), {"kernel_shape": [5, 5], "strides": [3, 3],
                "pads": [1, 1, 1, 1]}),
        )
        for kind in ("MaxPool", "AveragePool", "LpPool")
        if label != "padding counts" or kind == "AveragePool"
    },
    **{
        f"ConvTranspose {label}": version(11, "ConvTranspose", "x w b", {"x": floats(2, 6, *size)},
            {"w": floats(6, 2, *kernel), "b": floats(2 * attributes.get("group", 1))}, **attributes)
        for label, size, kernel, attributes in (
            ("more at the end of groups", (3, 5), (3, 2), {"group": 3, "strides": [2, 3],
                "output_padding": [1, 2], "pads": [0, 1, 1, 0]}),
            ("lower", (4, 5), (3, 4), {"strides": [2, 1], "auto_pad": "SAME_LOWER"}),
            ("lower, strides beyond", (5, 3), (1, 2), {"strides": [3, 2],
                "auto_pad": "SAME_LOWER"}),
            ("upper, strides beyond", (4,), (2,), {"strides": [3], "auto_pad": "SAME_UPPER"}),
            ("dilated volumes of groups", (3, 2, 3), (2, 1, 2), {"group": 2,
                "dilations": [2, 1, 1], "strides": [1, 2, 2]}),
        )
    },
    "GatherElements of fewer rows": version(13, "GatherElements", "x i", {"x": X,
        "i": np.array([[[0, -1], [4, 2], [3, 3]], [[1, 1], [-5, 0], [2, 4]]])}, axis=-1),
    **{
        f"GridSample cubic border {align}": version(20, "GridSample", "x g", {"x": IMAGE,
            "g": floats(2, 3, 4, 2)}, mode="cubic", padding_mode="border", align_corners=align)
        for align in (0, 1)
    },
    "IsInf of neither sign": version(10, "IsInf", "x", {"x": np.float32([-np.inf, 0, np.nan,
        np.inf])}, detect_negative=0, detect_positive=0),
    "Mean of a smaller first": version(13, "Mean", "x z w", {"x": floats(1, 4, 1), "z": X,
        "w": floats(5)}),
    "OneHot of fractions": version(11, "OneHot", "x d v", {"x": np.float32([[0.9, -0.9],
        [3, -4], [4.5, -4.5]])}, {"d": np.int64(4), "v": np.int64([2, 7])}, axis=1),
    "Pad that cuts": version(13, "Pad", "x p v", {"x": X}, {"p": np.array([-1, 2, 0, 1, -1, -2]),
        "v": np.float32(3)}),
    "ReduceSumSquare of integers": version(18, "ReduceSumSquare", "x a",
        {"x": np.int32([[3, -4], [5, 6]])}, {"a": np.array([-1])}),
    **{
        f"Slice back from {start} to {end}": version(13, "Slice", "x s e a t", {"x": X},
            {"s": np.array([start]), "e": np.array([end]), "a": np.array([-2]),
            "t": np.array([step])})
        for start, end, step in ((-9, -(2**63) + 1, -1), (2, 2**63 - 1, -1), (9, -9, -2),
            (-9, 3, -1), (-2, 2**31 - 1, -2))
    },
    **{
        f"Unique without order {axis}": version(11, "Unique", "x", {"x": np.float32(
            [[[2, 1], [2, 1], [0, 3]], [[4, 1], [4, 1], [2, 0]]])}, outputs="y i j n", sorted=0,
            **{} if axis is None else {"axis": axis})
        for axis in (None, 1, -1)
    },
    **{
        f"FeatureVectorizer {sizes}": Estimator("FeatureVectorizer", "x z", {"x": floats(3, 2),
            "z": floats(3, 4)}, inputdimensions=sizes)
        for sizes in ([2, 1], [3, 6])
    },
    **{
        f"LinearRegressor {transform} {n}": Estimator("LinearRegressor", "x", {"x": floats(4, 3)},
            targets=n, post_transform=transform, coefficients=floats(3 * n).tolist())
        for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
        for n in (1, 2)
    },
    **{
        f"LinearClassifier of one score {transform}": Estimator("LinearClassifier", "x",
            {"x": floats(6, 3)}, outputs="label y", classlabels_ints=[4, 7], intercepts=[0.2],
            coefficients=floats(3).tolist(), post_transform=transform)
        for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
    },
    **{
        f"Normalizer of a vector {norm}": Estimator("Normalizer", "x", {"x": floats(5)}, norm=norm)
        for norm in ("MAX", "L1", "L2")
    },
    "Scaler of integers": Estimator("Scaler", "x", {"x": np.array([[1, -2], [7, 4]])},
        offset=[0.3], scale=[0.7]),
    **{
        f"{kind} of int64 {reduction}": version(18, kind, "x i u", {"x": WHOLE, "i": indices,
            "u": WHOLE[: len(indices)] - 3}, reduction=reduction)
        for kind, indices in (("ScatterElements", np.array([[0, 2, -1], [0, 1, 2]])),
            ("ScatterND", np.array([[[1, 2], [0, 0], [1, 2]]])))
        for reduction in ("add", "mul", "max", "min")
    },
    **{
        f"MatMul of {dtype}": version(13, "MatMul", "a b", {"a": WHOLE.astype(dtype),
            "b": np.stack([WHOLE.T, 3 - WHOLE.T]).astype(dtype)}, tolerance=0)
        for dtype in ("int32", "int64")
    },
    **{
        f"Range of {numbers}": version(11, "Range", "a b c", {"a": np.array(numbers[0], dtype),
            "b": np.array(numbers[1], dtype)}, {"c": np.array(numbers[2], dtype)}, tolerance=0)
        for dtype, numbers in ((np.int64, (3, 0, 1)), (np.float32, (1, 4, -1)),
            (np.int64, (5, -2, -3)), (np.int32, (2, 2, 1)))
    },
    "Dropout with a mask of the input's type": version(7, "Dropout", "x", {"x": X},
        outputs="y m"),
    "AffineGrid of one row": version(20, "AffineGrid", "x s", {"x": floats(2, 2, 3)},
        {"s": np.array([2, 1, 1, 4])}, align_corners=1),
}  # fmt: skip
