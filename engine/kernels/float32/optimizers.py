"""What optimizers that give each element a rate of its own do with a gradient."""

import numpy as np

from ...build.kernel import kernel

FLOATS = ("float32", "float64")


@kernel("inout:T[n] inout_accum:T[n] rate:T[1] grad:T[n] update:i", T=FLOATS)
def adagrad(inout, inout_accum, rate, grad, update, first, last, fault):
    """accum += grad^2, if `update`; inout -= rate * grad / sqrt(accum)"""
    step = rate[0]
    for i in range(first, last):
        g = grad[i]
        total = inout_accum[i] + g * g if update else inout_accum[i]
        inout_accum[i] = total
        inout[i] -= g * step / np.sqrt(total)


@kernel(
    "inout:T[n] inout_accum:T[n] inout_update:T[n] rate:T[1] rho:T[1] epsilon:T[1] grad:T[n]",
    T=FLOATS,
)
def adadelta(inout, inout_accum, inout_update, rate, rho, epsilon, grad, first, last, fault):
    """inout -= rate * update, where update = grad * sqrt(update's mean / gradients' mean square)"""
    decay, eps = rho[0], epsilon[0]
    complement = inout.dtype.type(1) - decay
    for i in range(first, last):
        g = grad[i]
        accum = inout_accum[i] * decay + g * g * complement
        update = np.sqrt(inout_update[i] + eps) / np.sqrt(accum + eps) * g
        inout_accum[i] = accum
        inout[i] -= update * rate[0]
        inout_update[i] = inout_update[i] * decay + update * update * complement


@kernel(
    "inout:T[n] inout_ms:T[n] inout_mom:T[n] rate:T[1] rho:T[1] momentum:T[1] epsilon:T[1]"
    " grad:T[n]",
    T=FLOATS,
)
def rms_prop(
    inout, inout_ms, inout_mom, rate, rho, momentum, epsilon, grad, first, last, fault
):  # fmt: skip
    """mom = momentum * mom + rate * grad / sqrt(mean square + epsilon); inout -= mom"""
    complement = inout.dtype.type(1) - rho[0]
    for i in range(first, last):
        g = grad[i]
        ms = inout_ms[i] + (g * g - inout_ms[i]) * complement
        mom = inout_mom[i] * momentum[0] + g * rate[0] / np.sqrt(ms + epsilon[0])
        inout_ms[i], inout_mom[i] = ms, mom
        inout[i] -= mom


@kernel(
    "inout:T[n] inout_mg:T[n] inout_ms:T[n] inout_mom:T[n] rate:T[1] rho:T[1] momentum:T[1]"
    " epsilon:T[1] grad:T[n]",
    T=FLOATS,
)
def centered_rms_prop(
    inout, inout_mg, inout_ms, inout_mom, rate, rho, momentum, epsilon, grad,
    first, last, fault,
):  # fmt: skip
    """As rms_prop, with the variance of the gradients in place of their mean square."""
    complement = inout.dtype.type(1) - rho[0]
    for i in range(first, last):
        g = grad[i]
        ms = inout_ms[i] + (g * g - inout_ms[i]) * complement
        mg = inout_mg[i] + (g - inout_mg[i]) * complement
        mom = inout_mom[i] * momentum[0] + g * rate[0] / np.sqrt(ms - mg * mg + epsilon[0])
        inout_mg[i], inout_ms[i], inout_mom[i] = mg, ms, mom
        inout[i] -= mom


@kernel(
    "inout:T[n] inout_accum:T[n] inout_linear:T[n] grad:T[n] rate:T[1] l1:T[1] l2:T[1]"
    " shrinkage:T[1] power:T[1]",
    T=FLOATS,
)
def ftrl(
    inout, inout_accum, inout_linear, grad, rate, l1, l2, shrinkage, power, first, last, fault
):  # fmt: skip
    """inout = (l1 sign(linear) - linear) / (accum^-power / rate + 2 l2), 0 where |linear| <= l1"""
    zero, two = inout.dtype.type(0), inout.dtype.type(2)
    step, lower, exponent = rate[0], l1[0], -power[0]
    for i in range(first, last):
        g, x = grad[i], inout[i]
        before, accum = inout_accum[i], inout_accum[i] + g * g
        root = accum**exponent
        shrunk = g + two * shrinkage[0] * x
        linear = inout_linear[i] + shrunk - (root - before**exponent) / step * x
        inout_accum[i], inout_linear[i] = accum, linear
        if abs(linear) > lower:
            inout[i] = ((lower if linear > zero else -lower) - linear) / (root / step + two * l2[0])
        else:
            inout[i] = zero


@kernel("inout:T[n] rate:T[1] l1:T[1] l2:T[1] grad:T[n]", T=FLOATS)
def proximal_gradient_descent(inout, rate, l1, l2, grad, first, last, fault):
    """inout = inout - rate * grad, shrunk by rate * l1 and divided by 1 + rate * l2"""
    zero, one, step = inout.dtype.type(0), inout.dtype.type(1), rate[0]
    for i in range(first, last):
        x = inout[i] - grad[i] * step
        near = max(abs(x) - step * l1[0], zero)
        inout[i] = (near if x > zero else -near) / (one + step * l2[0])


@kernel("inout:T[n] inout_accum:T[n] rate:T[1] l1:T[1] l2:T[1] grad:T[n]", T=FLOATS)
def proximal_adagrad(inout, inout_accum, rate, l1, l2, grad, first, last, fault):
    """As proximal_gradient_descent, with rate / sqrt(sum of grad^2) as the rate."""
    zero, one = inout.dtype.type(0), inout.dtype.type(1)
    for i in range(first, last):
        g = grad[i]
        accum = inout_accum[i] + g * g
        inout_accum[i] = accum
        step = rate[0] / np.sqrt(accum)
        x = inout[i] - g * step
        near = max(abs(x) - step * l1[0], zero)
        inout[i] = (near if x > zero else -near) / (one + step * l2[0])


@kernel(
    "inout:T[n] inout_sum:T[n] inout_squares:T[n] grad:T[n] rate:T[1] l1:T[1] l2:T[1]"
    " step:int64[1]",
    T=FLOATS,
)
def adagrad_da(
    inout, inout_sum, inout_squares, grad, rate, l1, l2, step, first, last, fault
):  # fmt: skip
    """inout = -rate * sum, shrunk by l1 * step, over l2 * step * rate + sqrt(squares)"""
    zero, count = inout.dtype.type(0), inout.dtype.type(step[0])
    for i in range(first, last):
        g = grad[i]
        total, squares = inout_sum[i] + g, inout_squares[i] + g * g
        inout_sum[i], inout_squares[i] = total, squares
        near = max(abs(total) - l1[0] * count, zero)
        signed = near if total > zero else -near
        inout[i] = -rate[0] * signed / (l2[0] * count * rate[0] + np.sqrt(squares))
