"""Python's operators on tensors and variables; functions/operators.py says what they build."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ....schema.errors import OperatorNotAllowedInGraphError
from ..hooks import implementation

if TYPE_CHECKING:
    from ..graph import Tensor
    from ..protocols import Index
    from ..typing import TensorLike


def _apply(name: str, *operands: Operands | TensorLike | Index) -> Tensor:
    return implementation("apply_operator")(name, *operands)


class Operands:
    """What arithmetic, comparisons and indexing can be written with."""

    __slots__ = ()
    __array_priority__ = 100

    def __add__(self, other: TensorLike) -> Tensor:
        return _apply("add", self, other)

    def __radd__(self, other: TensorLike) -> Tensor:
        return _apply("radd", self, other)

    def __sub__(self, other: TensorLike) -> Tensor:
        return _apply("sub", self, other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return _apply("rsub", self, other)

    def __mul__(self, other: TensorLike) -> Tensor:
        return _apply("mul", self, other)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return _apply("rmul", self, other)

    def __div__(self, other: TensorLike) -> Tensor:
        return _apply("div", self, other)

    def __rdiv__(self, other: TensorLike) -> Tensor:
        return _apply("rdiv", self, other)

    def __truediv__(self, other: TensorLike) -> Tensor:
        return _apply("truediv", self, other)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return _apply("rtruediv", self, other)

    def __floordiv__(self, other: TensorLike) -> Tensor:
        return _apply("floordiv", self, other)

    def __rfloordiv__(self, other: TensorLike) -> Tensor:
        return _apply("rfloordiv", self, other)

    def __mod__(self, other: TensorLike) -> Tensor:
        return _apply("mod", self, other)

    def __rmod__(self, other: TensorLike) -> Tensor:
        return _apply("rmod", self, other)

    def __pow__(self, other: TensorLike) -> Tensor:
        return _apply("pow", self, other)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return _apply("rpow", self, other)

    def __matmul__(self, other: TensorLike) -> Tensor:
        return _apply("matmul", self, other)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        return _apply("rmatmul", self, other)

    def __and__(self, other: TensorLike) -> Tensor:
        return _apply("and", self, other)

    def __rand__(self, other: TensorLike) -> Tensor:
        return _apply("rand", self, other)

    def __or__(self, other: TensorLike) -> Tensor:
        return _apply("or", self, other)

    def __ror__(self, other: TensorLike) -> Tensor:
        return _apply("ror", self, other)

    def __xor__(self, other: TensorLike) -> Tensor:
        return _apply("xor", self, other)

    def __rxor__(self, other: TensorLike) -> Tensor:
        return _apply("rxor", self, other)

    def __lt__(self, other: TensorLike) -> Tensor:
        return _apply("lt", self, other)

    def __le__(self, other: TensorLike) -> Tensor:
        return _apply("le", self, other)

    def __gt__(self, other: TensorLike) -> Tensor:
        return _apply("gt", self, other)

    def __ge__(self, other: TensorLike) -> Tensor:
        return _apply("ge", self, other)

    def __neg__(self) -> Tensor:
        return _apply("neg", self)

    def __abs__(self) -> Tensor:
        return _apply("abs", self)

    def __invert__(self) -> Tensor:
        return _apply("invert", self)

    def __getitem__(self, key: Index) -> Tensor:
        return _apply("getitem", self, key)

    def __iter__(self) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            "Iterating over a symbolic `tf.Tensor` is not allowed in Graph mode. Use "
            "tf.unstack for its slices."
        )
