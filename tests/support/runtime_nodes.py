"""Nodes of com.microsoft, as ONNX Runtime's optimizer and exporters write them.

ONNX Runtime's answers are in tests/converter/onnx/runtime_nodes.npz, which make_runtime_nodes.py
there recorded.
"""

import numpy as np
from onnx import helper, numpy_helper

RNG = np.random.default_rng(12)


def floats(*shape, size=1.0):
    return (RNG.normal(size=shape) * size).astype(np.float32)


def ints(low, high, *shape, dtype=np.int64):
    return RNG.integers(low, high, shape).astype(dtype)


def bytes_of(*shape):
    return ints(0, 256, *shape, dtype=np.uint8)


def i32(*values):
    return np.array(values, np.int32)


class Row:
    """A node with its inputs, constants and number of results.

    Args:
        kind: the operator.
        names: of its inputs, separated by spaces; "-" is an omitted one.
        feeds: what the model is given, by name.
        constants: what it has, by name.
        outputs: names of its results, "-" for those that nobody reads.
        tolerance: what results may differ in, by the largest of them; of integers, steps.
        attributes: the node's.
    """

    domain, opset = "com.microsoft", 17

    def __init__(
        self, kind, names, feeds, constants=None, outputs="y", tolerance=1e-5, **attributes
    ):
        self.kind, self.feeds, self.tolerance = kind, feeds, tolerance
        self.constants = constants or {}
        inputs = [name.replace("-", "") for name in names.split()]
        results = [name.replace("-", "") for name in outputs.split()]
        self.outputs = [name for name in results if name]
        self.node = helper.make_node(
            kind, inputs, results, name="layer", domain=self.domain, **attributes
        )

    def model(self):
        """The ModelProto."""
        values = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for n, x in self.feeds.items()
        ]
        results = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        weights = [numpy_helper.from_array(np.asarray(x), n) for n, x in self.constants.items()]
        graph = helper.make_graph([self.node], "main", values, results, weights)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def scales(*names, size=0.02, dtype=np.uint8, zero=None):
    """Scales `<name>s` and zero points `<name>z`."""
    middle = np.array(128 if dtype == np.uint8 else 0 if zero is None else zero, dtype)
    return {f"{n}{k}": v for n in names for k, v in (("s", np.float32(size)), ("z", middle))}


X, HIDDEN = floats(2, 5, 8), {"x": floats(2, 6, 16)}
IMAGE = floats(1, 4, 9, 9)
ATTENTION = {"w": floats(16, 48, size=0.3), "b": floats(48)}
QKV = {"q": floats(2, 5, 16), "k": floats(2, 7, 16), "v": floats(2, 7, 16)}
Q8 = {"x": bytes_of(2, 3, 4)}
SCALES = {**scales("x"), **scales("y", size=0.03)}
OUT = scales("o", size=0.05)
EMBEDDINGS = {
    "words": floats(20, 8), "places": floats(10, 8), "kinds": floats(2, 8), "g": floats(8),
    "o": floats(8)}  # fmt: skip
IDS = {"ids": ints(0, 20, 2, 6, dtype=np.int32), "segments": ints(0, 2, 2, 6, dtype=np.int32)}
MASK = np.int32([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]])
CACHE = {"c": np.cos(floats(12, 4)), "n": np.sin(floats(12, 4))}
WIDE_CACHE = np.cos(floats(12, 8)), np.sin(floats(12, 8))
NBITS = {"b": bytes_of(24, 2, 16), "s": floats(48, size=0.1)}


def conv(**options):
    return {"w": ints(-127, 128, 6, 4, 3, 3, dtype=np.int8), **options}


ROWS = {
    "FusedConv relu": Row("FusedConv", "x w b", {"x": IMAGE}, {"w": floats(6, 4, 3, 3),
        "b": floats(6)}, activation="Relu", pads=[1, 1, 1, 1]),
    "FusedConv leaky sum": Row("FusedConv", "x w b z", {"x": IMAGE, "z": floats(1, 6, 7, 7)},
        {"w": floats(6, 4, 3, 3), "b": floats(6)}, activation="LeakyRelu",
        activation_params=[0.2]),
    "FusedConv clip": Row("FusedConv", "x w", {"x": IMAGE}, {"w": floats(6, 4, 3, 3)},
        activation="Clip", activation_params=[-0.5, 0.7], strides=[2, 2]),
    "FusedConv hard sigmoid": Row("FusedConv", "x w", {"x": IMAGE}, {"w": floats(6, 4, 3, 3)},
        activation="HardSigmoid", activation_params=[0.3, 0.4]),
    "FusedGemm": Row("FusedGemm", "x w b", {"x": floats(3, 4)}, {"w": floats(5, 4),
        "b": floats(5)}, transB=1, alpha=0.5, beta=2.0, activation="LeakyRelu",
        activation_alpha=0.1),
    "FusedMatMul": Row("FusedMatMul", "x w", {"x": X}, {"w": floats(3, 8)}, transB=1, alpha=0.7),
    "FusedMatMul transA": Row("FusedMatMul", "x v", {"x": X, "v": floats(2, 5, 3)}, transA=1),
    "FusedMatMul batch": Row("FusedMatMul", "x v", {"x": floats(4, 2, 8), "v": floats(2, 8, 3)},
        transBatchA=1, alpha=2.0),
    "TransposeMatMul": Row("TransposeMatMul", "x v", {"x": X, "v": floats(2, 3, 8)}, transB=1),
    "Gelu": Row("Gelu", "x", {"x": X}),
    "BiasGelu": Row("BiasGelu", "x b", {"x": X}, {"b": floats(8)}),
    "FastGelu": Row("FastGelu", "x b", {"x": X}, {"b": floats(8)}),
    "FastGelu alone": Row("FastGelu", "x", {"x": X}),
    "QuickGelu": Row("QuickGelu", "x", {"x": X}),
    "QuickGelu alpha": Row("QuickGelu", "x", {"x": X}, alpha=1.0),
    "SkipLayerNormalization": Row("SkipLayerNormalization", "x s g o b",
        {"x": X, "s": floats(2, 5, 8)}, {k: floats(8) for k in "gob"}, epsilon=1e-5),
    "SkipLayerNormalization sum": Row("SkipLayerNormalization", "x s g o",
        {"x": X, "s": floats(2, 5, 8)}, {k: floats(8) for k in "go"}, "y - - t"),
    "SkipLayerNormalization no offset": Row("SkipLayerNormalization", "x s g",
        {"x": X, "s": floats(5, 8)}, {"g": floats(8)}),
    "SkipSimplifiedLayerNormalization": Row("SkipSimplifiedLayerNormalization", "x s g b",
        {"x": X, "s": floats(2, 5, 8)}, {k: floats(8) for k in "gb"}, "y - - t", epsilon=1e-5),
    "EmbedLayerNormalization": Row("EmbedLayerNormalization",
        "ids segments words places kinds g o m", {**IDS, "m": MASK}, EMBEDDINGS, "y n"),
    "EmbedLayerNormalization no segments": Row("EmbedLayerNormalization",
        "ids - words places - g o", {"ids": IDS["ids"]}, EMBEDDINGS, "y n", epsilon=1e-5),
    "EmbedLayerNormalization sum": Row("EmbedLayerNormalization",
        "ids segments words places kinds g o - p", {**IDS, "p": ints(0, 10, 2, 6, dtype=np.int32)},
        EMBEDDINGS, "y n t"),
    "Attention": Row("Attention", "x w b", HIDDEN, ATTENTION, num_heads=4),
    "Attention no bias": Row("Attention", "x w", HIDDEN, {"w": ATTENTION["w"]}, num_heads=2),
    "Attention mask": Row("Attention", "x w b m", {**HIDDEN, "m": MASK}, ATTENTION, num_heads=4),
    "Attention lengths": Row("Attention", "x w b m", {**HIDDEN, "m": i32(4, 6)}, ATTENTION,
        num_heads=4),
    "Attention ends": Row("Attention", "x w b m", {**HIDDEN, "m": i32(5, 6, 1, 0)}, ATTENTION,
        num_heads=4),
    "Attention 3-D mask": Row("Attention", "x w b m",
        {**HIDDEN, "m": ints(0, 2, 2, 6, 6, dtype=np.int32)}, ATTENTION, num_heads=2),
    "Attention unidirectional": Row("Attention", "x w b", HIDDEN, ATTENTION, num_heads=4,
        unidirectional=1),
    "Attention scale": Row("Attention", "x w b", HIDDEN, ATTENTION, num_heads=4, scale=0.7),
    "Attention sizes": Row("Attention", "x w b", HIDDEN,
        {"w": floats(16, 40, size=0.3), "b": floats(40)}, num_heads=4,
        qkv_hidden_sizes=[16, 16, 8]),
    "Attention scores": Row("Attention", "x w b - - s", {**HIDDEN, "s": floats(2, 4, 6, 6)},
        ATTENTION, num_heads=4),
    "Attention past": Row("Attention", "x w b - p", {**HIDDEN, "p": floats(2, 2, 4, 3, 4)},
        ATTENTION, "y present", num_heads=4, unidirectional=1),
    "MultiHeadAttention": Row("MultiHeadAttention", "q k v", QKV, num_heads=4),
    "MultiHeadAttention bias": Row("MultiHeadAttention", "q k v b", QKV, {"b": floats(48)},
        num_heads=4),
    "MultiHeadAttention lengths": Row("MultiHeadAttention", "q k v - m", {**QKV, "m": i32(4, 7)},
        num_heads=4),
    "MultiHeadAttention mask": Row("MultiHeadAttention", "q k v - m",
        {**QKV, "m": ints(0, 2, 2, 7, dtype=np.int32)}, num_heads=2),
    "MultiHeadAttention scores": Row("MultiHeadAttention", "q k v - - s",
        {**QKV, "s": floats(1, 4, 5, 7)}, num_heads=4, scale=0.5),
    "MultiHeadAttention unidirectional": Row("MultiHeadAttention", "q k v",
        {"q": floats(2, 5, 16), "k": floats(2, 5, 16), "v": floats(2, 5, 16)}, num_heads=4,
        unidirectional=1),
    "MultiHeadAttention split": Row("MultiHeadAttention", "q k v",
        {"q": floats(2, 5, 16), "k": floats(2, 4, 7, 4), "v": floats(2, 4, 7, 4)}, num_heads=4),
    "MultiHeadAttention past": Row("MultiHeadAttention", "q k v - - - pk pv",
        {**{n: floats(2, 5, 16) for n in "qkv"}, "pk": floats(2, 4, 3, 4),
         "pv": floats(2, 4, 3, 4)}, None, "y kk vv", num_heads=4),
    "RotaryEmbedding": Row("RotaryEmbedding", "x p c n", {"x": floats(2, 6, 24)},
        {**CACHE, "p": np.int64([3])}),
    "RotaryEmbedding positions": Row("RotaryEmbedding", "x p c n",
        {"x": floats(2, 3, 6, 8), "p": ints(0, 12, 2, 6)}, CACHE),
    "RotaryEmbedding interleaved": Row("RotaryEmbedding", "x p c n",
        {"x": floats(2, 6, 24), "p": ints(0, 12, 2, 6)}, CACHE, interleaved=1),
    "RotaryEmbedding part": Row("RotaryEmbedding", "x p c n",
        {"x": floats(2, 6, 24), "p": ints(0, 12, 2, 6)}, CACHE, rotary_embedding_dim=8,
        num_heads=2),
    "GroupQueryAttention": Row("GroupQueryAttention", "q k v - - n t",
        {"q": floats(2, 5, 32), "k": floats(2, 5, 16), "v": floats(2, 5, 16)},
        {"n": i32(4, 4), "t": np.int32(5)}, "y - -", num_heads=4, kv_num_heads=2),
    "GroupQueryAttention rotary": Row("GroupQueryAttention", "q k v - - n t c r",
        {"q": floats(2, 5, 32), "k": floats(2, 5, 16), "v": floats(2, 5, 16)},
        {"n": i32(4, 4), "t": np.int32(5), "c": WIDE_CACHE[0], "r": WIDE_CACHE[1]}, "y - -",
        num_heads=2, kv_num_heads=1, do_rotary=1),
    "MatMulNBits": Row("MatMulNBits", "x b s", {"x": floats(3, 64)}, NBITS, K=64, N=24,
        block_size=32, tolerance=1e-4),
    "MatMulNBits zero points": Row("MatMulNBits", "x b s z", {"x": floats(2, 3, 64)},
        {**NBITS, "z": bytes_of(24)}, K=64, N=24, bits=4, block_size=32, tolerance=1e-4),
    "MatMulNBits bias": Row("MatMulNBits", "x b s - - c", {"x": floats(2, 3, 64)},
        {**NBITS, "c": floats(24)}, K=64, N=24, bits=4, block_size=32, tolerance=1e-4),
    "MatMulNBits 8 bits": Row("MatMulNBits", "x b s", {"x": floats(3, 64)},
        {"b": bytes_of(24, 2, 32), "s": floats(48, size=0.1)}, K=64, N=24, bits=8, block_size=32,
        tolerance=1e-4),
    "MatMulNBits odd": Row("MatMulNBits", "x b s z", {"x": floats(3, 40)},
        {"b": bytes_of(5, 3, 8), "s": floats(15, size=0.1), "z": bytes_of(10)}, K=40, N=5, bits=4,
        block_size=16, tolerance=1e-4),
    "GatherBlockQuantized": Row("GatherBlockQuantized", "w i s", {"i": ints(0, 9, 2, 3)},
        {"w": bytes_of(9, 32), "s": floats(9, 2, size=0.1)}, bits=8, block_size=16,
        gather_axis=0, quantize_axis=1),
    "MatMulIntegerToFloat": Row("MatMulIntegerToFloat", "x w xs ws xz wz b",
        {"x": bytes_of(3, 40)}, {"w": ints(-128, 128, 40, 5, dtype=np.int8), **scales("x"),
         **scales("w", dtype=np.int8, zero=3), "b": floats(5)}),
    "DynamicQuantizeMatMul": Row("DynamicQuantizeMatMul", "x w ws wz b", {"x": floats(3, 40)},
        {"w": bytes_of(40, 5), **scales("w"), "b": floats(5)}, tolerance=1e-2),
    "QAttention": Row("QAttention", "x w b xs ws - xz wz", {"x": bytes_of(2, 6, 16)},
        {"w": ints(-127, 128, 16, 48, dtype=np.int8), "b": floats(48), **scales("x"),
         **scales("w", size=0.01, dtype=np.int8)}, num_heads=4, tolerance=1e-4),
    "QEmbedLayerNormalization": Row("QEmbedLayerNormalization",
        "ids segments w p k g o - ws ps ks gs os wz pz kz gz oz", IDS,
        {"w": bytes_of(20, 8), "p": bytes_of(10, 8), "k": bytes_of(2, 8), "g": bytes_of(8),
         "o": bytes_of(8), **scales(*"wpkgo")}, "y n"),
    "QGemm": Row("QGemm", "x xs xz w ws wz b os oz", {"x": bytes_of(3, 8)},
        {**scales("x"), "w": ints(-127, 128, 5, 8, dtype=np.int8), **scales("w", dtype=np.int8),
         "b": ints(-999, 999, 5, dtype=np.int32), **OUT}, transB=1, tolerance=0),
    "QGemm float": Row("QGemm", "x xs xz w ws wz b", {"x": bytes_of(3, 8)},
        {**scales("x"), "w": ints(-127, 128, 8, 5, dtype=np.int8), **scales("w", dtype=np.int8),
         "b": ints(-999, 999, 5, dtype=np.int32)}, alpha=0.5),
    "QLinearAdd": Row("QLinearAdd", "x xs xz y ys yz os oz", {**Q8, "y": bytes_of(4)},
        {**SCALES, **OUT}, outputs="r", tolerance=0),
    "QLinearMul": Row("QLinearMul", "x xs xz y ys yz os oz", {**Q8, "y": bytes_of(2, 3, 4)},
        {**SCALES, **OUT}, outputs="r", tolerance=0),
    "QLinearLeakyRelu": Row("QLinearLeakyRelu", "x xs xz os oz", Q8, {**SCALES, **OUT},
        alpha=0.1, tolerance=0),
    "QLinearSigmoid": Row("QLinearSigmoid", "x xs xz os oz", Q8,
        {**SCALES, **scales("o", size=1 / 256)}, tolerance=0),
    "QLinearSoftmax": Row("QLinearSoftmax", "x xs xz os oz", Q8,
        {**SCALES, "os": np.float32(1 / 256), "oz": np.uint8(0)}, axis=-1, opset=13, tolerance=0),
    "QLinearConcat": Row("QLinearConcat", "os oz x xs xz y ys yz",
        {**Q8, "y": bytes_of(2, 5, 4)}, {**SCALES, **OUT}, outputs="r", axis=1, tolerance=0),
    "QLinearWhere": Row("QLinearWhere", "c x xs xz y ys yz os oz",
        {"c": ints(0, 2, 2, 3, 4, dtype=bool), **Q8, "y": bytes_of(2, 3, 4)}, {**SCALES, **OUT},
        outputs="r", tolerance=0),
    "QLinearGlobalAveragePool": Row("QLinearGlobalAveragePool", "x xs xz os oz",
        {"x": bytes_of(1, 4, 5, 6)}, {**SCALES, **OUT}, tolerance=0),
    "QLinearGlobalAveragePool last": Row("QLinearGlobalAveragePool", "x xs xz os oz",
        {"x": bytes_of(1, 5, 6, 4)}, {**SCALES, **OUT}, channels_last=1, tolerance=0),
    "QLinearAveragePool": Row("QLinearAveragePool", "x xs xz os oz",
        {"x": bytes_of(1, 4, 6, 6)}, {**SCALES, **OUT}, kernel_shape=[2, 2], strides=[2, 2],
        tolerance=1),
    "QLinearAveragePool last": Row("QLinearAveragePool", "x xs xz os oz",
        {"x": bytes_of(1, 6, 6, 4)}, {**SCALES, **OUT}, kernel_shape=[3, 3], pads=[1, 1, 1, 1],
        channels_last=1, tolerance=1),
    "QLinearConv": Row("QLinearConv", "x xs xz w ws wz os oz b", {"x": bytes_of(1, 4, 6, 6)},
        {**conv(), **scales("x"), **scales("w", size=0.01, dtype=np.int8),
         "b": ints(-999, 999, 6, dtype=np.int32), **scales("o", size=0.2)}, pads=[1, 1, 1, 1],
        tolerance=0),
    "QLinearConv last": Row("QLinearConv", "x xs xz w ws wz os oz", {"x": bytes_of(1, 6, 6, 4)},
        {**conv(), **scales("x"), **scales("w", size=0.01, dtype=np.int8),
         **scales("o", size=0.2)}, channels_last=1, strides=[2, 2], tolerance=0),
    "NhwcMaxPool": Row("NhwcMaxPool", "x", {"x": bytes_of(1, 6, 6, 4)}, kernel_shape=[2, 2],
        strides=[2, 2], tolerance=0),
    "DequantizeLinear": Row("DequantizeLinear", "x xs xz", Q8, SCALES),
    "QuantizeLinear": Row("QuantizeLinear", "x os oz", {"x": X}, OUT, tolerance=0),
    "DynamicQuantizeLSTM": Row("DynamicQuantizeLSTM", "x w r b - - - - ws wz rs rz",
        {"x": floats(7, 2, 4)}, {"w": ints(-127, 128, 1, 4, 20, dtype=np.int8),
         "r": ints(-127, 128, 1, 5, 20, dtype=np.int8), "b": floats(1, 40),
         "ws": np.float32([0.005]), "wz": np.int8([0]), "rs": np.float32([0.004]),
         "rz": np.int8([0])}, "y h c", hidden_size=5, tolerance=2e-2),
    "Trilu": Row("Trilu", "x", {"x": X}, upper=0),
    "Pad": Row("Pad", "x p v", {"x": X}, {"p": np.int64([0, 1, 2, 0, 3, 1]),
        "v": np.float32(7)}, mode="constant"),
    "GatherND": Row("GatherND", "x i", {"x": X, "i": ints(0, 2, 3, 2)}),
    "ExpandDims": Row("ExpandDims", "x a", {"x": X}, {"a": np.int32(-2)}),
    "Range": Row("Range", "a b c", {"x": X}, {"a": np.int32(2), "b": np.int32(11),
        "c": np.int32(3)}),
    "GridSample": Row("GridSample", "x g", {"x": IMAGE, "g": floats(1, 3, 4, 2, size=0.5)},
        mode="bilinear", padding_mode="zeros", align_corners=1),
    "CDist": Row("CDist", "a b", {"a": floats(4, 3), "b": floats(5, 3)}, metric="euclidean",
        outputs="y", tolerance=1e-4),
    "CDist squared": Row("CDist", "a b", {"a": floats(4, 3), "b": floats(5, 3)},
        metric="sqeuclidean", tolerance=1e-4),
    "UnfoldTensor": Row("UnfoldTensor", "x", {"x": X}, dim=1, size=3, step=2),
    "Unique": Row("Unique", "x", {"x": ints(0, 5, 12).astype(np.float32)}, None, "v i n",
        tolerance=0),
    "GatedRMSNorm": Row("GatedRMSNorm", "x s g", {"x": X, "g": floats(2, 5, 8)},
        {"s": floats(8)}),
}  # fmt: skip
