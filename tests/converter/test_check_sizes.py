"""What an IR says of unknown sizes is compared with `prepare` before a file is written."""

import numpy as np
import pytest
from rewriting import graph_of

from flatlite.converter.ir.check_sizes import check_sizes
from flatlite.converter.ir.dims import add, multiply
from flatlite.converter.ir.graph import Elements, array_of
from flatlite.converter.passes import optimize
from flatlite.errors import ConverterError

TEXT = """graph main(x: float32[n,h,4]) {
  s = SHAPE(x; out_type=INT32)
  k = STRIDED_SLICE(s, int32[1]{0}, int32[1]{2}, int32[1]{1})
  p = REDUCE_PROD(k, int32[1]{0}; keep_dims=true)
  y = CONCATENATION(x, x; axis=1)
  z = RESHAPE(y, int32[2]{-1, 8})
  return z, p
}"""


def tensor(graph, name):
    return next(one for one in graph.tensors() if one.name == name)


def test_what_is_right_passes():
    check_sizes(graph_of(TEXT))


def more(size):
    return add(size, 1)


def scaled(size):
    return multiply(size, 3)


@pytest.mark.parametrize("change", [more, scaled, lambda size: 2])
@pytest.mark.parametrize(("name", "axis"), [("y", 0), ("y", 1), ("z", 0)])
def test_a_wrong_size(name, axis, change):
    graph = graph_of(TEXT)
    wrong = tensor(graph, name)
    sizes = list(wrong.sizes)
    sizes[axis] = change(sizes[axis])
    wrong.sizes = tuple(sizes)
    with pytest.raises(ConverterError, match=rf"'{name}': internal error, please report it: with "):
        check_sizes(graph)


def test_a_wrong_rank():
    graph = graph_of(TEXT)
    tensor(graph, "z").sizes += (1,)
    with pytest.raises(ConverterError, match="RESHAPE 'z': internal error"):
        check_sizes(graph)


def test_a_wrong_element():
    graph = graph_of(TEXT)
    product = tensor(graph, "p")
    extents = array_of([more(product.elements.extents.item())], (1,))
    product.elements = Elements(product.elements.reference, extents)
    with pytest.raises(ConverterError, match="REDUCE_PROD 'p': internal error"):
        check_sizes(graph)


def test_sizes_that_an_operator_refuses_say_nothing():
    """(n, h) and (h, n) of unequal numbers cannot be added; where they can, the sum is of n."""
    graph = graph_of(
        """graph main(x: float32[n,h], y: float32[n,h]) {
             a = TRANSPOSE(y, int32[2]{1, 0})
             b = ADD(x, a)
             return b
           }"""
    )
    assert {size.__class__.__name__ for size in graph.outputs[0].sizes} == {"Dim"}
    check_sizes(graph)


def test_called_graphs_are_looked_at():
    graph = graph_of(
        """graph main(x: float32[n,4], flag: bool[]) {
             y: float32[n,4] = IF(flag, x; calls=[then, otherwise])
             return y
           }
           graph then(x: float32[n,4]) {
             a = ABS(x)
             return a
           }
           graph otherwise(x: float32[n,4]) {
             b = NEG(x)
             return b
           }"""
    )
    check_sizes(graph)
    inner = graph.ops[0].graphs[1].outputs[0]
    inner.sizes = (more(inner.sizes[0]), 4)
    with pytest.raises(ConverterError, match="NEG 'b': internal error"):
        check_sizes(graph)


OPAQUE = """graph main(x: float32[n], y: float32[h], flag: bool[]) {
  s = SHAPE(x; out_type=INT64)
  t = SHAPE(y; out_type=INT64)
  d = SUB(s, t)
  q = DIV(d, int64[1]{2})
  k = MAXIMUM(q, int64[1]{1})
  z = FILL(k, float32[]{1.5})
  c: float32[?] = IF(flag, z; calls=[then, otherwise])
  e = EXPAND_DIMS(q, int32[]{0})
  return c, e
}
graph then(a: float32[?]) {
  p = ABS(a)
  return p
}
graph otherwise(b: float32[?]) {
  r = NEG(b)
  return r
}"""
"""A quotient towards 0 of what may be negative, as a size that a call passes on."""


def opaque_graph():
    graph = graph_of(OPAQUE)
    z, c = (tensor(graph, name) for name in "zc")
    c.sizes = z.sizes
    for callee in c.producer.graphs:
        callee.inputs[0].sizes = callee.outputs[0].sizes = z.sizes
    return graph


def test_a_number_keeps_its_names_when_its_operator_is_replaced():
    """LiteRT has no DIV of int64: what is written for it gives what others call by the old name."""
    graph = opaque_graph()
    optimize(graph)
    assert not [op for op in graph.ops if op.kind == "DIV" and op.output.dtype == np.int64]
    check_sizes(graph)
    e = tensor(graph, "e")
    e.elements = Elements(e.elements.reference, array_of([more(e.elements.extents.item())], (1, 1)))
    with pytest.raises(ConverterError, match="EXPAND_DIMS 'e': internal error"):
        check_sizes(graph)


def test_a_guess_that_an_operator_contradicts_is_no_difference():
    """What a graph is called with has a size that the graph computes itself only later."""
    graph = graph_of(
        """graph main(a: float32[?], x: float32[n], y: float32[h]) {
             s = SHAPE(x; out_type=INT32)
             t = SHAPE(y; out_type=INT32)
             d = SUB(s, t)
             q = DIV(d, int32[1]{2})
             k = MAXIMUM(q, int32[1]{1})
             z = FILL(k, float32[]{1.5})
             return z, a
           }"""
    )
    graph.inputs[0].sizes = graph.outputs[0].sizes
    check_sizes(graph)


def test_static_graphs_are_not_run_again():
    graph = graph_of("graph main(x: float32[2,4]) {\n  y = ABS(x)\n  return y\n}")
    graph.outputs[0].dtype = np.dtype(np.int32)
    check_sizes(graph)
