"""Nodes of ai.onnx on inputs of unknown sizes, each fed in several sizes.

make_runtime_nodes.py records what ONNX Runtime gives for them.
"""

import itertools

import numpy as np
from onnx import helper, numpy_helper

RNG = np.random.default_rng(13)
OPSET = 18


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


class FreeRow:
    """A node with a constant for each of `constants`, and inputs of which `free` axes vary.

    Args:
        kind: the operator.
        names: of its inputs, separated by spaces; "-" is an omitted one.
        free: names of the sizes of each input that are unknown, by axis.
        sets: what the model is given, by name, once for each set of sizes.
        constants: what it has, by name.
        domain: of the operator.
        results: names of the node's, of which "y" leaves the model.
        attributes: the node's.
    """

    def __init__(
        self, kind, names, free, sets, constants=None, domain="", results="y", **attributes
    ):
        inputs = [name.replace("-", "") for name in names.split()]
        self.node = helper.make_node(
            kind, inputs, results.split(), name="layer", domain=domain, **attributes
        )
        self.free, self.sets, self.constants = free, list(sets), constants or {}

    def model(self):
        """The ModelProto."""
        values = [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(x.dtype),
                [self.free[name].get(i, n) for i, n in enumerate(x.shape)],
            )
            for name, x in self.sets[0].items()
        ]
        weights = [numpy_helper.from_array(np.asarray(x), n) for n, x in self.constants.items()]
        results = [helper.make_empty_tensor_value_info("y")]
        graph = helper.make_graph([self.node], "main", values, results, weights)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def flat_boxes(n):
    """Boxes of which every other one has no area, in two classes; some of those come first."""
    boxes = np.abs(floats(1, n, 4))
    boxes[..., 2:] += boxes[..., :2]
    boxes[:, ::2, 3] = boxes[:, ::2, 1]
    return {"b": boxes, "s": np.abs(floats(1, 2, n))}


IMAGES = [(3, 1, 6, 7), (1, 1, 4, 9), (2, 1, 1, 10)]
BATCHES = [(3, 4), (1, 7), (2, 1)]
IMAGE = {0: "n", 2: "h", 3: "w"}


def resized(mode, transformation, **attributes):
    """Resize by scales and to a size, of images of any size.

    Of scales that give no whole size, ONNX Runtime aligns other corners than ONNX says.
    """
    attributes |= {"mode": mode, "coordinate_transformation_mode": transformation}
    sets = [{"x": floats(*shape)} for shape in IMAGES]
    scales = {"s": np.float32([1, 1, 1.5, 0.7])}
    if transformation != "align_corners":
        yield "scales", FreeRow("Resize", "x - s", {"x": IMAGE}, sets, scales, **attributes)
    sizes = {"s": np.int64([7, 5])}
    yield "size", FreeRow("Resize", "x - - s", {"x": IMAGE}, sets, sizes, axes=[2, 3], **attributes)


def resizes():
    """Each mode with each transformation of places."""
    modes = {
        "nearest": [{}, {"nearest_mode": "floor"}, {"nearest_mode": "round_prefer_ceil"}],
        "linear": [{}],
        "cubic": [{}, {"exclude_outside": 1}],
    }
    transformations = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    for mode, transformation in itertools.product(modes, transformations):
        for options in modes[mode]:
            for form, row in resized(mode, transformation, **options):
                words = [mode, transformation, *(str(v) for v in options.values()), form]
                yield f"Resize {' '.join(words)}", row


def indices_along(axis, shape, n):
    """Different indices along an axis, `n` of them, those of each place apart."""
    order = np.argsort(RNG.normal(size=shape), axis).astype(np.int64)
    return order.take(np.arange(n), axis)


def scattered(kind, reduction, depth=None):
    """Updates of matrices of any size, by element or by row or place."""
    sets = []
    for n, m in BATCHES:
        x = floats(n, m, 2)
        if depth is None:
            indices = indices_along(1, x.shape, min(m, 2))
            updates = floats(*indices.shape)
        else:
            indices = np.stack([np.arange(n), -1 - np.arange(n) % m], -1)[:, :depth]
            updates = floats(n, *x.shape[depth:])
        sets.append({"x": x, "i": indices, "u": updates})
    place = {0: "n", 1: "k"} if depth is None else {0: "n"}
    rows = place if depth is None else {0: "n", 1: "m"} if depth == 1 else {0: "n"}
    free = {"x": {0: "n", 1: "m"}, "i": place, "u": rows}
    attributes = {} if depth else {"axis": 1}
    return FreeRow(kind, "x i u", free, sets, reduction=reduction, **attributes)


def sampled(**attributes):
    sets = [
        {"x": floats(n, 2, h, w), "g": RNG.uniform(-1.3, 1.3, (n, 3, k, 2)).astype(np.float32)}
        for (n, _, h, w), k in zip(IMAGES, (4, 2, 5), strict=True)
    ]
    return FreeRow("GridSample", "x g", {"x": IMAGE, "g": {0: "n", 2: "k"}}, sets, **attributes)


def gathered():
    sets = [
        {"x": floats(n, m, 3), "i": RNG.integers(-m, m, (n, k, 3))}
        for (n, m), k in zip(BATCHES, (2, 3, 1), strict=True)
    ]
    return FreeRow(
        "GatherElements", "x i", {"x": {0: "n", 1: "m"}, "i": {0: "n", 1: "k"}}, sets, axis=1
    )


def gathered_slices():
    sets = [
        {"x": floats(n, m, 3), "i": RNG.integers(-m, m, (n, k, 1))}
        for (n, m), k in zip(BATCHES, (2, 3, 1), strict=True)
    ]
    return FreeRow(
        "GatherND", "x i", {"x": {0: "n", 1: "m"}, "i": {0: "n", 1: "k"}}, sets, batch_dims=1
    )


def regions(**attributes):
    sets = [
        {"x": floats(n, 2, h, w), "r": np.sort(RNG.uniform(0, 6, (k, 2, 2)), 1).reshape(k, 4)
         .astype(np.float32), "b": RNG.integers(0, n, k)}
        for (n, _, h, w), k in zip(IMAGES, (3, 1, 2), strict=True)
    ]  # fmt: skip
    free = {"x": IMAGE, "r": {0: "k"}, "b": {0: "k"}}
    attributes = {"output_height": 2, "output_width": 3, "sampling_ratio": 2, **attributes}
    return FreeRow("RoiAlign", "x r b", free, sets, **attributes)


def folded():
    sets = [{"x": floats(n, 12, 9)} for n in (2, 1, 3)]
    constants = {"s": np.int64([7, 7]), "k": np.int64([2, 2])}
    return FreeRow("Col2Im", "x s k", {"x": {0: "n"}}, sets, constants, strides=[2, 2],
        pads=[0, 0, 0, 0], dilations=[2, 2])  # fmt: skip


def padded(mode, *pads):
    smallest = max(pads) + 1 if mode == "reflect" else 1
    sets = [{"x": floats(n, c, max(h, smallest), w)} for n, c, h, w in IMAGES]
    return FreeRow("Pad", "x p", {"x": IMAGE}, sets, {"p": np.int64(pads)}, mode=mode)


def volumes(**attributes):
    sets = [{"x": floats(n, 2, h, w, 5)} for n, _, h, w in IMAGES]
    free = {"x": {0: "n", 2: "d", 3: "h"}}
    return FreeRow("Conv", "x w b", free, sets, {"w": floats(4, 2, 3, 3, 3), "b": floats(4)},
        pads=[1, 1, 1, 1, 0, 2], **attributes)  # fmt: skip


def pooled(kind, rank=2, **attributes):
    """Windows of 3 along the free axes of an image or a volume."""
    sets = [{"x": floats(n, c, max(h, 3), w, *[5] * (rank - 2))} for n, c, h, w in IMAGES]
    attributes = {"kernel_shape": [3] * rank, "pads": [1] * 2 * rank, **attributes}
    return FreeRow(kind, "x", {"x": IMAGE}, sets, **attributes)


def layer(kind, names, constants=None, keys=1, **attributes):
    """A layer of a language model, of any batch and length."""
    letters = names.split()
    sets = [{k: floats(n, m * keys if k in "kv" else m, 16) for k in letters if k in "xqkv"}
            for n, m in BATCHES]  # fmt: skip
    free = {k: {0: "n", 1: "s" if keys > 1 and k in "kv" else "m"} for k in letters}
    return FreeRow(kind, names, free, sets, constants, "com.microsoft", **attributes)


def layers():
    """Attention of language models."""
    return {
        "Attention": layer(
            "Attention", "x w b", {"w": floats(16, 48), "b": floats(48)}, num_heads=4
        ),
        "Attention unidirectional": layer(
            "Attention",
            "x w b",
            {"w": floats(16, 48), "b": floats(48)},
            num_heads=2,
            unidirectional=1,
        ),
        "MultiHeadAttention": layer(
            "MultiHeadAttention", "q k v b", {"b": floats(48)}, 2, num_heads=4
        ),
        "RotaryEmbedding": layer(
            "RotaryEmbedding",
            "x p c s",
            {"p": np.int64([3]), "c": floats(20, 4), "s": floats(20, 4)},
            num_heads=2,
        ),
    }


def delta_nets():
    """Tokens of requests of one length and of several, any number of either."""

    def sets(feeds_of):
        for n, m in BATCHES:
            t = n * m
            feeds = {"q": floats(t, 2, 3), "k": floats(t, 2, 3), "v": floats(t, 4, 5),
                     "d": -np.abs(floats(t, 4)), "b": np.abs(floats(t, 4)) / 2}  # fmt: skip
            yield feeds | feeds_of(n, t)

    free = {k: {0: "t"} for k in "qkvdb"} | {"s": {0: "n"}, "c": {0: "bounds"}}
    ends = {3: [0, 5, 6, 12], 1: [0, 7], 2: [0, 0, 2]}
    alike = sets(lambda n, t: {"s": floats(n, 4, 5, 3)})
    ragged = sets(lambda n, t: {"c": np.int32(ends[n])})
    options = {"domain": "com.microsoft", "results": "y z", "qk_l2_norm": 1}
    return {
        "GatedDeltaNet": FreeRow("GatedDeltaNet", "q k v - d b s", free, alike, **options),
        "GatedDeltaNet ragged": FreeRow("GatedDeltaNet", "q k v c d b", free, ragged, **options),
    }


def attention_lstm():
    """Any length, batch and memory."""
    weights = {"w": floats(1, 20, 7), "r": floats(1, 20, 5), "b": floats(1, 40),
               "q": floats(1, 5, 7), "k": floats(1, 4, 7), "v": floats(1, 7)}  # fmt: skip
    sets = [{"x": floats(m, n, 3), "m": floats(n, m + 2, 4),
             "l": RNG.integers(1, m + 3, n).astype(np.int32)} for n, m in BATCHES]  # fmt: skip
    free = {"x": {0: "t", 1: "n"}, "m": {0: "n", 1: "m"}, "l": {0: "n"}}
    return FreeRow("AttnLSTM", "x w r b - - - - q k v m l", free, sets, weights, "com.microsoft",
        hidden_size=5)  # fmt: skip


def group_query_attention():
    """One query a row, after past keys of which each row has another number."""
    free = {**{x: {0: "n"} for x in "qkve"}, **{x: {0: "n", 2: "m"} for x in ("p", "u")}, "t": {}}
    sets = []
    for n, m in BATCHES:
        past = {x: floats(n, 2, m, 16) for x in ("p", "u")}
        new = {x: floats(n, 1, 16 * heads) for x, heads in (("q", 4), ("k", 2), ("v", 2))}
        ends = np.linspace(m, m // 2, n).astype(np.int32)
        sets.append({**new, **past, "e": ends, "t": np.array(m + 1, np.int32)})
    caches = {x: np.cos(floats(40, 8)) for x in "cs"}
    return FreeRow("GroupQueryAttention", "q k v p u e t c s", free, sets, caches, "com.microsoft",
        "y pk pv", num_heads=4, kv_num_heads=2, do_rotary=1)  # fmt: skip


def sparse_attention():
    """Any batch and number of tokens, the whole prompt among them."""
    layouts = {"r": np.int32([[0, 1, 2, 4]]), "c": np.int32([[0, 1, 0, 2]])}
    sets = []
    for n, m in BATCHES:
        ends = np.array([m] if n == 1 else RNG.integers(m + 1, 49, n), np.int32)
        buffers = {name: RNG.integers(-2, 3, (n, 1, 48, 16)).astype(np.float32) for name in "pu"}
        sets.append({"q": floats(n, m, 32), "k": floats(n, m, 16), "v": floats(n, m, 16),
                     **buffers, "t": np.array([ends.max()]), "e": ends})  # fmt: skip
    free = {k: {0: "n", 1: "m"} for k in "qkv"} | {k: {0: "n"} for k in "pue"} | {"t": {}}
    return FreeRow("SparseAttention", "q k v p u r c t e", free, sets, layouts, "com.microsoft",
        "y pk pv", num_heads=2, kv_num_heads=1, sparse_block_size=16)  # fmt: skip


NO_PADS = {"pads": [0] * 4}
ROUNDED_UP = {
    "halves": {"kernel_shape": [2, 2], "strides": [2, 2], **NO_PADS},
    "thirds": {"kernel_shape": [2, 3], "strides": [3, 2], **NO_PADS},
    "padded": {"strides": [3, 2], "pads": [1, 0, 1, 1]},
}
"""Windows that ceil_mode adds to."""
ROWS = {
    **dict(resizes()),
    **{f"ScatterElements {r}": scattered("ScatterElements", r) for r in ("none", "add", "max")},
    **{f"ScatterND {r} {d}": scattered("ScatterND", r, d) for d in (1, 2)
       for r in ("none", "add", "mul")},
    "GatherElements": gathered(),
    "GatherND batches": gathered_slices(),
    **{f"GridSample {mode} {padding} {align}": sampled(mode=mode, padding_mode=padding,
        align_corners=align) for mode, padding, align in (("bilinear", "zeros", 0),
        ("bilinear", "border", 1), ("nearest", "reflection", 0), ("bicubic", "zeros", 1))},
    "RoiAlign": regions(),
    "RoiAlign max": regions(mode="max", coordinate_transformation_mode="output_half_pixel"),
    "Col2Im": folded(),
    "Pad edge": padded("edge", 0, 0, 1, 3, 0, 0, 2, 0),
    "Pad wrap": padded("wrap", 0, 0, 3, 0, 0, 0, 1, 2),
    "Pad reflect": padded("reflect", 0, 0, 2, 1, 0, 0, 3, 0),
    "Conv of volumes": volumes(strides=[2, 1, 1]),
    "MaxPool dilated": pooled("MaxPool", dilations=[1, 2], pads=[1, 2, 1, 1], strides=[2, 1]),
    "MaxPool of volumes": pooled("MaxPool", 3, strides=[2, 3, 1]),
    "AveragePool": pooled("AveragePool", strides=[2, 2]),
    "AveragePool with pads": pooled("AveragePool", strides=[1, 2], count_include_pad=1),
    "AveragePool of volumes": pooled("AveragePool", 3, strides=[2, 1, 1]),
    "AveragePool of volumes with pads": pooled("AveragePool", 3, count_include_pad=1),
    "LpPool": pooled("LpPool", p=3, strides=[1, 2]),
    **layers(),
    "STFT": FreeRow("STFT", "x s w", {"x": {0: "n", 1: "m"}},
        [{"x": floats(n, m, 1)} for n, m in ((2, 40), (1, 21), (3, 16))],
        {"s": np.int64(3), "w": floats(4)}),
    "DFT": FreeRow("DFT", "x", {"x": {0: "n", 1: "m"}}, [{"x": floats(n, m, 8, 1)}
        for n, m in BATCHES], axis=2, onesided=1),
    **{f"{kind} rounded up {name}": pooled(kind, ceil_mode=1, **attributes)
       for kind in ("MaxPool", "AveragePool") for name, attributes in ROUNDED_UP.items()},
    "MaxPool rounded up dilated": pooled("MaxPool", ceil_mode=1, dilations=[1, 2],
        strides=[2, 2], pads=[1, 2, 1, 1]),
    "AveragePool rounded up with pads": pooled("AveragePool", ceil_mode=1, count_include_pad=1,
        strides=[2, 3]),
    "LinearAttention": layer("LinearAttention", "q k v", q_num_heads=4, kv_num_heads=4,
        update_rule="linear", results="y z"),
    "NonMaxSuppression": FreeRow("NonMaxSuppression", "b s k t", {"b": {1: "n"}, "s": {2: "n"}},
        [flat_boxes(n) for n in (9, 5, 1)], {"k": np.int64([4]), "t": np.float32([0.5])}),
    **delta_nets(),
    "AttnLSTM": attention_lstm(),
    "SparseAttention": sparse_attention(),
    "LpPool rounded up": pooled("LpPool", ceil_mode=1, p=3, strides=[3, 2], pads=[1, 0, 1, 1]),
    **{
        f"DFT of any length {label}": FreeRow("DFT", "x", {"x": {0: "n", 1: "m"}},
            [{"x": floats(n, m, 2, parts)} for n, m in ((2, 7), (1, 4), (3, 16))], axis=1,
            **attributes)
        for label, parts, attributes in (
            ("complex", 2, {}),
            ("inverse", 2, {"inverse": 1}),
            ("real", 1, {}),
            ("real inverse", 1, {"inverse": 1}),
            ("onesided", 1, {"onesided": 1}),
        )
    },
    **{
        f"Resize {mode} tf_half_pixel_for_nn {rounding} {form}": row
        for mode, rounding in (("nearest", "floor"), ("nearest", "round_prefer_ceil"),
            ("linear", "floor"))
        for form, row in (
            *resized(mode, "tf_half_pixel_for_nn", nearest_mode=rounding),
            ("doubled", FreeRow("Resize", "x - s", {"x": IMAGE}, [{"x": floats(*shape)} for shape
                in IMAGES], {"s": np.float32([1, 1, 2, 3])}, mode=mode, nearest_mode=rounding,
                coordinate_transformation_mode="tf_half_pixel_for_nn")),
        )
    },
    "Attention lengths": FreeRow("Attention", "x w b m",
        {"x": {0: "n", 1: "m"}, "m": {0: "n"}},
        [{"x": floats(n, m, 16), "m": np.arange(n, 0, -1).astype(np.int32)} for n, m in BATCHES],
        {"w": floats(16, 48), "b": floats(48)}, "com.microsoft", num_heads=4),
    "GroupQueryAttention rows": group_query_attention(),
}  # fmt: skip
"""Name -> FreeRow."""
QUICK = frozenset(
    {
        *("Resize cubic half_pixel size", "Resize linear pytorch_half_pixel scales"),
        *("Resize nearest tf_half_pixel_for_nn floor doubled",),
        *("Resize nearest asymmetric floor scales", "ScatterElements none", "ScatterND add 1"),
        *("ScatterND none 2", "GatherND batches", "GridSample bilinear zeros 0", "RoiAlign"),
        *("Col2Im", "GatherElements", "Pad edge", "Pad reflect", "Conv of volumes"),
        *("MaxPool of volumes", "AveragePool", "AveragePool of volumes"),
        *("MaxPool rounded up padded", "AveragePool rounded up with pads"),
        *(
            "Attention",
            "Attention lengths",
            "MultiHeadAttention",
            "RotaryEmbedding",
            "STFT",
            "LinearAttention",
            "GroupQueryAttention rows",
        ),
        *("GatedDeltaNet ragged", "AttnLSTM", "SparseAttention"),
        *("NonMaxSuppression", "LpPool rounded up", "DFT of any length onesided"),
    }
)
"""Those of every run."""
