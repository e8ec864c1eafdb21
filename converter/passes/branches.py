"""Results of branches: equal ones, and such that nobody reads."""

from __future__ import annotations

from ..ir.builder import Builder
from ..ir.graph import Graph, Op
from .driver import rewrite
from .fold import remove_dead_code
from .loop_values import copied
from .rewrite import builder, replace_results, shares_graphs


@rewrite("IF")
def trim_branches(graph: Graph, op: Op) -> bool:
    """Drops results of branches that nobody reads, or that equal another one in either branch.

        IF(c, x: then a, b, a; else d, e, d) -> p, q, r      becomes      IF(...) -> p, q;  r is p

    What neither branch reads is no longer passed to them. Holds off where another operator calls
    the same graphs, and where no result would be left.
    """
    if shares_graphs(graph, op):
        return False
    first: dict[tuple[int, ...], int] = {}
    for j, result in enumerate(op.outputs):
        i = first.setdefault(tuple(id(branch.outputs[j]) for branch in op.graphs), j)
        if i != j:
            graph.replace(result, op.outputs[i])
    read = [j for j, x in enumerate(op.outputs) if x.readers or graph.is_output(x)]
    for branch in op.graphs if read else ():
        branch.outputs = [branch.outputs[j] for j in read]
        branch.output_names = None
        remove_dead_code(branch)
    passed = [k for k in range(len(op.graphs[0].inputs)) if _is_passed(op, k)]
    if not read or (len(read), len(passed) + 1) == (len(op.outputs), len(op.inputs)):
        return False
    for branch in op.graphs:
        branch.inputs = [branch.inputs[k] for k in passed]
    inputs = [op.inputs[0], *(op.inputs[k + 1] for k in passed)]
    replace_results(graph, op, read, builder(graph, op).IF(*inputs, graphs=op.graphs))
    return True


@rewrite("IF")
def copy_results(graph: Graph, op: Op) -> bool:
    """Copies what a branch computes and gives more than once, and strings that are constants.

        IF(c, x: then a, a; else d, e)      becomes      IF(c, x: then a, SLICE(a); else d, e)

    LiteRT has such a tensor computed in the memory of the last of the results alone, and constant
    strings come out as those of the run before, or end its process.
    """
    count = 0
    for branch in op.graphs:
        for j, tensor in enumerate(branch.outputs):
            is_repeated = any(tensor is other for other in branch.outputs[:j])
            is_text = tensor.is_constant and tensor.dtype.hasobject
            if is_text or (is_repeated and tensor.producer is not None and tensor.rank is not None):
                copy = copied(Builder(branch), tensor)
                branch.outputs = [*branch.outputs[:j], copy, *branch.outputs[j + 1 :]]
                count += 1
    return count > 0


def _is_passed(op: Op, k: int) -> bool:
    """Whether a branch reads or gives argument `k`."""
    arguments = [(branch, branch.inputs[k]) for branch in op.graphs]
    return any(x.readers or branch.is_output(x) for branch, x in arguments)
