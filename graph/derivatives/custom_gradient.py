"""Functions with gradients of their own: `tf.custom_gradient` and what is made of it.

What such a function gives goes through an IdentityN beside what it takes and the variables it
reads; the gradient is that of the IdentityN, under a name of its own.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.build import ops
from ..core.composite.structure import flatten, pack
from ..core.create import convert_to_tensor
from ..core.function_graph import origin, outermost
from ..core.graph import Graph, Operation, Tensor
from ..core.order import data_inputs, ordered
from ..core.scopes import GraphKeys, control_dependencies, get_default_graph
from ..variables.variable_scope import get_variable_scope, variable_scope
from .gradients import UnconnectedGradients, gradients
from .registry import Gradient, RegisterGradient

if TYPE_CHECKING:
    from ..variables.kinds import ResourceVariable
    from ..variables.variables import Variable

Structure: TypeAlias = object
"""Tensors, nested."""
GradientOf: TypeAlias = "Callable[..., Structure]"

_NUMBERS = itertools.count()


def custom_gradient(f: Callable[..., tuple[Structure, GradientOf]]) -> Callable[..., Structure]:
    """Decorates a function that says what its gradient is.

        @tf.custom_gradient
        def log1pexp(x):
            e = tf.exp(x)

            def grad(upstream):
                return upstream * (1 - 1 / (1 + e))

            return tf.math.log1p(e), grad

    Args:
        f: Takes tensors, by position, and gives `(y, grad_fn)`: a tensor or nest of them, and a
            function of one gradient for each tensor of y that gives one for each argument. Where
            `f` reads resource variables that the arguments do not lead to, `grad_fn` must take a
            list of them as keyword `variables`, and give `(gradients, gradients of variables)`.

    Returns a function of the same arguments that gives y; in a class, a method.

    Raises, when it is called:
        ValueError: It is called with keywords, or `grad_fn` gave another number of gradients.
        TypeError: `f` makes variables that are no resource variables, or reads variables that
            `grad_fn` does not take.
    """
    return _WithGradient(f)


class _WithGradient:
    """A function with a gradient of its own; a method, where it is looked up in an object."""

    def __init__(self, f: Callable[..., tuple[Structure, GradientOf]]):
        self._function = f
        functools.update_wrapper(self, f)

    def __get__(self, instance: object, owner: type | None = None) -> _WithGradient:
        bind = getattr(self._function, "__get__", None)
        if bind is None or (instance is None and owner is not None):
            return self
        return _WithGradient(bind(instance, owner))

    def __call__(self, *args: object, **kwargs: object) -> Structure:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when "
                "eager execution is enabled."
            )
        return _called(self._function, args)


def _called(f: Callable[..., tuple[Structure, GradientOf]], args: tuple[object, ...]) -> Structure:
    """What `f` gives, behind an operation whose gradient is that of `f`."""
    sources = [convert_to_tensor(cast("Tensor", arg)) for arg in flatten(args)]
    graph = get_default_graph()
    before = set(_variables(graph))
    result, grad_fn = f(*cast("Sequence[object]", pack(args, sources)))
    results = [convert_to_tensor(cast("Tensor", y)) for y in flatten(result)]
    for variable in _variables(graph):
        if variable not in before and _handle(variable) is None:
            raise TypeError(
                "All variables used by a function wrapped with @tf.custom_gradient must be "
                "`ResourceVariable`s. Ensure that no `variable_scope` is created with "
                f"`use_resource=False`. '{variable.name}' is a reference variable."
            )
    variables = _variables_between(sources, results)
    takes_variables = _takes_variables(grad_fn)
    if variables and not takes_variables:
        names = [variable.name for variable in variables]
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {names}."
        )
    n = len(results)

    def gradient(op: Operation, *dys: Gradient) -> list[Gradient | None]:
        return [None] * n + _gradients_of(grad_fn, dys[:n], variables, len(sources))

    name = f"CustomGradient-{next(_NUMBERS)}"
    RegisterGradient(name)(gradient)
    values: list[Tensor] = [variable.value() for variable in variables]
    with graph.gradient_override_map({"IdentityN": name}):
        outputs = ops.IdentityN([*results, *sources, *values])
    return pack(result, outputs[:n])


def _gradients_of(
    grad_fn: GradientOf, dys: Sequence[Gradient], variables: list[ResourceVariable], n: int
) -> list[Gradient | None]:
    """What a gradient function gives for `n` arguments, then for the variables."""
    if variables:
        of_inputs, of_variables = cast(
            "tuple[object, Sequence[Gradient | None]]", grad_fn(*dys, variables=variables)
        )
        if len(of_variables) != len(variables):
            raise ValueError(
                "Must return gradient for each variable from @custom_gradient grad_fn."
            )
    else:
        of_inputs, of_variables = grad_fn(*dys), ()
    flat = cast("list[Gradient | None]", flatten(of_inputs))
    if len(flat) != n:
        raise ValueError(
            "custom_gradient function expected to return "
            f"{n} gradients, but returned {len(flat)} instead."
        )
    return [*flat, *of_variables]


def _variables(graph: Graph) -> list[Variable]:
    """The variables of the outermost graph."""
    graph = outermost(graph)
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)
    return list(dict.fromkeys(v for key in keys for v in graph.get_collection(key)))


def _handle(variable: Variable) -> Tensor | None:
    """The handle of a resource variable, None for another one."""
    return getattr(variable, "handle", None)


def _variables_between(sources: list[Tensor], results: list[Tensor]) -> list[ResourceVariable]:
    """The trainable variables that results read, but for what is before the sources."""
    limits = {tensor.op for tensor in sources}
    starts = [tensor.op for tensor in results if tensor.op not in limits]

    def before(op: Operation) -> list[Operation]:
        return [other for other in data_inputs(op) if other not in limits]

    reached: set[Tensor] = set()
    for op in ordered(starts, before):
        reached.update(origin(tensor) for tensor in op.inputs)
    graph = get_default_graph()
    return [
        cast("ResourceVariable", variable)
        for variable in _variables(graph)
        if variable.trainable and _handle(variable) in reached
    ]


def _takes_variables(grad_fn: GradientOf) -> bool:
    """Whether a gradient function has a keyword `variables`."""
    parameters = inspect.signature(grad_fn).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def grad_pass_through(f: Callable[..., Structure]) -> Callable[..., Structure]:
    """Decorates a function whose gradient counts as that of the identity.

    Gradients of its results are those of its arguments; so there must be as many, of like shapes.
    """

    @custom_gradient
    def pass_through(*args: object) -> tuple[Structure, GradientOf]:
        def grad(
            *dys: Gradient, variables: Sequence[Variable] | None = None
        ) -> Sequence[Gradient] | tuple[Sequence[Gradient], list[None]]:
            if variables is not None:
                return dys, [None] * len(variables)
            return dys

        return f(*args), grad

    return functools.wraps(f)(pass_through)


def recompute_grad(f: Callable[..., Structure]) -> Callable[..., Structure]:
    """Decorates a function whose values are not kept for the gradient but computed once more.

    Args:
        f: Takes and gives tensors; variables that it reads must be resource variables.

    Gradients are those that TensorFlow takes of `f` as it is.
    """

    @functools.wraps(f)
    def decorated(*args: object, **kwargs: object) -> Structure:
        scope = get_variable_scope()

        @custom_gradient
        def inner(*inner_args: Tensor) -> tuple[Structure, GradientOf]:
            def grad(*dys: Tensor, variables: Sequence[Variable] | None = None) -> Structure:
                return _recomputed(f, inner_args, kwargs, dys, variables, scope)

            return f(*inner_args, **kwargs), grad

        return inner(*args)

    return decorated


def _recomputed(
    f: Callable[..., Structure],
    args: Sequence[object],
    kwargs: dict[str, object],
    dys: Sequence[Tensor],
    variables: Sequence[Variable] | None,
    scope: object,
) -> Structure:
    """The gradients of `f`, through a second run of it that waits for those of its results."""
    sources = cast("list[Tensor]", flatten(args))
    with control_dependencies(list(dys)):
        copies = [ops.Identity(tensor) for tensor in sources]
    with variable_scope(cast("str", scope), reuse=True):
        results = f(*cast("Sequence[object]", pack(tuple(args), copies)), **kwargs)
    xs = [*copies, *(variables or ())]
    ys = [convert_to_tensor(cast("Tensor", y)) for y in flatten(results)]
    zeros = UnconnectedGradients.ZERO
    of_xs = gradients(ys, xs, list(dys), unconnected_gradients=zeros)
    n = len(copies)
    is_float = [np.dtype(copy.dtype).kind in "fcV" for copy in copies]
    of_inputs = [x if yes else None for x, yes in zip(of_xs[:n], is_float, strict=True)]
    return of_inputs if variables is None else (of_inputs, of_xs[n:])
