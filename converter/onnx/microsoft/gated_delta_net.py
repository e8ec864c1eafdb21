"""com.microsoft: a gated delta network on packed tokens, LinearAttention with its gates."""

from __future__ import annotations

import numpy as np

from ...lowering import formulas
from ...lowering.moves import (
    as_type,
    extent,
    int32s,
    like,
    regrouped,
    regrouped_from,
    reshaped,
    slice_along,
    transposed,
    zeros_unless,
)
from ..control import inlined
from ..registry import lower
from .fused import DOMAIN
from .linear_attention import RULES, no_state, recurrence

GATES = {"softplus": "softplus", "qwen": "softplus", "sigmoid": "sigmoid", "kda": "sigmoid"}
"""gate_activation -> what decay goes through."""
SMALLEST = 1e-12
"""What is added to squares, so that vectors of zeros can be divided by their length."""


@lower(f"{DOMAIN}GatedDeltaNet")
def gated_delta_net(node, b):
    """LinearAttention of packed tokens, with what its gates go through and what each token adds.

    Requests are of one length, or each from its bound on; those lie beside one another, filled up
    by tokens that change nothing.
    """
    rule, state, bounds = node.attr("update_rule", "gated_delta"), node.input(6), node.input(3)
    node.require(rule in RULES, f"update_rule must be one of {tuple(RULES)}, got '{rule}'")
    q, k, v = _heads(node, b, state)
    dtype, is_batched = q.dtype, q.rank == 4
    q, k, v = (as_type(x, np.float32, b) for x in (q, k, v))
    node.require(
        is_batched or state is not None or bounds is not None,
        "tokens of requests of one length need initial_state, whose first axis counts them",
    )
    if node.attr("qk_l2_norm", 0):
        q, k = (_unit_length(b, x) for x in (q, k))
    read = _gates(node, b, rule, v)
    packing = Packing(node, b, v, state, bounds)
    q, k, v, *read = (packing.unpacked(b, x) for x in (q, k, v, *read))
    n_shared, size, n_heads, width = (n or 0 for x in (k, v) for n in x.dims[2:])
    node.require(
        n_shared * size * n_heads * width, "the numbers of heads and features must be known"
    )
    q = b.MUL(q, like(q, node.attr("scale", 0.0) or 1 / np.sqrt(size), b))
    shared = np.repeat(np.arange(n_shared), n_heads // n_shared).astype(np.int32)
    queries, keys = (x if n_heads == n_shared else b.GATHER(x, shared, axis=2) for x in (q, k))
    queries = b.EXPAND_DIMS(queries, np.int32(3))
    if state is None:
        state = no_state(b, q, (n_heads, size, width))
    else:
        state = transposed(state, (0, 1, 3, 2), b)
    state, rows, changes = inlined(node, b, recurrence(rule), [state, queries, keys, v, *read])
    rows = packing.packed(b, rows, (n_heads, width), is_batched)
    results = [as_type(rows, dtype, b), transposed(state, (0, 1, 3, 2), b)]
    if node.has_output(2):
        decay = b.EXP(read[0]) if "d" in RULES[rule] else None
        results.append(_transitions(node, b, packing, decay, k, changes))
    return tuple(results)


def _heads(node, b, state):
    """Queries, keys and values, [..., heads, size]; of one tensor, the state tells the sizes."""
    q, k, v = (node.input(i) for i in range(3))
    if k is not None:
        return q, k, v
    node.require(state is not None, "packed queries, keys and values need initial_state")
    n_heads, width, size = state.dims[1:]
    total, axis = q.dims[-1], q.rank - 1
    node.require(None not in (n_heads, width, size, total), "the number of features must be known")
    n_shared = (total - n_heads * width) // (2 * size)
    shapes = [(n_shared, size), (n_shared, size), (n_heads, width)]
    parts = b.SPLIT_V(q, int32s([n * m for n, m in shapes]), np.int32(axis), num_splits=3)
    return [regrouped_from(x, axis, shape, b) for x, shape in zip(parts, shapes, strict=True)]


def _unit_length(b, x):
    squares = b.SUM(b.MUL(x, x), int32s([x.rank - 1]), keep_dims=True)
    return b.MUL(x, b.RSQRT(b.ADD(squares, like(x, SMALLEST, b))))


def _gates(node, b, rule, v):
    """Those of decay and beta that the rule reads, [..., heads, 1 or size of keys]."""
    inputs = {"d": node.input(4), "b": node.input(5)}
    for name in RULES[rule]:
        node.require(inputs[name] is not None, f"update_rule '{rule}' needs decay or beta")
    gates = {name: as_type(inputs[name], np.float32, b) for name in RULES[rule]}
    activation = node.attr("gate_activation", "none")
    node.require(
        activation in ("none", *GATES),
        f"gate_activation must be one of {('none', *GATES)}, got '{activation}'",
    )
    if "d" in gates and activation != "none":
        gates["d"] = _activated(node, b, gates["d"], GATES[activation], v)
    if "b" in gates and node.attr("beta_activation", "none") == "sigmoid":
        gates["b"] = b.LOGISTIC(gates["b"])
    return [x if x.rank == v.rank else b.EXPAND_DIMS(x, np.int32(-1)) for x in gates.values()]


def _activated(node, b, decay, activation, v):
    """The logarithm of what remains of the state, from what a layer gave."""
    rate, bias = node.input(7), node.input(8)
    node.require(None not in (rate, bias), "gate_activation needs a_log and dt_bias")
    rate = b.EXP(rate)
    if decay.rank == v.rank:
        n_heads = v.dims[-2]
        rate, bias = (reshaped(x, (n_heads, -1), b) for x in (rate, bias))
    if activation == "softplus":
        return b.NEG(b.MUL(rate, formulas.softplus(b, b.ADD(decay, bias))))
    share = b.LOGISTIC(b.MUL(rate, b.ADD(decay, bias)))
    return b.MUL(share, like(share, node.attr("gate_lower_bound", -5.0), b))


class Packing:
    """Where the tokens of requests lie: [tokens, ...], or [batch, length, ...].

    Attributes:
        n_requests: how many requests there are, where they are of one length.
        n_tokens: how many tokens there are.
        starts: the first token of each request; None where all are of one length.
        ends: the token behind its last.
        tokens: [longest, batch], the token of each step of each request.
        is_real: whether there is one.
        lengths: of the requests.
    """

    def __init__(self, node, b, tokens, state, bounds):
        self.starts = None
        self.n_requests = extent(tokens if state is None else state, 0, b)
        self.n_tokens = extent(tokens, 0, b)
        if bounds is None:
            return
        node.require(tokens.rank == 3, "cu_seqlens needs tokens of three dimensions")
        self.starts = b.STRIDED_SLICE(bounds, int32s([0]), int32s([-1]), int32s([1]))
        self.ends = b.STRIDED_SLICE(bounds, int32s([1]), int32s([0]), int32s([1]), end_mask=1)
        self.lengths = b.SUB(self.ends, self.starts)
        longest = b.REDUCE_MAX(self.lengths, int32s([0]))
        steps = b.EXPAND_DIMS(b.RANGE(np.int32(0), longest, np.int32(1)), np.int32(1))
        self.is_real = b.LESS(steps, self.lengths)
        last = b.SUB(self.n_tokens, np.int32(1))
        self.tokens = b.MINIMUM(b.ADD(self.starts, steps), last)

    def unpacked(self, b, x):
        """[longest, batch, ...]; where a request has no token, zeros."""
        if self.starts is not None:
            return zeros_unless(self.is_real, b.GATHER(x, self.tokens), b)
        if x.rank == 3:
            n_heads, size = x.dims[1:]
            x = regrouped(x, (self.n_requests, -1, n_heads, size), b)
        return transposed(x, (1, 0, 2, 3), b)

    def packed(self, b, rows, sizes, is_batched):
        """Rows of these sizes, [longest, batch, ...], as tokens lie."""
        rows = regrouped_from(rows, 2, sizes, b)
        if self.starts is None:
            rows = transposed(rows, (1, 0, 2, 3), b)
            return rows if is_batched else reshaped(rows, (-1, *sizes), b)
        tokens = b.RANGE(np.int32(0), self.n_tokens, np.int32(1))
        is_behind = b.GREATER_EQUAL(b.EXPAND_DIMS(tokens, np.int32(1)), self.ends)
        request = b.SUM(as_type(is_behind, np.int32, b), int32s([1]))
        step = b.SUB(tokens, b.GATHER(self.starts, request))
        indices = b.ADD(b.MUL(step, extent(self.starts, 0, b)), request)
        return b.GATHER(reshaped(rows, (-1, *sizes), b), indices)


def _transitions(node, b, packing, decay, keys, changes):
    """What the first tokens did to the state: decays, keys and changes, each padded with zeros."""
    capacity, counts, active = node.attr("state_update_capacity", 0), node.input(9), node.input(10)
    node.require(capacity > 0, f"state_update needs a state_update_capacity, got {capacity}")
    node.require(counts is not None, "state_update needs capture_count")
    if packing.starts is not None:
        counts = b.MINIMUM(counts, packing.lengths)
    if decay is None:
        one = slice_along(changes, 4, 0, 1, b)
        decay = b.FILL(b.SHAPE(one, out_type="INT32"), like(one, 1, b))
    steps = np.arange(capacity, dtype=np.int32)
    is_captured = b.LESS(steps, b.EXPAND_DIMS(counts, np.int32(1)))
    parts = []
    for x in (decay, keys, changes):
        n = int(np.prod(x.dims[2:]))
        x = transposed(regrouped_from(x, 2, (n,), b), (1, 0, 2), b)
        x = slice_along(b.PAD(x, int32s([[0, 0], [0, capacity], [0, 0]])), 1, 0, capacity, b)
        parts.append(regrouped_from(zeros_unless(is_captured, x, b), 1, (capacity * n,), b))
    rows = b.CONCATENATION(*parts, axis=1)
    if active is None:
        return rows
    return b.SELECT_V2(b.NOT_EQUAL(active, np.int32(0)), rows, like(rows, 0, b))
