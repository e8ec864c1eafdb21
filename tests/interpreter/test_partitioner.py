"""The partitioner on graphs made to trap it, and on random ones against every possible cut."""

import itertools
import random

import numpy as np
import pytest

from flatlite.engine.plan.buffer import arena
from flatlite.interpreter.delegation.partitioner import partition_graph
from flatlite.interpreter.plan.node import Node, Operand, TensorDeclaration


def graph(text: str) -> list[Node]:
    """Operators from 'B: a c' lines, each after those whose results it reads.

    Capitals are claimed; '=' in front of a name is a view of its input, '!' has state.
    """
    tensors, ops = {}, []
    for line in text.strip().splitlines():
        name, _, inputs = line.strip().partition(":")
        op = Node(
            "OP", [tensors[i] for i in inputs.split()], [TensorDeclaration(name)], index=len(ops)
        )
        source = op.inputs[0] if name[0] == "=" else arena((1,), np.float32)
        op.stateful = name[0] == "!"
        op.results = [Operand.of(source, name)]
        tensors[name.lstrip("=!")] = op.results[0]
        ops.append(op)
    return ops


def groups(text: str, minimum: int = 1) -> list[str]:
    """The groups as words, their members joined."""
    ops = graph(text)
    claimed = [op for op in ops if op.name.lstrip("=!").isupper()]
    return [
        "".join(op.name.lstrip("=!") for op in g) for g in partition_graph(ops, claimed, minimum)
    ]


TRAPS = {
    "nothing": ("a:\nb: a", []),
    "everything": ("A:\nB: A\nC: B", ["ABC"]),
    "middle declined": ("A:\nb: A\nC: b", ["A", "C"]),
    "diamond round a declined operator": ("A:\nb: A\nC: A b", ["A", "C"]),
    "diamond of claimed operators": ("A:\nB: A\nC: A\nD: B C", ["ABCD"]),
    "diamond whose half is declined": ("A:\nB: A\nc: A\nD: B c", ["AB", "D"]),
    "shared output": ("A:\nb: A\nC: A\nD: A", ["ACD"]),
    "two ways round, of unequal length": ("A:\nb: A\nc: b\nD: c\nE: A\nF: D E", ["AE", "DF"]),
    "two inputs, one late": ("a:\nB: a\nc: B\nD:\nE: c D", ["BD", "E"]),
    "crossing chains": ("A:\nB:\nc: A\nd: B\nE: d\nF: c\ng: E\nH: g F", ["AB", "EF", "H"]),
    "far apart, one part": ("A:\nb:\nc: b\nD: c", ["AD"]),
    "declined ends": ("a:\nB: a\nC: B\nd: C", ["BC"]),
    "alone views": ("a:\n=B: a\nc: B", []),
    "views in a part": ("A:\n=B: A\nC: B", ["ABC"]),
    "state keeps its order": ("!a:\nB: a\n!c: B\nD:\n!e: D", ["BD"]),
    "state in the way": ("A:\n!b: A\n!c:\nD: c\nE: A D", ["A", "DE"]),
}


@pytest.mark.parametrize("name", TRAPS)
def test_traps(name):
    text, want = TRAPS[name]
    assert groups(text) == want


@pytest.mark.parametrize(
    ("text", "minimum", "want"),
    [
        ("A:\nb: A\nC: b\nD: C", 2, ["CD"]),  # too small, given up
        ("A:\nb:\nC: b\nd: C\nE: d A\nF: E", 2, ["AC", "EF"]),
        ("A:\nb:\nC: b\nd: C\nE: d A\nF: E", 3, ["AEF"]),  # A can wait for E, C cannot
        ("A:\nb:\nC: b\nD: C", 3, ["ACD"]),
        ("A:\nb: A\nC: b", 2, []),
        ("A:\n=B: A\nc: B\nD: c\nE: D", 2, ["DE"]),  # a view does not count
        ("A:\nb: A\nC: b\nd: C\nE: d\nF: E", 2, ["EF"]),
        ("A:\nB:\nc: A\nD: c\nE: D B", 3, ["BDE"]),  # without A, B is as late as D
    ],
)
def test_minimum_size(text, minimum, want):
    assert groups(text, minimum) == want


def waits_for_itself(ops, parts) -> bool:
    """Whether a part needs, over any way, what only it gives."""
    step_of = {id(op): i for i, part in enumerate(parts) for op in part}
    for i, op in enumerate(ops, len(parts)):
        step_of.setdefault(id(op), i)
    maker = {id(op.results[0]): op for op in ops}
    waits = {}
    for op in ops:
        needs = {step_of[id(maker[id(x)])] for x in op.inputs}
        waits.setdefault(step_of[id(op)], set()).update(needs - {step_of[id(op)]})
    done = set()
    while True:
        ready = {step for step, needs in waits.items() if step not in done and needs <= done}
        if not ready:
            return len(done) < len(waits)
        done |= ready


def fewest(ops, claimed) -> int:
    """The smallest number of parts without a circle, found by trying all."""
    for count in range(1, len(claimed) + 1):
        for choice in itertools.product(range(count), repeat=len(claimed)):
            parts = [
                [op for op, k in zip(claimed, choice, strict=True) if k == i] for i in range(count)
            ]
            if all(parts) and not waits_for_itself(ops, parts):
                return count
    return 0


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_have_the_fewest_parts(seed):
    chance = random.Random(seed)
    names = [chance.choice("xX") + str(i) for i in range(chance.randint(3, 8))]
    lines = [
        f"{name}: {' '.join(chance.sample(names[:i], chance.randint(0, min(i, 2))))}"
        for i, name in enumerate(names)
    ]
    ops = graph("\n".join(lines))
    claimed = [op for op in ops if op.name.startswith("X")][:6]
    parts = partition_graph(ops, claimed)
    assert sorted(op.index for part in parts for op in part) == [op.index for op in claimed]
    assert not waits_for_itself(ops, parts)
    assert len(parts) == fewest(ops, claimed)
    for minimum in (2, 3):
        large = partition_graph(ops, claimed, minimum)
        assert not waits_for_itself(ops, large)
        assert all(len(part) >= minimum for part in large)
