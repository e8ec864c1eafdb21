"""What operations that write variables give them, as other operations: new values of old ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...graph.format.rebuild import Copy, rebuild

if TYPE_CHECKING:
    from ...graph.core.graph import Graph, Operation, Tensor


class Step:
    """An operation that writes, in a copy where handles stand for values."""

    def __init__(self, copy: Copy, op: Operation) -> None:
        self.copy, self.op = copy, op

    def __getitem__(self, i: int) -> Tensor:
        """Input `i`: of a handle the value that the variable has before."""
        return self.copy.tensors[self.op.inputs[i]]

    def attr(self, name: str) -> Any:
        """An attribute of the operation."""
        return self.op.get_attr(name)

    def add(self, kind: str, *inputs: Tensor, **attrs: Any) -> Tensor:
        """The result of one more operation."""
        name = self.copy.graph.unique_name(f"{self.op.name}/{kind}")
        return self.copy.graph.add(kind, name, list(inputs), attrs).outputs[0]

    def like(self, x: Tensor, value: float) -> Tensor:
        """A scalar of the type of `x`."""
        name = self.copy.graph.unique_name(f"{self.op.name}/value")
        return self.copy.graph.constant(np.asarray(value, x.dtype), name)


class Write(NamedTuple):
    """How an operation writes.

    Attributes:
        positions: which inputs are variables that it writes.
        values: gives their new values, in this order.
    """

    positions: tuple[int, ...]
    values: Callable[[Step], Sequence[Tensor]]


def written(copy: Copy, op: Operation) -> dict[int, Tensor]:
    """The new values of the variables that `op` writes, by the positions of their handles."""
    row = WRITING[op.type]
    return dict(zip(row.positions, row.values(Step(copy, op)), strict=True))


def _gradient_descent(s: Step) -> list[Tensor]:
    return [s.add("Sub", s[0], s.add("Mul", s[2], s[1]))]


def _momentum(s: Step) -> list[Tensor]:
    """accum = momentum accum + grad; var -= lr accum."""
    var, accum, lr, grad, momentum = (s[i] for i in range(5))
    accum = s.add("AddV2", s.add("Mul", accum, momentum), grad)
    step = accum
    if s.attr("use_nesterov"):
        step = s.add("AddV2", grad, s.add("Mul", accum, momentum))
    return [s.add("Sub", var, s.add("Mul", step, lr)), accum]


def _keras_momentum(s: Step) -> list[Tensor]:
    """accum = momentum accum - lr grad; var += accum."""
    var, accum, lr, grad, momentum = (s[i] for i in range(5))
    step = s.add("Mul", grad, lr)
    accum = s.add("Sub", s.add("Mul", accum, momentum), step)
    change = accum
    if s.attr("use_nesterov"):
        change = s.add("Sub", s.add("Mul", accum, momentum), step)
    return [s.add("AddV2", var, change), accum]


def _adam(s: Step) -> list[Tensor]:
    """Running means m of the gradient and v of its square; var -= rate m / (sqrt(v) + epsilon)."""
    var, m, v, power1, power2, lr, beta1, beta2, epsilon, grad = (s[i] for i in range(10))
    one = s.like(var, 1)
    root = s.add("Sqrt", s.add("Sub", one, power2))
    rate = s.add("RealDiv", s.add("Mul", lr, root), s.add("Sub", one, power1))
    rest1, rest2 = (s.add("Sub", one, beta) for beta in (beta1, beta2))
    m = s.add("AddV2", m, s.add("Mul", s.add("Sub", grad, m), rest1))
    square = s.add("Square", grad)
    v = s.add("AddV2", v, s.add("Mul", s.add("Sub", square, v), rest2))
    mean = m
    if s.attr("use_nesterov"):
        mean = s.add("AddV2", s.add("Mul", grad, rest1), s.add("Mul", beta1, m))
    size = s.add("AddV2", s.add("Sqrt", v), epsilon)
    return [s.add("Sub", var, s.add("RealDiv", s.add("Mul", mean, rate), size)), m, v]


def _mean(s: Step, mean: Tensor, x: Tensor, decay: Tensor) -> Tensor:
    """decay mean + (1 - decay) x."""
    complement = s.add("Sub", s.like(mean, 1), decay)
    return s.add("AddV2", s.add("Mul", mean, decay), s.add("Mul", x, complement))


def _over_root(s: Step, x: Tensor, square: Tensor) -> Tensor:
    return s.add("Mul", x, s.add("Rsqrt", square))


def _rms_prop(s: Step) -> list[Tensor]:
    """ms = mean of grad^2; mom = momentum mom + lr grad / sqrt(ms + epsilon); var -= mom."""
    var, ms, mom, lr, rho, momentum, epsilon, grad = (s[i] for i in range(8))
    ms = _mean(s, ms, s.add("Square", grad), rho)
    step = _over_root(s, s.add("Mul", lr, grad), s.add("AddV2", ms, epsilon))
    mom = s.add("AddV2", s.add("Mul", mom, momentum), step)
    return [s.add("Sub", var, mom), ms, mom]


def _centered_rms_prop(s: Step) -> list[Tensor]:
    """As RMSProp, by ms - mg^2 with the mean mg of grad."""
    var, mg, ms, mom, lr, rho, momentum, epsilon, grad = (s[i] for i in range(9))
    ms = _mean(s, ms, s.add("Square", grad), rho)
    mg = _mean(s, mg, grad, rho)
    variance = s.add("Sub", ms, s.add("Square", mg))
    step = _over_root(s, s.add("Mul", lr, grad), s.add("AddV2", variance, epsilon))
    mom = s.add("AddV2", s.add("Mul", mom, momentum), step)
    return [s.add("Sub", var, mom), mg, ms, mom]


def _adagrad(s: Step) -> list[Tensor]:
    """accum += grad^2; var -= lr grad / sqrt(accum)."""
    var, accum, lr, grad = (s[i] for i in range(4))
    if s.attr("update_slots"):
        accum = s.add("AddV2", accum, s.add("Square", grad))
    return [s.add("Sub", var, _over_root(s, s.add("Mul", lr, grad), accum)), accum]


def _adagrad_v2(s: Step) -> list[Tensor]:
    """accum += grad^2; var -= lr grad / (sqrt(accum) + epsilon)."""
    var, accum, lr, epsilon, grad = (s[i] for i in range(5))
    if s.attr("update_slots"):
        accum = s.add("AddV2", accum, s.add("Square", grad))
    size = s.add("AddV2", s.add("Sqrt", accum), epsilon)
    return [s.add("Sub", var, s.add("RealDiv", s.add("Mul", lr, grad), size)), accum]


def _adadelta(s: Step) -> list[Tensor]:
    """accum = mean of grad^2; var -= lr grad sqrt((accum_update + epsilon) / (accum + epsilon))."""
    var, accum, accum_update, lr, rho, epsilon, grad = (s[i] for i in range(7))
    accum = _mean(s, accum, s.add("Square", grad), rho)
    size = s.add("Sqrt", s.add("AddV2", accum_update, epsilon))
    step = s.add("Mul", _over_root(s, size, s.add("AddV2", accum, epsilon)), grad)
    accum_update = _mean(s, accum_update, s.add("Square", step), rho)
    return [s.add("Sub", var, s.add("Mul", lr, step)), accum, accum_update]


def _shrunk(s: Step, x: Tensor, l1: Tensor) -> Tensor:
    """sign(x) max(|x| - l1, 0)."""
    size = s.add("Maximum", s.add("Sub", s.add("Abs", x), l1), s.like(x, 0))
    return s.add("Mul", s.add("Sign", x), size)


def _proximal(s: Step) -> list[Tensor]:
    """var = shrunk(var - alpha delta, alpha l1) / (1 + alpha l2)."""
    var, alpha, l1, l2, delta = (s[i] for i in range(5))
    moved = s.add("Sub", var, s.add("Mul", alpha, delta))
    scale = s.add("AddV2", s.like(var, 1), s.add("Mul", alpha, l2))
    return [s.add("RealDiv", _shrunk(s, moved, s.add("Mul", alpha, l1)), scale)]


def _ftrl(s: Step) -> list[Tensor]:
    """linear += grad - (accum'^-p - accum^-p) / lr var; var = -shrunk(linear, l1) / quadratic."""
    var, accum, linear, grad, lr, l1, l2, power = (s[i] for i in range(8))
    new_accum = s.add("AddV2", accum, s.add("Square", grad))
    raised, before = (s.add("Pow", x, s.add("Neg", power)) for x in (new_accum, accum))
    sigma = s.add("RealDiv", s.add("Sub", raised, before), lr)
    linear = s.add("Sub", s.add("AddV2", linear, grad), s.add("Mul", sigma, var))
    quadratic = s.add("AddV2", s.add("RealDiv", raised, lr), s.add("Mul", s.like(l2, 2), l2))
    value = s.add("RealDiv", s.add("Neg", _shrunk(s, linear, l1)), quadratic)
    return [value, new_accum, linear]


def _scatter(kind: str, rows: bool) -> Callable[[Step], list[Tensor]]:
    """Updates at index tuples, or at rows."""

    def values(s: Step) -> list[Tensor]:
        indices = s[1]
        if rows:
            last = s.copy.graph.constant(np.int32(-1), s.copy.graph.unique_name("axis"))
            indices = s.add("ExpandDims", indices, last)
        return [s.add(f"TensorScatter{kind}", s[0], indices, s[2])]

    return values


MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def _strided_slice(s: Step) -> list[Tensor]:
    masks = {name: s.attr(name) for name in MASKS}
    return [s.add("TensorStridedSliceUpdate", *(s[i] for i in range(5)), **masks)]


WRITING: dict[str, Write] = {}
"""Operations that write variables: those of TensorFlow 1 on references, and on handles."""

for _name, _positions, _values in (
    ("ApplyAdam", (0, 1, 2), _adam),
    ("ApplyGradientDescent", (0,), _gradient_descent),
    ("ApplyMomentum", (0, 1), _momentum),
    ("ApplyRMSProp", (0, 1, 2), _rms_prop),
    ("ApplyCenteredRMSProp", (0, 1, 2, 3), _centered_rms_prop),
    ("ApplyAdagrad", (0, 1), _adagrad),
    ("ApplyAdagradV2", (0, 1), _adagrad_v2),
    ("ApplyAdadelta", (0, 1, 2), _adadelta),
    ("ApplyProximalGradientDescent", (0,), _proximal),
    ("ApplyFtrl", (0, 1, 2), _ftrl),
):
    WRITING[_name] = WRITING[f"Resource{_name}"] = Write(_positions, _values)
WRITING["ResourceApplyKerasMomentum"] = Write((0, 1), _keras_momentum)
for _name, _kind in (("", "Identity"), ("Add", "AddV2"), ("Sub", "Sub")):
    _row = Write(
        (0,),
        lambda s, kind=_kind: [s.add(kind, *([s[1]] if kind == "Identity" else [s[0], s[1]]))],
    )
    WRITING[f"Assign{_name}"] = WRITING[f"Assign{_name}VariableOp"] = _row
for _kind in ("Add", "Max", "Min", "Sub", "Update"):
    for _prefix in ("", "Resource"):
        WRITING[f"{_prefix}Scatter{_kind}"] = Write((0,), _scatter(_kind, True))
        WRITING[f"{_prefix}ScatterNd{_kind}"] = Write((0,), _scatter(_kind, False))
for _name in ("StridedSliceAssign", "ResourceStridedSliceAssign"):
    WRITING[_name] = Write((0,), _strided_slice)


def drop_unchanging_writes(graph: Graph) -> Graph:
    """The graph without what gives variables the values that they have; itself without such.

    Keras writes what a JAX model does not train back after each call, changed or not.
    """
    unchanging = {op for op in graph.operations if _is_unchanging(op)}
    changed = {
        op.inputs[i]
        for op in graph.operations
        if op.type in WRITING and op not in unchanging
        for i in WRITING[op.type].positions
    }
    unchanging = {op for op in unchanging if op.inputs[0] not in changed}
    if not unchanging:
        return graph

    def replace(op: Operation, copy: Copy) -> bool:
        if op not in unchanging:
            return False
        copy.maps_to(op, [], copy.control_inputs(op))
        return True

    return rebuild(graph, None, replace)


def _is_unchanging(op: Operation) -> bool:
    """Whether an operation writes what it reads of the same variable."""
    if op.type != "AssignVariableOp":
        return False
    value = op.inputs[1]
    while value.op.type in ("Identity", "IdentityN", "PreventGradient"):
        value = value.op.inputs[value.value_index]
    return value.op.type == "ReadVariableOp" and value.op.inputs[0] is op.inputs[0]
