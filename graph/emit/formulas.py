"""Ops on elements that are several instructions, which the plan fuses: one pass through memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.elementwise import broadcast_shape, elementwise
from ...engine.plan.buffer import Buffer, arena, constant
from ..ops.activation import SELU_NEGATIVE, SELU_SCALE
from .elementwise import no_limits
from .registry import emit

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

_FLOAT: npt.DTypeLike = np.float32


class _Term:
    """A float32 value, or truth values, of a formula: what is computed with it are instructions."""

    def __init__(self, program: Program, buffer: Buffer):
        self.program, self.buffer = program, buffer

    def _term(self, other: _Term | float) -> _Term:
        if isinstance(other, _Term):
            return other
        return _Term(self.program, constant(np.array(other, np.float32)))

    def _binary(self, kernel: str, *terms: _Term | float, dtype: npt.DTypeLike = _FLOAT) -> _Term:
        buffers = [self._term(term).buffer for term in terms]
        shape = broadcast_shape(*(buffer.shape for buffer in buffers))
        assert shape is not None  # shape inference has seen to it
        out = arena(shape, dtype)
        takes_limits = kernel.startswith("arithmetic.")
        ends = [no_limits(np.dtype(np.float32))] if takes_limits else []
        elementwise(self.program, kernel, buffers, out, *ends)
        return _Term(self.program, out)

    def unary(self, kernel: str) -> _Term:
        """A function of it, by the name of its kernel."""
        out = arena(self.buffer.shape, self.buffer.dtype)
        n = out.size
        if n:
            self.program.call(f"unary.{kernel}", self.buffer.ravel(), out.ravel(), split=n)
        return _Term(self.program, out)

    def __add__(self, other: _Term | float) -> _Term:
        return self._binary("arithmetic.add", self, other)

    def __sub__(self, other: _Term | float) -> _Term:
        return self._binary("arithmetic.subtract", self, other)

    def __mul__(self, other: _Term | float) -> _Term:
        return self._binary("arithmetic.multiply", self, other)

    def __truediv__(self, other: _Term | float) -> _Term:
        return self._binary("arithmetic.divide", self, other)

    def __neg__(self) -> _Term:
        return self.unary("negative")

    def __abs__(self) -> _Term:
        return self.unary("absolute")

    def inverse(self) -> _Term:
        """1 / it."""
        return self._term(1.0) / self

    def less(self, other: _Term | float) -> _Term:
        """Whether it is less."""
        return self._binary("compare.less", self, other, dtype=np.bool_)

    def equal(self, other: _Term | float) -> _Term:
        """Whether it is equal."""
        return self._binary("compare.equal", self, other, dtype=np.bool_)

    def differs(self, other: _Term | float) -> _Term:
        """Whether it is not equal."""
        return self._binary("compare.not_equal", self, other, dtype=np.bool_)

    def choose(self, x: _Term | float, y: _Term | float) -> _Term:
        """`x` where it holds, else `y`."""
        return self._binary("compare.select", self, x, y)


def _log1p(x: _Term) -> _Term:
    """log(1 + x): what rounding 1 + x takes away is made good by x / ((1 + x) - 1)."""
    sum_ = x + 1.0
    rounded = sum_ - 1.0
    factor = abs(rounded).less(math.inf).choose(x / rounded, 1.0)
    return rounded.equal(0.0).choose(x, sum_.unary("log") * factor)


def _expm1(x: _Term) -> _Term:
    """exp(x) - 1, from that of -|x|, which the ELU has."""
    below = (-abs(x)).unary("elu")
    return x.less(0.0).choose(below, -below * x.unary("exp"))


def _where_not_zero(x: _Term, value: _Term) -> _Term:
    return x.equal(0.0).choose(0.0, value)


OF_ONE: dict[str, Callable[[_Term], _Term]] = {
    "Expm1": _expm1,
    "Inv": lambda x: x.inverse(),
    "IsFinite": lambda x: abs(x).less(math.inf),
    "IsInf": lambda x: abs(x).equal(math.inf),
    "IsNan": lambda x: x.differs(x),
    "Log1p": _log1p,
    "Reciprocal": lambda x: x.inverse(),
    "Selu": lambda x: x.unary("elu") * x.less(0.0).choose(SELU_NEGATIVE, SELU_SCALE),
    "Softsign": lambda x: x / (abs(x) + 1.0),
    "Softplus": lambda x: x.less(0.0).choose(0.0, x) + _log1p((-abs(x)).unary("exp")),
}
OF_TWO: dict[str, Callable[[_Term, _Term], _Term]] = {
    "InvGrad": lambda y, dy: -dy * y * y,
    "ReciprocalGrad": lambda y, dy: -dy * y * y,
    "SeluGrad": lambda dy, y: dy * y.less(0.0).choose(y + SELU_NEGATIVE, SELU_SCALE),
    "SoftplusGrad": lambda dy, x: dy * x.unary("logistic"),
    "SoftsignGrad": lambda dy, x: dy / (abs(x) + 1.0).unary("square"),
    "Xdivy": lambda x, y: _where_not_zero(x, x / y),
    "Xlogy": lambda x, y: _where_not_zero(x, x * y.unary("log")),
}
"""Op types of float32, of one or two operands -> what they compute."""


@emit(*OF_ONE, dtypes=(np.float32,))
def of_one(program: Program, op: Site, x: Buffer) -> Emitted:
    """The instructions of a formula of one operand."""
    return OF_ONE[op.type](_Term(program, x)).buffer


@emit(*OF_TWO, dtypes=(np.float32,))
def of_two(program: Program, op: Site, x: Buffer, y: Buffer) -> Emitted:
    """The instructions of a formula of two operands."""
    return OF_TWO[op.type](_Term(program, x), _Term(program, y)).buffer


@emit("LeakyReluGrad", dtypes=(np.float32,))
def leaky_relu_grad(program: Program, op: Site, dy: Buffer, x: Buffer) -> Emitted:
    """`dy`, times alpha where `x` is not positive."""
    dy_term, alpha = _Term(program, dy), op.get_attr("alpha")
    zero = dy_term * 0.0
    is_positive = zero.less(_Term(program, x))
    return is_positive.choose(dy_term, dy_term * alpha).buffer
