"""Ensembles of decision trees: every tree of every row goes one node down at a time.

Nodes are rows of tables: the feature that is looked at, its threshold, and the two nodes below; a
leaf is below itself. As many steps as the highest tree has levels bring all to their leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from ...lowering.moves import dimension, int32s, like
from ..control import run_loop
from ..registry import lower
from .scores import best_label, labels_of, matrix, transformed

DOMAIN = "ai.onnx.ml."
MAX_UNROLLED = 8
"""Levels that are written one after another; higher trees are a WHILE."""
MAX_DEPTH = 4096
"""Levels of the highest tree."""
COMPARISONS = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
MEMBER = 6
"""The mode of TreeEnsemble of nodes that look for a value in a set."""


@dataclass
class Forest:
    """Trees as tables with a row for each node.

    Attributes:
        features: the column that is looked at.
        highest: the largest value that goes to the second node below.
        above: what a value must be above to go there, NaN for no such limit.
        below: the two nodes below.
        missing: whether NaN goes to the second one.
        roots: of each tree.
    """

    features: np.ndarray
    highest: np.ndarray
    above: np.ndarray
    below: np.ndarray
    missing: np.ndarray
    roots: np.ndarray

    @classmethod
    def empty(cls, n: int) -> Forest:
        """Leaves only."""
        nodes = np.arange(n, dtype=np.int32)
        return cls(
            np.zeros(n, np.int32),
            np.zeros(n, np.float32),
            np.full(n, np.nan, np.float32),
            np.stack([nodes, nodes], 1),
            np.zeros(n, bool),
            np.zeros(0, np.int32),
        )

    def branch(self, i, mode, feature, value, on_true, on_false, missing_is_true):
        """Makes node `i` a branch: every comparison as x <= highest, maybe with its nodes swapped.

        NaN is less than nothing, so that it goes where a comparison with it does.
        """
        value = np.float32(value)
        before = np.nextafter(value, np.float32(-inf))
        self.features[i] = feature
        self.highest[i] = value if mode in ("BRANCH_LEQ", "BRANCH_GT", *COMPARISONS[4:]) else before
        if mode in COMPARISONS[4:]:
            self.above[i] = before
        is_swapped = mode in ("BRANCH_GTE", "BRANCH_GT", "BRANCH_NEQ")
        self.below[i] = (on_true, on_false) if is_swapped else (on_false, on_true)
        missing_goes_true = missing_is_true or mode == "BRANCH_NEQ"
        self.missing[i] = missing_goes_true != is_swapped

    def depth(self) -> int | None:
        """How many steps bring every row to a leaf; None where nodes lie below themselves."""
        nodes = np.arange(len(self.features), dtype=np.int32)
        for steps in range(MAX_DEPTH):
            branches = nodes[(self.below[nodes] != nodes[:, None]).any(1)]
            if not len(branches):
                return steps
            nodes = np.unique(self.below[branches])
        return None


def leaves(node, b, x, forest):
    """The leaf of each tree for each row of `x`."""
    depth = forest.depth()
    node.require(
        depth is not None, f"nodes must not lie below themselves, or deeper than {MAX_DEPTH}"
    )
    n_features = x.dims[1]
    node.require(n_features is not None, "the number of features must be known")
    rows = dimension(x, 0, b)
    starts = b.MUL(b.RANGE(np.int32(0), rows, np.int32(1)), np.int32(n_features))
    starts = b.EXPAND_DIMS(starts, np.int32(1))
    positions = b.ADD(b.MUL(starts, np.int32(0)), b.constant(forest.roots[None]))
    flat = b.RESHAPE(x, int32s([-1]))
    if depth <= MAX_UNROLLED:
        for _ in range(depth):
            positions = _down(b, forest, flat, starts, positions)
        return positions

    def check(inner, values):
        return inner.LESS(values[0], np.int32(depth))

    def step(_, inner, values):
        index, cells, firsts, nodes = values
        return [
            inner.ADD(index, np.int32(1)), cells, firsts,
            _down(inner, forest, cells, firsts, nodes),
        ]  # fmt: skip

    values = [b.constant(np.int32(0)), flat, starts, positions]
    return run_loop(node, b, values, [], check, step)[3]


def _down(b, forest, flat, starts, positions):
    """The next nodes of all rows, by what these have in the columns that their nodes look at."""
    value = b.GATHER(flat, b.ADD(starts, b.GATHER(b.constant(forest.features), positions)))
    takes_second = b.LESS_EQUAL(value, b.GATHER(b.constant(forest.highest), positions))
    if not np.isnan(forest.above).all():
        too_low = b.LESS_EQUAL(value, b.GATHER(b.constant(forest.above), positions))
        takes_second = b.LOGICAL_AND(takes_second, b.LOGICAL_NOT(too_low))
    if forest.missing.any():
        is_missing = b.NOT_EQUAL(value, value)
        takes_second = b.SELECT_V2(
            is_missing, b.GATHER(b.constant(forest.missing), positions), takes_second
        )
    child = b.ADD(b.MUL(positions, np.int32(2)), b.CAST(takes_second, dtype=np.int32))
    return b.GATHER(b.constant(forest.below.ravel()), child)


def _numbers(node, name, default=None) -> Any:
    """A list of an attribute, or of its form as a tensor."""
    from onnx.numpy_helper import to_array

    tensor = node.attr(f"{name}_as_tensor", None)
    if tensor is not None:
        return to_array(tensor).tolist()
    values = node.attr(name, default)
    return default if values is None else list(values)


def forest_of(node):
    """(the trees, (tree, node) -> row) of the older operators."""
    trees, nodes = node.attr("nodes_treeids"), node.attr("nodes_nodeids")
    rows = {key: i for i, key in enumerate(zip(trees, nodes, strict=True))}
    node.require(len(rows) == len(trees), "the nodes of a tree must have different ids")
    forest, n = Forest.empty(len(rows)), len(rows)
    values, modes = _numbers(node, "nodes_values"), node.attr("nodes_modes")
    missing = node.attr("nodes_missing_value_tracks_true", None) or [0] * n
    below = set()
    for i, mode in enumerate(modes):
        mode = mode.decode() if isinstance(mode, bytes) else mode
        if mode == "LEAF":
            continue
        node.require(mode in COMPARISONS, f"nodes_modes must be LEAF or {COMPARISONS}, got {mode}")
        targets = [(trees[i], node.attr(f"nodes_{w}nodeids")[i]) for w in ("true", "false")]
        node.require(all(t in rows for t in targets), f"node {nodes[i]} leads to no node")
        on_true, on_false = (rows[t] for t in targets)
        below |= {on_true, on_false}
        feature = node.attr("nodes_featureids")[i]
        forest.branch(i, mode, feature, values[i], on_true, on_false, bool(missing[i]))
    forest.roots = np.asarray([i for i in range(n) if i not in below], np.int32)
    node.require(
        len(forest.roots) == len(set(trees)),
        "each tree must have one root; nodes must not lie below themselves",
    )
    return forest, rows


def _leaf_weights(node, rows, prefix, n_targets):
    """What each node, if it is a leaf, adds to each target."""
    table = np.zeros((len(rows), n_targets), np.float32)
    has = np.zeros((len(rows), n_targets), bool)
    columns = [node.attr(f"{prefix}_{name}") for name in ("treeids", "nodeids", "ids")]
    for tree, leaf, target, weight in zip(
        *columns, _numbers(node, f"{prefix}_weights"), strict=True
    ):
        node.require(0 <= target < n_targets, f"targets must be in [0, {n_targets}), got {target}")
        node.require((tree, leaf) in rows, f"leaf {leaf} of tree {tree} is no node")
        table[rows[tree, leaf], target] += weight
        has[rows[tree, leaf], target] = True
    return table, has


AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def aggregated(node, b, positions, weights, has, n_trees, name):
    """The targets of all trees as one."""
    name = AGGREGATES[name] if isinstance(name, int) else name
    node.require(name in AGGREGATES, f"aggregate must be one of {AGGREGATES}, got '{name}'")
    axis = int32s([1])
    if name in ("MIN", "MAX"):
        limit = np.finfo(np.float32).max if name == "MIN" else np.finfo(np.float32).min
        weights = np.where(has, weights, limit).astype(np.float32)
        leaf_weights = b.GATHER(b.constant(weights), positions)
        return (
            b.REDUCE_MIN(leaf_weights, axis) if name == "MIN" else b.REDUCE_MAX(leaf_weights, axis)
        )
    total = b.SUM(b.GATHER(b.constant(weights), positions), axis)
    return b.MUL(total, like(total, 1 / n_trees, b)) if name == "AVERAGE" else total


@lower(f"{DOMAIN}TreeEnsembleRegressor")
def tree_ensemble_regressor(node, b):
    """The leaves' weights of all trees, for each target."""
    x, n = matrix(b, node.inputs[0]), node.attr("n_targets", 1)
    forest, rows = forest_of(node)
    weights, has = _leaf_weights(node, rows, "target", n)
    positions, name = leaves(node, b, x, forest), node.attr("aggregate_function", "SUM")
    out = aggregated(node, b, positions, weights, has, len(forest.roots), name)
    base = _numbers(node, "base_values")
    out = b.ADD(out, b.constant(np.asarray(base, np.float32))) if base else out
    return transformed(node, b, out)


@lower(f"{DOMAIN}TreeEnsembleClassifier")
def tree_ensemble_classifier(node, b):
    """The best class, and the scores of all."""
    x, labels = matrix(b, node.inputs[0]), labels_of(node)
    forest, rows = forest_of(node)
    ids, n = node.attr("class_ids"), len(labels)
    weights, _ = _leaf_weights(node, rows, "class", max(n, max(ids) + 1))
    is_binary = len(set(ids)) == 1 and n <= 2
    if is_binary:
        weights = weights[:, [ids[0]]]
    scores = b.SUM(b.GATHER(b.constant(weights), leaves(node, b, x, forest)), int32s([1]))
    base = _numbers(node, "base_values")
    if base:
        base = base[-1:] if is_binary else base
        scores = b.ADD(scores, b.constant(np.asarray(base, np.float32)))
    if is_binary:
        kind = node.attr("post_transform", "NONE")
        others = b.NEG(scores) if kind not in ("NONE", "PROBIT") else (
            b.SUB(like(scores, 1, b), scores)
        )  # fmt: skip
        scores = b.CONCATENATION(others, scores, axis=1)
    scores = transformed(node, b, scores)
    if len(labels) == 1:
        labels = np.asarray([0, labels[0]])
    return best_label(b, scores, labels), scores


@lower(f"{DOMAIN}TreeEnsemble")
def tree_ensemble(node, b):
    """The newest form: branches and leaves in tables of their own."""
    from onnx.numpy_helper import to_array

    x = matrix(b, node.inputs[0])
    splits, modes = to_array(node.attr("nodes_splits")), to_array(node.attr("nodes_modes"))
    weights, n = to_array(node.attr("leaf_weights")), node.attr("n_targets", 1)
    sets = node.attr("membership_values", None)
    sets = iter([] if sets is None else _sets(to_array(sets)))
    targets = [next(sets) if mode == MEMBER else [split] for mode, split in
               zip(modes.tolist(), splits.tolist(), strict=True)]  # fmt: skip
    first = np.cumsum([0, *map(len, targets)])
    n_branches, n_leaves = int(first[-1]), len(weights)
    forest = Forest.empty(n_branches + n_leaves)
    missing = node.attr("nodes_missing_value_tracks_true", None) or [0] * len(modes)

    def row(side, i):
        is_leaf = node.attr(f"nodes_{side}leafs")[i]
        below = node.attr(f"nodes_{side}nodeids")[i]
        return n_branches + below if is_leaf else int(first[below])

    for i, mode in enumerate(modes.tolist()):
        on_true, on_false = row("true", i), row("false", i)
        for k, value in enumerate(targets[i]):
            node_index = int(first[i]) + k
            is_last = k == len(targets[i]) - 1
            forest.branch(
                node_index, "BRANCH_EQ" if mode == MEMBER else COMPARISONS[mode],
                node.attr("nodes_featureids")[i], value,
                on_true, on_false if is_last else node_index + 1, bool(missing[i]),
            )  # fmt: skip
    forest.roots = np.asarray([first[i] for i in node.attr("tree_roots")], np.int32)
    table = np.zeros((n_branches + n_leaves, n), np.float32)
    ids = node.attr("leaf_targetids")
    table[n_branches + np.arange(n_leaves), ids] = weights
    positions = leaves(node, b, x, forest)
    name = node.attr("aggregate_function", 1)
    has = np.zeros(table.shape, bool)
    has[n_branches + np.arange(n_leaves), ids] = True
    out = aggregated(node, b, positions, table, has, len(forest.roots), name)
    return transformed(node, b, out)


def _sets(values):
    """The sets of values, each of which ends with NaN."""
    members: list[float] = []
    for value in values.tolist():
        if value != value:
            yield members
            members = []
        else:
            members.append(value)
