"""The rows of TensorFlow's ops: reference kernel and shape function, one row per op type.

A family module under ops/ registers its rows when it is imported:

    @op("BiasAdd", shape=same)
    def bias_add(x, bias, *, data_format):
        ...

The kernel takes the inputs as arrays and the attributes it names as keywords (`op` is the
operation itself) and returns one array, or a sequence with one for each output. Whatever dtype it
computes in, the caller rounds the results to the dtypes the op's signature declares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ...schema.custom_ops import is_custom_op
from ...schema.registry import Homes, Registry
from .. import ops
from ..ops.homes import HOMES
from .custom import run_custom_op
from .shapes import declared, unknown

if TYPE_CHECKING:
    from .protocols import Kernel, ShapeFunction, StaticFunction

    KernelT = TypeVar("KernelT", bound=Kernel | None)


@dataclass(frozen=True)
class Row:
    """What is known of one op type.

    `kernel` is None for ops that only have a shape. `moves_elements` marks ops whose results are
    elements of their inputs, so that they also work on values that are known in part. `static`
    gives the outputs' numbers where they follow from the inputs' shapes alone. `is_pure` says that
    the kernel's results depend on its inputs alone. `writes` are the positions of inputs that stand
    for variables, whose arrays the kernel changes in place; then what it returns is not looked at.
    """

    type: str
    kernel: Kernel | None
    shape: ShapeFunction
    attrs: tuple[str, ...] = ()
    moves_elements: bool = False
    static: StaticFunction | None = None
    is_pure: bool = True
    writes: tuple[int, ...] = ()


OPS: Registry[Row] = Registry("op", ops.__name__, Homes(HOMES))


def op(
    *types: str,
    shape: ShapeFunction = unknown,
    pure: bool = True,
    moves_elements: bool = False,
    static: StaticFunction | None = None,
    writes: tuple[int, ...] = (),
) -> Callable[[KernelT], KernelT]:
    """Registers the decorated kernel for op `types`, with these fields of their rows."""

    def register(kernel: KernelT) -> KernelT:
        for kind in types:
            add_row(kind, kernel, shape, pure, moves_elements, static, writes)
        return kernel

    return register


def add_row(
    kind: str,
    kernel: Kernel | None,
    shape: ShapeFunction,
    pure: bool = True,
    moves_elements: bool = False,
    static: StaticFunction | None = None,
    writes: tuple[int, ...] = (),
) -> None:
    """Registers one row; the kernel is None for an op that only has a shape."""
    is_pure = pure and kernel is not None
    keywords = _keywords(kernel)
    OPS.add(kind, Row(kind, kernel, shape, keywords, moves_elements, static, is_pure, writes))


def row_of(kind: str) -> Row | None:
    """The row of op type `kind`, also of a registered custom operator; None when there is none."""
    return OPS.get(kind) or _custom_row(kind)


def kernel_of(kind: str) -> Kernel | None:
    """The reference kernel of op type `kind`, or None when there is none."""
    row = row_of(kind)
    return row.kernel if row else None


def shape_of(kind: str) -> ShapeFunction:
    """The shape function of op type `kind`; one that knows nothing when there is none."""
    row = row_of(kind)
    return row.shape if row else unknown


def is_pure(kind: str) -> bool:
    """Whether the op may be computed ahead of time: it has a kernel, no state and no effects."""
    row = row_of(kind)
    return row is not None and row.is_pure


def _custom_row(kind: str) -> Row | None:
    if not is_custom_op(kind):
        return None
    return Row(kind, run_custom_op, declared, ("op",), is_pure=False)


def _keywords(kernel: Kernel | None) -> tuple[str, ...]:
    """The names of a kernel's keyword-only parameters."""
    code = getattr(kernel, "__code__", None)
    if code is None:
        return ()
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
