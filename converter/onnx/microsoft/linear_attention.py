"""com.microsoft: attention that is linear in the length, a state that goes from token to token."""

from __future__ import annotations

import numpy as np

from ...lowering.moves import extent, like, regrouped_from, transposed
from ..control import inlined
from ..registry import lower
from .fused import DOMAIN

RULES = {"linear": "", "gated": "d", "delta": "b", "gated_delta": "db"}
"""update_rule -> which of decay and beta it reads."""
STEP = {
    "d": "share = Exp(d) over = Unsqueeze(share, last) kept = Mul(over, s)",
    "b": "seen = MatMul(key, kept) error = Sub(row, seen) weight = Unsqueeze(b, last)"
    " change = Mul(weight, error)",
}
"""What becomes of the state before the token is added, and how far the state is from its value."""
AXES = "<int64[1] last = {-1}, int64[1] middle = {-2}>"


def recurrence(rule):
    """The graph of a Scan over tokens: states [batch, heads, keys, values] and rows of q, k, v.

    Its rows are what queries find and what the state's values change by.
    """
    from onnx.parser import parse_graph

    extras = RULES[rule]
    inputs = ["q", "k", "v", *extras]
    kept = STEP["d"] if "d" in extras else "kept = Identity(s)"
    change = STEP["b"] if "b" in extras else "change = Identity(row)"
    step = f"""
        column = Unsqueeze(k, last) row = Unsqueeze(v, middle) key = Unsqueeze(k, middle)
        {kept} {change} kv = Mul(column, change)
        present = Add(kept, kv)
        y = MatMul(q, present)
    """
    values = ", ".join(f"float {name}" for name in inputs)
    body = f"step (float s, {values}) => (float present, float y, float change)"
    outer = ", ".join(["s", *inputs])
    return parse_graph(f"""
        tokens (float s, {values}) => (float last_state, float rows, float changes) {{
            last_state, rows, changes = Scan <
                num_scan_inputs = {len(inputs)}, body = {body} {AXES} {{ {step} }}
            > ({outer})
        }}
    """)


@lower(f"{DOMAIN}LinearAttention")
def linear_attention(node, b):
    """What queries find in a state to which each token adds its key times its value."""
    q, k, v, state, decay, beta = (node.input(i) for i in range(6))
    rule = node.attr("update_rule", "gated_delta")
    node.require(rule in RULES, f"update_rule must be one of {tuple(RULES)}, got '{rule}'")
    node.require(not node.attr("state_window", 0), "state_window is not supported")
    extras = {"d": decay, "b": beta}
    read = {name: extras[name] for name in RULES[rule]}
    node.require(None not in read.values(), f"update_rule '{rule}' needs decay or beta")
    n_queries, n_heads = node.attr("q_num_heads"), node.attr("kv_num_heads")
    q, k, v = (_by_token(node, b, x, n) for x, n in ((q, n_queries), (k, n_heads), (v, n_heads)))
    if n_heads > n_queries:
        heads = np.repeat(np.arange(n_queries), n_heads // n_queries).astype(np.int32)
        q = b.GATHER(q, heads, axis=2)
    n_shared = max(n_queries // n_heads, 1)
    size, width = (x.dims[3] or 0 for x in (k, v))
    scale = node.attr("scale", 0.0) or 1 / np.sqrt(size)
    q = regrouped_from(b.MUL(q, like(q, scale, b)), 2, (n_heads, n_shared, size), b)
    state = no_state(b, q, (n_heads, size, width)) if state is None else state
    read = [_by_token(node, b, x, n_heads if x.dims[2] != 1 else 1) for x in read.values()]
    state, rows, _ = inlined(node, b, recurrence(rule), [state, q, k, v, *read])
    rows = regrouped_from(rows, 2, (n_heads * n_shared * width,), b)
    return transposed(rows, (1, 0, 2), b), state


def _by_token(node, b, x, n_heads):
    """[batch, length, heads * size] as [length, batch, heads, size]."""
    width = x.dims[2]
    node.require(width is not None, "the number of features must be known")
    return transposed(regrouped_from(x, 2, (n_heads, width // n_heads), b), (1, 0, 2, 3), b)


def no_state(b, q, sizes):
    """Zeros, [batch, *sizes]."""
    shape = b.PACK(extent(q, 1, b), *(np.int32(n) for n in sizes), axis=0, values_count=4)
    return b.FILL(shape, like(q, 0, b))
