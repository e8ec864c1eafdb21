"""Nodes of com.microsoft on words, n-grams and streams of language models.

ONNX Runtime's answers are in tests/converter/onnx/runtime_language.npz, which make_runtime_nodes.py
there recorded.
"""

import numpy as np
from runtime_nodes import Row

RNG = np.random.default_rng(24)


def floats(*shape, size=1.0):
    return (RNG.normal(size=shape) * size).astype(np.float32)


IMAGE = floats(2, 3, 7, 8)
WORDS = np.int32([[3, 5, 1, 2, 0, 0], [4, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [7, 6, 5, 4, 3, 2],
                  [1, 2, 0, 3, 0, 0]])  # fmt: skip
LETTERS = {"w": floats(4, 1, 3, 5), "b": floats(4), "c": floats(9, 5)}
TOKENS = np.int64([[3, 4, 5, 3, 4], [1, 1, 1, 1, 1], [0, 1, 2, 3, 4]])
STREAMS, GATE = floats(2, 3, 4, 6), floats(2, 3, 4)
FLAT = STREAMS.reshape(2, 3, 24)
ENGRAM = {"k": floats(2, 3, 4, 8), "q": floats(2, 3, 4, 8), "v": floats(2, 3, 8)}
NORMS = {"ks": floats(4, 8), "qs": floats(4, 8)}
EXPERTS = {"x": floats(2, 5, 12)}
EXPERT_BIAS = {"b": floats(12, size=0.1)}


def ngrams(dtype):
    """Large ids, whose products pass the limits of int32; some are the end, 4."""
    ids = np.where(RNG.uniform(size=(2, 9)) < 0.3, 4, RNG.integers(0, 2**31 - 1, (2, 9)))
    ids = {"i": ids.astype(dtype)}
    constants = {
        "m": RNG.integers(-(2**30), 2**30, 4).astype(dtype) | 1,
        "v": np.array([7, 11, 1009, 13, 10007, 17], dtype),
    }
    past = {"p": RNG.integers(0, 99, (2, 3)).astype(dtype)}
    segments = {"s": np.int32([[0, 0, 0, 1, 1, 1, 1, 1, 2], [3, 3, 3, 3, 3, 3, 3, 2, 2]])}
    offsets, end = {"o": np.arange(6, dtype=dtype) * 9}, {"e": np.array(4, dtype)}

    def row(names, feeds, more, **attributes):
        sizes = {"max_ngram_size": 4, "n_head_per_ngram": 2, "pad_id": 5}
        return Row("NGramHashMapping", names, feeds, {**constants, **more}, "y z",
                   **sizes, **attributes)  # fmt: skip

    kind = np.dtype(dtype).name
    return {
        f"NGramHashMapping {kind}": row("i m v", ids, {}),
        f"NGramHashMapping {kind} past": row("i m v p o", {**ids, **past}, offsets),
        f"NGramHashMapping {kind} end": row("i m v p - e", {**ids, **past}, end, reset_on_eos=1),
        f"NGramHashMapping {kind} filled": row("i m v - - e", ids, end),
        f"NGramHashMapping {kind} segments": row("i m v - - - s", {**ids, **segments}, {}),
        f"NGramHashMapping {kind} all": row(
            "i m v p o e s", {**ids, **past, **segments}, {**offsets, **end}, reset_on_eos=1),
    }  # fmt: skip


def linear_attentions():
    """Each rule, with and without a state; shared heads both ways, decay of heads and of keys."""
    x = {"q": floats(2, 6, 12), "k": floats(2, 6, 6), "v": floats(2, 6, 8)}
    gates = {"d": -np.abs(floats(2, 6, 2)), "b": np.abs(floats(2, 6, 2)) / 2}
    past, of_keys, one = floats(2, 2, 3, 4), -np.abs(floats(2, 6, 6)), np.abs(floats(2, 6, 1)) / 2
    sizes = {"q_num_heads": 4, "kv_num_heads": 2}

    def row(rule, names="q k v - d b", feeds=None, **attributes):
        attributes = {"update_rule": rule, **sizes, **attributes}
        return Row("LinearAttention", names, feeds or {**x, **gates}, {}, "y z", **attributes)

    return {
        "LinearAttention": row("linear", "q k v", x),
        "LinearAttention gated": row("gated", "q k v p d", {**x, "p": past, "d": of_keys}),
        "LinearAttention delta": row("delta", "q k v p - b", {**x, "p": past, "b": one}),
        "LinearAttention gated_delta": row("gated_delta", scale=0.5),
        "LinearAttention a token": row("gated_delta",
            "q k v p d b", {k: y[:, :1] for k, y in {**x, **gates}.items()} | {"p": past}),
        "LinearAttention inverse": row("gated", "q k v - d", {**x, "q": floats(2, 6, 3),
            "d": gates["d"]}, q_num_heads=1),
    }  # fmt: skip


def delta_nets():
    """Each rule, packing and activation; heads shared; what the first tokens did to the state."""
    feeds = {"q": floats(6, 2, 3), "k": floats(6, 2, 3), "v": floats(6, 4, 5)}
    feeds |= {"d": -np.abs(floats(6, 4)), "b": np.abs(floats(6, 4)) / 2, "s": floats(2, 4, 5, 3)}
    feeds |= {"e": -np.abs(floats(6, 4, 3)), "c": np.int32([0, 4, 6]), "n": np.int32([1, 7])}
    gates = {"a": floats(4), "t": floats(4), "u": floats(12)}
    batched = {k: x.reshape(2, 3, *x.shape[1:]) for k, x in feeds.items() if k not in "scn"}
    packed = np.concatenate([feeds[name].reshape(6, -1) for name in "qkv"], 1)

    def row(names, outputs="y z", feeds=feeds, **attributes):
        used = {name: feeds[name] for name in names.split() if name in feeds}
        constants = {name: gates[name] for name in names.split() if name in gates}
        return Row("GatedDeltaNet", names, used, constants, outputs, **attributes)

    captured = {"outputs": "y z w", "state_update_capacity": 4}
    return {
        "GatedDeltaNet": row("q k v - d b s"),
        "GatedDeltaNet linear": row("q k v - - - s", update_rule="linear", scale=0.5),
        "GatedDeltaNet gated": row("q k v - e - s", update_rule="gated"),
        "GatedDeltaNet delta": row("q k v - - b s", update_rule="delta", qk_l2_norm=1),
        "GatedDeltaNet ragged": row("q k v c d b s"),
        "GatedDeltaNet ragged alone": row("q k v c e b", feeds=feeds | {"c": np.int32([0, 0, 6])}),
        "GatedDeltaNet batched": row("q k v - d b", feeds=batched),
        "GatedDeltaNet packed": row("q - - - d b s", feeds=feeds | {"q": packed}),
        "GatedDeltaNet softplus": row("q k v - d b s a t", gate_activation="softplus",
            beta_activation="sigmoid"),
        "GatedDeltaNet kda": row("q k v - e b s a u", gate_activation="kda", gate_lower_bound=-3.0),
        "GatedDeltaNet captured": row("q k v - d b s - - n", **captured),
        "GatedDeltaNet captured linear": row("q k v - - - s - - n", update_rule="linear",
            **captured),
        "GatedDeltaNet captured ragged": row("q k v c e b s - - n", **captured),
        "GatedDeltaNet captured none": row("q k v - d b s - - n i",
            feeds=feeds | {"i": np.int32([0])}, **captured),
    }  # fmt: skip


def attention_lstms():
    """Each direction; lengths of both kinds, states, peepholes, a layer and other functions."""
    x, memory = floats(5, 2, 3), floats(2, 6, 4)

    def row(names, n=1, layer=False, outputs="y h c", **attributes):
        seen = 3 if layer else 4
        tensors = {"w": floats(n, 20, 3 + seen), "r": floats(n, 20, 5), "b": floats(n, 40),
                   "q": floats(n, 5, 7), "k": floats(n, 4, 7), "v": floats(n, 7),
                   "a": floats(n, 9, 3), "p": floats(n, 15)}  # fmt: skip
        feeds = {"x": x, "m": memory, "s": np.int32([5, 3]), "l": np.int32([4, 6]),
                 "g": floats(n, 2, 5), "f": floats(n, 2, 5)}  # fmt: skip
        read = names.split()
        return Row("AttnLSTM", names, {k: y for k, y in feeds.items() if k in read},
                   {k: y for k, y in tensors.items() if k in read}, outputs, hidden_size=5,
                   **attributes)  # fmt: skip

    both = {"n": 2, "direction": "bidirectional"}
    return {
        "AttnLSTM": row("x w r - - - - - q k v m"),
        "AttnLSTM lengths": row("x w r b s g f p q k v m l a", layer=True),
        "AttnLSTM reverse": row("x w r b s - - - q k v m l", direction="reverse"),
        "AttnLSTM both": row("x w r b s g f p q k v m l a", layer=True, clip=1.5, **both),
        "AttnLSTM functions": row("x w r b - - - - q k v m l a", layer=True, input_forget=1,
            outputs="y", activations=["HardSigmoid", "Softsign", "Relu"] * 2, **both),
    }  # fmt: skip


def sparse_attentions():
    """First and later calls; two layouts and one, rotated positions, packed inputs."""
    rows = np.int32([[0, 1, 3, 5, 8], [0, 1, 3, 6, 9]])
    columns = np.int32([[0, 0, 1, 1, 2, 1, 2, 3, -1], [0, 0, 1, 0, 1, 2, 0, 2, 3]])
    layouts = {"r": rows, "c": columns}
    angles = {"o": np.cos(floats(64, 8)), "i": np.sin(floats(64, 8))}
    sizes = {"num_heads": 4, "kv_num_heads": 2, "sparse_block_size": 16}
    buffers = {name: RNG.integers(-2, 3, (2, 2, 64, 16)).astype(np.float32) for name in "pu"}

    def row(n, total, ends, names="q k v p u r c t e", constants=layouts, **attributes):
        feeds = {"q": floats(2, n, 64), "k": floats(2, n, 32), "v": floats(2, n, 32), **buffers,
                 "t": np.int32([total]), "e": np.int32(ends)}  # fmt: skip
        feeds["q"] = feeds["q"] if "k" in names else floats(2, n, 128)
        feeds = {name: x for name, x in feeds.items() if name in names.split()}
        return Row("SparseAttention", names, feeds, constants, "y pk pv", **sizes, **attributes)

    turned = {"names": "q k v p u r c t e o i", "do_rotary": 1, "constants": layouts | angles}
    one = {name: x[:1] for name, x in layouts.items()}
    return {
        "SparseAttention": row(20, 20, [20, 20]),
        "SparseAttention later": row(1, 60, [60, 37], scale=0.5),
        "SparseAttention rotated": row(20, 20, [20, 20], **turned),
        "SparseAttention rotated later": row(3, 60, [60, 37], rotary_interleaved=1, **turned),
        "SparseAttention packed": row(5, 64, [64, 50], "q - - p u r c t e", one),
    }  # fmt: skip


ROWS = {
    "WordConvEmbedding": Row("WordConvEmbedding", "x w b c", {"x": WORDS}, LETTERS),
    "WordConvEmbedding one": Row("WordConvEmbedding", "x w b c", {"x": WORDS},
        {**LETTERS, "w": floats(4, 1, 1, 5)}),
    "NGramRepeatBlock": Row("NGramRepeatBlock", "i s", {"i": TOKENS, "s": floats(3, 7)},
        ngram_size=3),
    "NGramRepeatBlock one": Row("NGramRepeatBlock", "i s", {"i": TOKENS, "s": floats(3, 7)},
        ngram_size=1),
    "NGramRepeatBlock long": Row("NGramRepeatBlock", "i s", {"i": TOKENS, "s": floats(3, 7)},
        ngram_size=7),
    "HyperConnectionPreMix": Row("HyperConnectionPreMix", "x g", {"x": STREAMS, "g": GATE}),
    "HyperConnectionPreMix flat": Row("HyperConnectionPreMix", "x g",
        {"x": FLAT, "g": floats(2, 3, 24)}, num_branches=4, reduction_scale=0.5),
    "HyperConnectionPreMix features": Row("HyperConnectionPreMix", "x g",
        {"x": STREAMS, "g": floats(2, 3, 4, 6)}),
    "HyperConnectionPostMix": Row("HyperConnectionPostMix", "x o g m",
        {"x": STREAMS, "o": floats(2, 3, 6), "g": GATE, "m": floats(2, 3, 4, 4)}),
    "HyperConnectionPostMix flat": Row("HyperConnectionPostMix", "x o g",
        {"x": FLAT, "o": floats(2, 3, 6), "g": floats(2, 3, 4, 1)}, num_branches=4),
    "EngramGate": Row("EngramGate", "k q v ks qs", ENGRAM, NORMS),
    "EngramGate normed": Row("EngramGate", "k q v ks qs vs", ENGRAM, {**NORMS, "vs": floats(4, 8)},
        "y z", epsilon=1e-3),
    "MoEGroupRouter": Row("MoEGroupRouter", "x b", EXPERTS, EXPERT_BIAS, top_k=3),
    "MoEGroupRouter groups": Row("MoEGroupRouter", "x b", EXPERTS, EXPERT_BIAS, top_k=2, n_group=4,
        topk_group=2, group_topk=2, router_sentinel=-50.0),
    "MoEGroupRouter scores": Row("MoEGroupRouter", "x b", {"x": floats(5, 12)}, EXPERT_BIAS,
        "- s w", top_k=3),
    "SampleOp": Row("SampleOp", "x", {"x": IMAGE}),
    **linear_attentions(),
    **ngrams(np.int32),
    **ngrams(np.int64),
    "HyperConnectionLowRankMix": Row("HyperConnectionLowRankMix", "x n d u i o p",
        {"x": FLAT, "o": floats(2, 3, 6), "p": GATE}, {"n": floats(24),
        "d": floats(24, 5, size=0.2), "u": floats(5, 24), "i": floats(24, 4)}, "y z w",
        num_branches=4, gate_mul=3.0, gate_div=2.0, silu_alpha=1.5, reduction_scale=0.5),
    **delta_nets(),
    **attention_lstms(),
    **sparse_attentions(),
}  # fmt: skip
DEFINITIONS = {
    "HyperConnectionLowRankMix": """
        split = Constant<value_ints=[0, 0, 4, 6]>() flat = Constant<value_ints=[0, 0, 24]>()
        each = Constant<value_ints=[4, 6]>() last = Constant<value_ints=[-1]>()
        of_streams = Constant<value_ints=[2]>() e = Constant<value_float=1e-5>()
        streams = Reshape(x, split) gate = Unsqueeze(p, last) block = Unsqueeze(o, of_streams)
        product = Mul(gate, block) s = Add(streams, product) w = Reshape(s, flat)
        square = Mul(s, s) mean = ReduceMean(square, last) sum = Add(mean, e) root = Sqrt(sum)
        divided = Div(s, root) scale = Reshape(n, each) h = Mul(divided, scale)
        hn = Reshape(h, flat) low = MatMul(hn, d) alpha = Constant<value_float=1.5>()
        v = Mul(low, alpha) share = Sigmoid(v) hidden = Mul(v, share) high = MatMul(hidden, u)
        g = Sigmoid(high) gates = Reshape(g, split) gated = Mul(h, gates)
        total = ReduceSum<keepdims=0>(gated, of_streams) half = Constant<value_float=0.5>()
        y = Mul(total, half) logits = MatMul(hn, i) two = Constant<value_float=2.0>()
        less = Div(logits, two) after = Sigmoid(less) three = Constant<value_float=3.0>()
        z = Mul(after, three)
    """,
}
"""Nodes of ai.onnx for what ONNX Runtime has no kernel of for processors."""
