"""More nodes of com.microsoft: parts of diffusion and language models.

ONNX Runtime's answers are in tests/converter/onnx/runtime_layers.npz, which make_runtime_nodes.py
there recorded. It has kernels for graphics processors alone for those with a `definition`: nodes of
ai.onnx that say what ONNX Runtime's documentation of the operator says.
"""

import numpy as np
from runtime_nodes import WIDE_CACHE, Row, bytes_of, floats, i32, ints, scales

WAVE, BLOCK = floats(2, 5, 5, 8), floats(2, 3, 8)
NORM = {"g": floats(8), "o": floats(8)}
GROUPS = """c = Transpose<perm=[0,3,1,2]>({x})
n = GroupNormalization<num_groups={n}, epsilon=1e-05>(c, g, o)
y0 = Transpose<perm=[0,2,3,1]>(n)"""  # fmt: skip
SILU = " s = Sigmoid(y0) y = Mul(y0, s)"
SAME = " y = Identity(y0)"
LENGTHS = {"a": np.array(6), "b": np.array(6)}
HEADS = {"q": floats(2, 3, 4, 8), "qt": floats(2, 3, 4, 8), "k": floats(2, 3, 4, 8),
    "kt": floats(2, 3, 4, 8)}  # fmt: skip
EXPERTS = {"u": floats(4, 6, 8), "ub": floats(4, 6), "d": floats(4, 8, 6), "db": floats(4, 8)}
NBITS4 = {"w": bytes_of(24 * 32), "m": floats(24 * 64 // 32)}
T5 = """one = Constant<value_ints=[1]>() zero = Constant<value_int=0>()
step = Constant<value_int=1>() keys = Range(zero, b, step) rows = Range(zero, a, step)
rows2 = Unsqueeze(rows, one)
ahead = Sub(keys, rows2)"""

ROWS = {
    "GroupNorm": Row("GroupNorm", "x g o", {"x": WAVE}, NORM, groups=4, activation=0),
    "GroupNorm SiLU": Row("GroupNorm", "x g o", {"x": WAVE}, NORM, groups=2, activation=1),
    "SkipGroupNorm": Row("SkipGroupNorm", "x g o k b", {"x": WAVE, "k": floats(2, 1, 1, 8)},
        {**NORM, "b": floats(8)}, "y t", groups=2, activation=1),
    "SkipGroupNorm 2-D": Row("SkipGroupNorm", "x g o k", {"x": WAVE, "k": floats(2, 8)},
        NORM, groups=4, activation=0),
    "BiasSplitGelu": Row("BiasSplitGelu", "x b", {"x": BLOCK}, {"b": floats(8)}),
    "BiasSoftmax": Row("BiasSoftmax", "x b", {"x": floats(2, 3, 4, 5), "b": floats(2, 1, 1, 5)},
        axis=3, is_inner_broadcast=1),
    "BiasDropout": Row("BiasDropout", "x b r", {"x": BLOCK, "r": floats(2, 3, 8)},
        {"b": floats(8)}),
    "GemmFastGelu": Row("GemmFastGelu", "x w b", {"x": BLOCK}, {"w": floats(8, 5),
        "b": floats(5)}, tolerance=1e-3),
    "FusedMatMulActivation": Row("FusedMatMulActivation", "x w", {"x": BLOCK},
        {"w": floats(5, 8)}, transB=1, alpha=0.5, activation="LeakyRelu", activation_alpha=0.2),
    "TorchEmbedding": Row("TorchEmbedding", "w i", {"i": ints(0, 9, 2, 3)}, {"w": floats(9, 4)}),
    "NhwcConv": Row("NhwcConv", "x w b", {"x": WAVE}, {"w": floats(6, 8, 3, 3),
        "b": floats(6)}, pads=[1, 1, 1, 1], strides=[2, 2]),
    "NhwcFusedConv": Row("NhwcFusedConv", "x w b z", {"x": WAVE, "z": floats(2, 3, 3, 6)},
        {"w": floats(6, 8, 3, 3), "b": floats(6)}, activation="Relu"),
    "SwiGLU": Row("SwiGLU", "x u", {"x": BLOCK, "u": floats(2, 3, 8)}, activation_alpha=1.5,
        activation_beta=0.5, limit=0.7),
    "SwiGLU halves": Row("SwiGLU", "x", {"x": BLOCK}),
    "ComplexMul": Row("ComplexMul", "p q", {"p": floats(3, 2), "q": floats(3, 2)}),
    "ComplexMulConj": Row("ComplexMulConj", "p q", {"p": floats(3, 2), "q": floats(3, 2)}),
    "Rfft": Row("Rfft", "x", {"x": BLOCK}, signal_ndim=1),
    "RelativePositionBias": Row("RelativePositionBias", "t a b", LENGTHS, {"t": floats(8, 4)},
        is_bidirectional=1, max_distance=5),
    "GatedRelativePositionBias": Row("GatedRelativePositionBias", "q c s w b e",
        {"q": floats(2, 6, 16), "s": floats(1, 4, 6, 6)}, {"c": floats(16), "w": floats(4, 8),
         "b": floats(8), "e": floats(1, 4, 1, 1)}, num_heads=4),
    "GemmaRotaryEmbedding": Row("GemmaRotaryEmbedding", "e q qt k kt",
        {"e": floats(2, 4, 8), **HEADS}, None, "y z"),
    "MulInteger": Row("MulInteger", "p pz q qz", {"p": bytes_of(2, 3), "q": bytes_of(3)},
        {"pz": np.uint8(7), "qz": np.uint8(200)}),
    "ReduceSumInteger": Row("ReduceSumInteger", "x", {"x": bytes_of(2, 3, 4)}, axes=[1],
        keepdims=0),
    "QLinearReduceMean": Row("QLinearReduceMean", "x xs xz os oz", {"x": bytes_of(2, 3, 4)},
        {**scales("x"), **scales("o", size=0.01)}, axes=[1, 2], keepdims=1, tolerance=1),
    "ScaledSiLU": Row("ScaledSiLU", "x", {"x": BLOCK}, alpha=1.7),
    "GatedAdd": Row("GatedAdd", "x k g", {"x": BLOCK, "k": floats(2, 3, 8),
        "g": floats(2, 3, 1)}),
    "BranchwiseRMSNorm": Row("BranchwiseRMSNorm", "x g", {"x": BLOCK}, {"g": floats(8)},
        num_branches=2),
    "BranchwiseRMSNorm grouped": Row("BranchwiseRMSNorm", "x g", {"x": floats(2, 3, 2, 4)},
        {"g": floats(4)}),
    "LinearAttentionGate": Row("LinearAttentionGate", "a d s b",
        {"a": floats(2, 3, 4), "b": floats(2, 3, 4)}, {"d": floats(4), "s": floats(4)}, "y z"),
    "CausalConvWithState": Row("CausalConvWithState", "x w b p",
        {"x": floats(2, 4, 6), "p": floats(2, 4, 2)}, {"w": floats(4, 1, 3), "b": floats(4)},
        "y t", activation="silu"),
    "CausalConvWithState dilation": Row("CausalConvWithState", "x w", {"x": floats(2, 4, 7)},
        {"w": floats(4, 1, 3)}, "y t", dilation=2),
    "MoE": Row("MoE", "x r u ub d db", {"x": BLOCK, "r": floats(6, 4)}, EXPERTS, k=2,
        activation_type="gelu"),
    "MoE normalized": Row("MoE", "x r u - d", {"x": BLOCK, "r": floats(6, 4)},
        {k: EXPERTS[k] for k in "ud"}, k=2, normalize_routing_weights=1, activation_type="silu"),
    "MoE SwiGLU": Row("MoE", "x r u ub d db", {"x": floats(5, 8), "r": floats(5, 4)},
        {"u": floats(4, 12, 8), "ub": floats(4, 12), "d": EXPERTS["d"], "db": EXPERTS["db"]},
        k=3, activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.702,
        activation_beta=1.0, swiglu_limit=0.9, normalize_routing_weights=1),
    "MatMulBnb4": Row("MatMulBnb4", "x w m", {"x": floats(3, 64)}, NBITS4, K=64, N=24,
        block_size=32, quant_type=1, tolerance=1e-4),
    "MatMulBnb4 FP4": Row("MatMulBnb4", "x w m", {"x": floats(3, 64)}, NBITS4, K=64, N=24,
        block_size=32, quant_type=0, tolerance=1e-4),
    "MRotaryEmbedding": Row("MRotaryEmbedding", "x p c n",
        {"x": floats(2, 6, 32), "p": ints(0, 12, 3, 2, 6)},
        {"c": WIDE_CACHE[0], "n": WIDE_CACHE[1]}, mrope_section=[4, 2, 2],
        num_heads=2),
    "MRotaryEmbedding interleaved": Row("MRotaryEmbedding", "x p c n",
        {"x": floats(2, 2, 6, 16), "p": ints(0, 12, 3, 2, 6)},
        {"c": WIDE_CACHE[0], "n": WIDE_CACHE[1]}, mrope_section=[4, 2, 2], mrope_layout=1),
    "DecoderMaskedMultiHeadAttention cross": Row("DecoderMaskedMultiHeadAttention", "q k v",
        {"q": floats(2, 1, 16), "k": floats(2, 4, 7, 4), "v": floats(2, 4, 7, 4)}, num_heads=4),
    "Inverse": Row("Inverse", "x", {"x": floats(2, 4, 4) + 3 * np.eye(4, dtype=np.float32)}),
    "GroupQueryAttention past": Row("GroupQueryAttention", "q k v pk pv n t c r",
        {"q": floats(1, 2, 32), "k": floats(1, 2, 16), "v": floats(1, 2, 16),
         "pk": floats(1, 1, 3, 16), "pv": floats(1, 1, 3, 16)},
        {"n": i32(4), "t": np.int32(5), "c": WIDE_CACHE[0], "r": WIDE_CACHE[1]}, "y kk vv",
        num_heads=2, kv_num_heads=1, do_rotary=1),
}  # fmt: skip


EXPERT_DRAWS = np.random.default_rng(40)  # not those of the rows that other modules draw next


def drawn(*shape):
    return EXPERT_DRAWS.normal(size=shape).astype(np.float32)


def packed(*shape):
    return EXPERT_DRAWS.integers(0, 256, shape).astype(np.uint8)


def step(*shape):
    """Scales of weights, one for each row or block."""
    return np.float32(0.02) * np.abs(drawn(*shape)) + np.float32(0.005)


ROUTED = {"x": drawn(2, 3, 32), "r": drawn(6, 4)}
FOUR_BITS = {"u": packed(4, 64, 16), "us": step(4, 64), "ub": drawn(4, 64),
    "d": packed(4, 32, 32), "ds": step(4, 32), "db": drawn(4, 32)}  # fmt: skip
ROWS |= {
    "QMoE": Row("QMoE", "x r u us ub d ds db", ROUTED, FOUR_BITS, k=2, activation_type="silu",
        normalize_routing_weights=1, tolerance=1e-3),
    "QMoE 8 bits": Row("QMoE", "x r u us - d ds", ROUTED, {"u": packed(4, 64, 32),
        "us": step(4, 64), "d": packed(4, 32, 64), "ds": step(4, 32)}, k=1,
        activation_type="relu", expert_weight_bits=8, tolerance=1e-3),
    "QMoE SwiGLU": Row("QMoE", "x r u us ub d ds db", ROUTED, {**FOUR_BITS,
        "u": packed(4, 128, 16), "us": step(4, 128), "ub": drawn(4, 128)}, k=2,
        activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.702, activation_beta=1.0,
        swiglu_limit=7.0, normalize_routing_weights=1, tolerance=1e-3),
    "QMoE blocks": Row("QMoE", "x r u us - d ds - - - - uz dz", ROUTED, {"u": FOUR_BITS["u"],
        "us": step(4, 64, 2), "d": FOUR_BITS["d"], "ds": step(4, 32, 4),
        "uz": packed(4, 64, 1), "dz": packed(4, 32, 2)}, k=2, activation_type="silu",
        block_size=16, tolerance=1e-3),
    "QGemm channels": Row("QGemm", "x xs xz w ws wz b os oz", {"x": packed(3, 16)}, {
        **scales("x"), "w": (packed(5, 16) // 2).astype(np.int8), "ws": step(5),
        "wz": np.zeros(5, np.int8), "b": np.arange(5, dtype=np.int32) * 100,
        "os": np.float32(2), "oz": np.uint8(10)}, transB=1, tolerance=1),
    **{
        f"GroupQueryAttention {label}": Row("GroupQueryAttention",
            "q k v pk pv n t - - - - s" if label == "sink" else "q k v pk pv n t",
            {"q": 3 * drawn(1, 2, 64), "k": 3 * drawn(1, 2, 32), "v": drawn(1, 2, 32),
             "pk": drawn(1, 2, 3, 16), "pv": drawn(1, 2, 3, 16)},
            {"n": i32(4), "t": np.int32(5), **({"s": drawn(4)} if label == "sink" else {})},
            "y kk vv", num_heads=4, kv_num_heads=2, **attributes)
        for label, attributes in (
            ("softcap", {"softcap": 2.5, "local_window_size": 3}),
            ("smooth", {"smooth_softmax": 1}),
            ("sink", {}),
        )
    },
    "GroupQueryAttention positions": Row("GroupQueryAttention", "q k v pk pv n t c r p",
        {"q": drawn(1, 2, 64), "k": drawn(1, 2, 32), "v": drawn(1, 2, 32),
         "pk": drawn(1, 2, 3, 16), "pv": drawn(1, 2, 3, 16), "p": np.array([[4, 1]])},
        {"n": i32(4), "t": np.int32(5), "c": WIDE_CACHE[0], "r": WIDE_CACHE[1]}, "y kk vv",
        num_heads=4, kv_num_heads=2, do_rotary=1),
}  # fmt: skip

HEADS_OF_KEYS = {"q": drawn(2, 5, 16), "k": drawn(2, 4, 7, 4), "v": drawn(2, 4, 7, 4)}
BYTES = (packed(16, 48) // 4).astype(np.int8)  # larger ones overflow where there is no VNNI
QUANTIZED = {"w": BYTES, "b": drawn(48), **scales("x"), **scales("w", size=0.01, dtype=np.int8)}
PACKED = {"w": drawn(16, 48) / 4, "b": drawn(48)}
ROWS |= {
    "Attention counts": Row("Attention", "x w b m", {"x": drawn(2, 6, 16),
        "m": np.int32([[1, 2, -1, 1, 0, 1], [1, 1, 1, 3, 1, -5]])}, PACKED, num_heads=4),
    "Attention unidirectional mask": Row("Attention", "x w b m - s", {"x": drawn(2, 6, 16),
        "m": np.int32([[0, 0, 0, 1, 1, 1], [1, 1, 0, 1, 1, 1]]), "s": drawn(1, 4, 6, 6)}, PACKED,
        "y p", num_heads=4, unidirectional=1, mask_filter_value=-3.0),
    "MultiHeadAttention counts": Row("MultiHeadAttention", "q k v - m",
        {"q": drawn(2, 5, 16), "k": drawn(2, 7, 16), "v": drawn(2, 7, 16),
         "m": np.int32([[1, 2, -1, 1, 0, 1, 1], [1, 1, 1, 3, 1, -5, 1]])}, num_heads=2),
    "MultiHeadAttention 3-D mask": Row("MultiHeadAttention", "q k v b m",
        {**HEADS_OF_KEYS, "m": (packed(2, 5, 7) > 99).astype(np.int32)}, {"b": drawn(48)},
        num_heads=4),
    "MultiHeadAttention packed": Row("MultiHeadAttention", "q", {"q": drawn(2, 5, 4, 3, 4)},
        num_heads=4),
    "MultiHeadAttention packed keys": Row("MultiHeadAttention", "q k",
        {"q": drawn(2, 5, 16), "k": drawn(2, 7, 4, 2, 4)}, num_heads=4),
    "QAttention mask": Row("QAttention", "x w b xs ws m xz wz", {"x": packed(2, 6, 16),
        "m": np.int32([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]])},
        QUANTIZED, num_heads=4, tolerance=1e-4),
    "QAttention unidirectional": Row("QAttention", "x w b xs ws - xz wz p", {
        "x": packed(2, 6, 16), "p": drawn(2, 2, 4, 3, 4)},
        QUANTIZED, "y pp", num_heads=4, unidirectional=1, tolerance=1e-4),
}  # fmt: skip

CACHE_DRAWS = np.random.default_rng(41)


def cached(n_rows, n_new, n_past, ends, total, names="", attributes=None):
    """GroupQueryAttention whose rows have so many past keys and end at `ends`."""

    def numbers(*shape):
        return CACHE_DRAWS.normal(size=shape).astype(np.float32)

    feeds = {"q": numbers(n_rows, n_new, 64), "k": numbers(n_rows, n_new, 32),
        "v": numbers(n_rows, n_new, 32), "pk": numbers(n_rows, 2, n_past, 16),
        "pv": numbers(n_rows, 2, n_past, 16)}  # fmt: skip
    constants = {"n": i32(*ends), "t": np.array(total, np.int32), "c": WIDE_CACHE[0],
        "r": WIDE_CACHE[1], "b": numbers(n_rows, 1, n_new, total), "s": numbers(4)}  # fmt: skip
    inputs = (f"q k v {'pk pv' if n_past else '- -'} n t " + names).split()
    return Row("GroupQueryAttention", " ".join(inputs),
        {key: x for key, x in feeds.items() if key in inputs},
        {key: x for key, x in constants.items() if key in inputs},
        "y kk vv", num_heads=4, kv_num_heads=2, **attributes or {})  # fmt: skip


ROWS |= {
    f"GroupQueryAttention cache {label}": cached(*arguments)
    for label, arguments in {
        "rows": (2, 1, 6, [6, 3], 7),
        "rows rotary": (2, 1, 6, [6, 3], 7, "c r", {"do_rotary": 1}),
        "rows window": (2, 1, 6, [6, 2], 7, "", {"local_window_size": 3, "softcap": 2.5}),
        "rows bias": (2, 1, 6, [3, 6], 7, "- - - b s"),
        "with room": (2, 1, 6, [4, 2], 5, "c r", {"do_rotary": 1, "rotary_interleaved": 1}),
        "second part": (1, 3, 7, [6], 7, "c r", {"do_rotary": 1, "local_window_size": 4}),
        "prompt with room": (2, 5, 8, [4, 4], 5, "c r", {"do_rotary": 1}),
        "both directions": (2, 5, 0, [4, 2], 5, "", {"causal": 0}),
        "both directions past": (2, 1, 6, [6, 3], 7, "", {"causal": 0}),
    }.items()
}

ATTENDED = """ax = Constant<value_ints=[3]>() k1 = Squeeze(k0, ax) v1 = Squeeze(v0, ax)
kt = Transpose<perm=[0,2,3,1]>(k1) vt = Transpose<perm=[0,2,1,3]>(v1)
qt = Transpose<perm=[0,2,1,3]>(q1) m = MatMul(qt, kt) h = Constant<value_float=0.5>() s = Mul(m, h)
p = Softmax<axis=-1>(s) o = MatMul(p, vt) ot = Transpose<perm=[0,2,1,3]>(o)
sh = Constant<value_ints=[2,5,16]>() y = Reshape(ot, sh)"""
DEFINITIONS = {
    "MultiHeadAttention packed": "q0, k0, v0 = Split<axis=3, num_outputs=3>(q)"
    " axis = Constant<value_ints=[3]>() q1 = Squeeze(q0, axis) " + ATTENDED,
    "MultiHeadAttention packed keys": "k0, v0 = Split<axis=3, num_outputs=2>(k)"
    " heads = Constant<value_ints=[2,5,4,4]>() q1 = Reshape(q, heads) " + ATTENDED,
    "GroupNorm": GROUPS.format(x="x", n=4) + SAME,
    "GroupNorm SiLU": GROUPS.format(x="x", n=2) + SILU,
    "SkipGroupNorm": "xk = Add(x, k) t = Add(xk, b) " + GROUPS.format(x="t", n=2) + SILU,
    "SkipGroupNorm 2-D": "a = Constant<value_ints=[1, 2]>() kk = Unsqueeze(k, a) t = Add(x, kk) "
    + GROUPS.format(x="t", n=4) + SAME,
    "BiasSplitGelu": "t = Add(x, b) l, r = Split<axis=-1, num_outputs=2>(t) g = Gelu(r)"
    " y = Mul(l, g)",
    "BiasSoftmax": "t = Add(x, b) y = Softmax<axis=-1>(t)",
    "BiasDropout": "t = Add(x, b) y = Add(t, r)",
    "GemmFastGelu": 'm = MatMul(x, w) t = Add(m, b) y = Gelu<approximate="tanh">(t)',
    "FusedMatMulActivation": "v = Transpose<perm=[1,0]>(w) m = MatMul(x, v)"
    " h = Constant<value_float=0.5>() t = Mul(m, h) y = LeakyRelu<alpha=0.2>(t)",
    "TorchEmbedding": "y = Gather(w, i)",
    "NhwcConv": "c = Transpose<perm=[0,3,1,2]>(x)"
    " n = Conv<pads=[1,1,1,1], strides=[2,2]>(c, w, b) y = Transpose<perm=[0,2,3,1]>(n)",
    "NhwcFusedConv": "c = Transpose<perm=[0,3,1,2]>(x) n = Conv(c, w, b)"
    " l = Transpose<perm=[0,2,3,1]>(n) t = Add(l, z) y = Relu(t)",
    "SwiGLU": "n = Constant<value_float=-0.7>() p = Constant<value_float=0.7>()"
    " a = Constant<value_float=1.5>() h = Constant<value_float=0.5>() gg = Min(x, p)"
    " ll = Clip(u, n, p) ag = Mul(gg, a) s = Sigmoid(ag) t = Mul(gg, s) lb = Add(ll, h)"
    " y = Mul(t, lb)",
    "SwiGLU halves": "g, u = Split<axis=-1, num_outputs=2>(x) s = Sigmoid(g) t = Mul(g, s)"
    " y = Mul(t, u)",
    "ComplexMul": "a, b = Split<axis=-1, num_outputs=2>(p) c, d = Split<axis=-1, num_outputs=2>(q)"
    " ac = Mul(a, c) bd = Mul(b, d) ad = Mul(a, d) bc = Mul(b, c) re = Sub(ac, bd)"
    " im = Add(ad, bc) y = Concat<axis=-1>(re, im)",
    "ComplexMulConj": "a, b = Split<axis=-1, num_outputs=2>(p)"
    " c, d = Split<axis=-1, num_outputs=2>(q) ac = Mul(a, c) bd = Mul(b, d)"
    " ad = Mul(a, d) bc = Mul(b, c) re = Add(ac, bd)"
    " im = Sub(bc, ad) y = Concat<axis=-1>(re, im)",
    "Rfft": "a = Constant<value_ints=[-1]>() z = Unsqueeze(x, a) y = DFT<axis=2, onesided=1>(z)",
    "RelativePositionBias": T5
    + " h = Constant<value_int=4>() zz = Constant<value_int=0>() d = Abs(ahead)"
    " far = Greater(ahead, zz) e = Constant<value_int=2>() last = Constant<value_int=3>()"
    " df = Cast<to=1>(d) ef = Cast<to=1>(e) r = Div(df, ef) lr = Log(r)"
    " q = Constant<value_float=2.5>() lq = Log(q) sh = Div(lr, lq)"
    " two = Constant<value_float=2.0>()"
    " m = Mul(sh, two) fl = Floor(m) w = Cast<to=7>(fl) wide = Add(w, e)"
    " cut = Min(wide, last) near = Less(d, e) pl = Where(near, d, cut) off = Where(far, h, zz)"
    " all = Add(pl, off) g = Gather(t, all) tr = Transpose<perm=[2,0,1]>(g)"
    " ax = Constant<value_ints=[0]>() y = Unsqueeze(tr, ax)",
    "GatedRelativePositionBias": "qb = Add(q, c) sp = Constant<value_ints=[2,6,4,4]>()"
    " r = Reshape(qb, sp) h = Transpose<perm=[0,2,1,3]>(r) m = MatMul(h, w) l = Add(m, b)"
    " sq = Constant<value_ints=[2,4,6,2,4]>() lr = Reshape(l, sq) ax = Constant<value_ints=[-1]>()"
    " su = ReduceSum<keepdims=0>(lr, ax) sg = Sigmoid(su)"
    " gu, gr = Split<axis=-1, num_outputs=2>(sg) one = Constant<value_float=1.0>()"
    " two = Constant<value_float=2.0>() ge = Mul(gr, e) g1 = Sub(ge, one) g2 = Mul(gu, g1)"
    " gate = Add(g2, two) y = Mul(gate, s)",
    "GemmaRotaryEmbedding": "ax = Constant<value_ints=[1]>() s = Sin(e) co = Cos(e)"
    " su = Unsqueeze(s, ax) cu = Unsqueeze(co, ax) q1 = Mul(q, cu) q2 = Mul(qt, su)"
    " y = Add(q1, q2) k1 = Mul(k, cu) k2 = Mul(kt, su) z = Add(k1, k2)",
    "MulInteger": "a = Cast<to=6>(p) b = Cast<to=6>(pz) c = Cast<to=6>(q) d = Cast<to=6>(qz)"
    " e = Sub(a, b) f = Sub(c, d) y = Mul(e, f)",
    "ReduceSumInteger": "a = Cast<to=6>(x) ax = Constant<value_ints=[1]>()"
    " y = ReduceSum<keepdims=0>(a, ax)",
    "QLinearReduceMean": "f = DequantizeLinear(x, xs, xz) ax = Constant<value_ints=[1, 2]>()"
    " m = ReduceMean<keepdims=1>(f, ax) y = QuantizeLinear(m, os, oz)",
}  # fmt: skip
