"""Operations that one instruction does together: a product, its bias and its activation.

    Conv2D or MatMul -> BiasAdd or Add -> Relu or Relu6       becomes       one instruction

Holds off when something else reads, fetches or feeds what lies between.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING

from ...engine.families import gemm, gradients
from ...engine.families.products import NO_CLAMP
from ...engine.plan.buffer import Buffer
from ..core.graph import Operation, Tensor
from .elementwise import CLAMPS
from .products import FLOATS, sliding_of
from .shapes import result

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..session.stage import Site

PRODUCTS = ("Conv2D", "MatMul")
BIASES = ("BiasAdd", "Add", "AddV2")


def find(
    order: Iterable[Operation], is_open: Container[Tensor]
) -> dict[Operation, list[Operation]]:
    """The chains among operations by their last one; `is_open` are tensors others ask for."""
    order = list(order)
    inside = set(order)
    chains: dict[Operation, list[Operation]] = {}
    for op in order:
        if op.type not in PRODUCTS or any(x.dtype not in FLOATS for x in op.inputs):
            continue
        chain = [op]
        for fits in (_is_bias, _is_activation):
            following = _only_reader(chain[-1].outputs[0], inside, is_open)
            if following is None or not fits(following, chain[-1].outputs[0]):
                break
            chain.append(following)
        if len(chain) > 1:
            chains[chain[-1]] = chain
    return chains


def _only_reader(
    tensor: Tensor, inside: Container[Operation], is_open: Container[Tensor]
) -> Operation | None:
    readers = [op for op in tensor.consumers() if op in inside]
    return readers[0] if len(readers) == 1 and tensor not in is_open else None


def _is_bias(op: Operation, product: Tensor) -> bool:
    """Whether `op` adds a number to each column of `product`."""
    if op.type not in BIASES or (op.type == "BiasAdd" and op.get_attr("data_format") != b"NHWC"):
        return False
    other = op.inputs[1 if op.inputs[0] is product else 0]
    last = product.sizes[-1] if product.sizes else None
    return op.inputs[0] is not op.inputs[1] and last is not None and other.sizes == (last,)


def _is_activation(op: Operation, biased: Tensor) -> bool:
    return op.type in CLAMPS


def emit(
    program: Program, chain: list[Operation], site: Site, value: Callable[[Tensor], Buffer]
) -> Buffer | None:
    """The result of a chain; None when its operations have to be done one by one.

    `site` is that of the product, `value` gives the buffer of a tensor.
    """
    head, second = chain[:2]
    a, b = (value(tensor) for tensor in head.inputs)
    bias = value(second.inputs[1 if second.inputs[0] is head.outputs[0] else 0])
    clamp = CLAMPS[chain[2].type] if len(chain) > 2 else NO_CLAMP
    out = result(site)
    if out is None or bias.shape != out.shape[-1:] or not out.size:
        return None
    if head.type == "MatMul":
        gemm.matmul(
            program, a, b, bias, out, clamp=clamp,
            transpose_a=site.get_attr("transpose_a"), transpose_b=site.get_attr("transpose_b"),
        )  # fmt: skip
        return out
    sliding = sliding_of(site, b.shape[:2], a.shape)
    if sliding is None or b.shape[2] != a.shape[3]:
        return None
    gradients.convolve(program, a, b, out, sliding, bias=bias, clamp=clamp)
    return out
