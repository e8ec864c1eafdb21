"""What an IR says of unknown sizes is compared with `prepare` before a file is written."""

import numpy as np
import pytest
from rewriting import graph_of

from flatlite.converter.ir.check_sizes import check_sizes
from flatlite.converter.ir.dims import add, multiply
from flatlite.converter.ir.elements import array_of
from flatlite.converter.ir.graph import Elements
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


def test_static_graphs_are_not_run_again():
    graph = graph_of("graph main(x: float32[2,4]) {\n  y = ABS(x)\n  return y\n}")
    graph.outputs[0].dtype = np.dtype(np.int32)
    check_sizes(graph)
