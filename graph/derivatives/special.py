"""Derivatives of special functions."""

from __future__ import annotations

import numpy as np

from ..core.build import number, ops, shape_of
from ..core.graph import Operation, Tensor
from .broadcasting import unbroadcast
from .elementwise import conj
from .registry import gradient


@gradient("BesselI0")
def bessel_i0(op: Operation, dy: Tensor) -> Tensor:
    """Dy I1(x)."""
    return dy * ops.BesselI1(op.inputs[0])


@gradient("BesselI0e")
def bessel_i0e(op: Operation, dy: Tensor) -> Tensor:
    """Of exp(-|x|) I0(x)."""
    x = op.inputs[0]
    return dy * (ops.BesselI1e(x) - ops.Sign(x) * op.outputs[0])


@gradient("BesselI1")
def bessel_i1(op: Operation, dy: Tensor) -> Tensor:
    """Dy (I0(x) - I1(x) / x), 1 at 0."""
    x, y = op.inputs[0], op.outputs[0]
    slope = ops.BesselI0(x) - ops.Div(y, x)
    return dy * ops.SelectV2(ops.Equal(x, number(0, x)), number(1, x), slope)


@gradient("BesselI1e")
def bessel_i1e(op: Operation, dy: Tensor) -> Tensor:
    """Of exp(-|x|) I1(x), 1/2 at 0."""
    x, y = op.inputs[0], op.outputs[0]
    slope = ops.BesselI0e(x) - y * (ops.Sign(x) + ops.Reciprocal(x))
    return dy * ops.SelectV2(ops.Equal(x, number(0, x)), number(0.5, x), slope)


@gradient("BesselJ0")
def bessel_j0(op: Operation, dy: Tensor) -> Tensor:
    """-J1(x)."""
    return dy * -ops.BesselJ1(op.inputs[0])


@gradient("BesselJ1")
def bessel_j1(op: Operation, dy: Tensor) -> Tensor:
    """J0(x) - J1(x) / x, 1/2 at 0."""
    x, y = op.inputs[0], op.outputs[0]
    slope = ops.BesselJ0(x) - ops.Div(y, x)
    return dy * ops.SelectV2(ops.Equal(x, number(0, x)), number(0.5, x), slope)


@gradient("BesselK0")
def bessel_k0(op: Operation, dy: Tensor) -> Tensor:
    """-K1(x)."""
    return dy * -ops.BesselK1(op.inputs[0])


@gradient("BesselK0e")
def bessel_k0e(op: Operation, dy: Tensor) -> Tensor:
    """Of exp(x) K0(x)."""
    return dy * (op.outputs[0] - ops.BesselK1e(op.inputs[0]))


@gradient("BesselK1")
def bessel_k1(op: Operation, dy: Tensor) -> Tensor:
    """-K0(x) - K1(x) / x."""
    x, y = op.inputs[0], op.outputs[0]
    return dy * (-ops.BesselK0(x) - ops.Div(y, x))


@gradient("BesselK1e")
def bessel_k1e(op: Operation, dy: Tensor) -> Tensor:
    """Of exp(x) K1(x)."""
    x, y = op.inputs[0], op.outputs[0]
    return dy * (y * (number(1, x) - ops.Reciprocal(x)) - ops.BesselK0e(x))


@gradient("BesselY0")
def bessel_y0(op: Operation, dy: Tensor) -> Tensor:
    """-Y1(x)."""
    return dy * -ops.BesselY1(op.inputs[0])


@gradient("BesselY1")
def bessel_y1(op: Operation, dy: Tensor) -> Tensor:
    """Y0(x) - Y1(x) / x."""
    x, y = op.inputs[0], op.outputs[0]
    return dy * (ops.BesselY0(x) - ops.Div(y, x))


@gradient("Dawsn")
def dawson(op: Operation, dy: Tensor) -> Tensor:
    """1 - 2 x y."""
    x, y = op.inputs[0], op.outputs[0]
    return dy * (number(1, x) - number(2, x) * x * y)


@gradient("Expint")
def exponential_integral(op: Operation, dy: Tensor) -> Tensor:
    """exp(x) / x."""
    x = op.inputs[0]
    return dy * ops.Div(ops.Exp(x), x)


@gradient("FresnelCos")
def fresnel_cosine(op: Operation, dy: Tensor) -> Tensor:
    """cos(pi x**2 / 2)."""
    return dy * ops.Cos(number(np.pi / 2, dy) * ops.Square(op.inputs[0]))


@gradient("FresnelSin")
def fresnel_sine(op: Operation, dy: Tensor) -> Tensor:
    """sin(pi x**2 / 2)."""
    return dy * ops.Sin(number(np.pi / 2, dy) * ops.Square(op.inputs[0]))


@gradient("Spence")
def spence(op: Operation, dy: Tensor) -> Tensor:
    """log(x) / (1 - x), -1 at 1."""
    x = op.inputs[0]
    slope = ops.Div(ops.Log(x), number(1, x) - x)
    return dy * ops.SelectV2(ops.Equal(x, number(1, x)), number(-1, x), slope)


@gradient("Digamma")
def digamma(op: Operation, dy: Tensor) -> Tensor:
    """The polygamma function of order 1."""
    x = conj(op.inputs[0])
    return dy * ops.Polygamma(number(1, x), x)


@gradient("Polygamma")
def polygamma(op: Operation, dy: Tensor) -> tuple[None, Tensor | None]:
    """The polygamma function of the next order."""
    n, x = op.inputs
    return None, unbroadcast(n, x, None, dy * ops.Polygamma(n + 1, x))[1]


@gradient("Zeta")
def zeta(op: Operation, dy: Tensor) -> tuple[None, Tensor | None]:
    """By q alone: zeta at x + 1, times -x."""
    x, q = op.inputs
    return None, unbroadcast(x, q, None, dy * (-x * ops.Zeta(x + 1, q)))[1]


@gradient("Betainc")
def betainc(op: Operation, dy: Tensor) -> tuple[None, None, Tensor | None]:
    """By x alone: x^(a - 1) (1 - x)^(b - 1) / B(a, b), by way of logarithms."""
    a, b, x = op.inputs
    log_beta = ops.Lgamma(a) + ops.Lgamma(b) - ops.Lgamma(a + b)
    slope = ops.Exp(ops.Xlog1py(b - 1, -x) + ops.Xlogy(a - 1, x) - log_beta)
    return None, None, unbroadcast(a, x, None, dy * slope)[1]


def _igamma(op: Operation, dy: Tensor) -> list[Tensor | None]:
    a, x = op.inputs
    slope = ops.Exp(-x + (a - 1) * ops.Log(x) - ops.Lgamma(a))
    return unbroadcast(a, x, dy * ops.IgammaGradA(a, x), dy * slope)


@gradient("Igamma")
def igamma(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """By a a function of its own, by x the density of the gamma distribution."""
    return _igamma(op, dy)


@gradient("Igammac")
def igammac(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """As the other part, negated."""
    return [None if part is None else ops.Neg(part) for part in _igamma(op, dy)]


@gradient("RandomGamma")
def random_gamma(op: Operation, dy: Tensor) -> tuple[None, Tensor]:
    """How the number that was drawn moves with alpha, summed over the draws of each."""
    alpha, y = op.inputs[1], op.outputs[0]
    return None, _of_draws(alpha, y, dy)


def _of_draws(alpha: Tensor, y: Tensor, dy: Tensor) -> Tensor:
    moved = dy * ops.RandomGammaGrad(alpha, y)
    draws = ops.Range(np.int32(0), ops.Rank(y) - ops.Rank(alpha), np.int32(1))
    return ops.Reshape(ops.Sum(moved, draws), shape_of(alpha))


@gradient("StatelessRandomGammaV2")
def stateless_random_gamma(op: Operation, dy: Tensor) -> tuple[None, None, Tensor]:
    """How the number that was drawn moves with alpha."""
    alpha, y = op.inputs[2], op.outputs[0]
    moved = dy * ops.RandomGammaGrad(alpha, y)
    return None, None, unbroadcast(alpha, y, moved, None)[0]  # pyright: ignore[reportReturnType]


@gradient("CumulativeLogsumexp")
def cumulative_logsumexp(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
    """Sums of dy exp(x - y) the other way, of its positive and negative part by logarithms."""
    x, axis = op.inputs
    y, least = op.outputs[0], np.asarray(dy.dtype.min, dy.dtype)
    zero = number(0, dy)
    parts: list[Tensor] = []
    for part, is_in in ((dy, ops.Greater(dy, zero)), (-dy, ops.Less(dy, zero))):
        logs = ops.SelectV2(is_in, ops.Log(part), least) - y
        sums = ops.CumulativeLogsumexp(
            logs, axis, exclusive=op.get_attr("exclusive"), reverse=not op.get_attr("reverse")
        )
        parts.append(ops.Exp(sums + x))
    return parts[0] - parts[1], None
