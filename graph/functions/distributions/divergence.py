"""Kullback-Leibler divergences between distributions of registered classes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ...core.build import ops
from ...core.scopes import control_dependencies, name_scope
from ..flow.control_flow import Assert
from ..math.reductions import reduce_any

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from .base import Distribution

Divergence: TypeAlias = "Callable[..., Tensor]"
"""(p, q, name=None) -> KL(p || q), a number for each of the batch."""
Function = TypeVar("Function", bound="Divergence")

_DIVERGENCES: dict[tuple[type, type], Divergence] = {}


class RegisterKL:
    """`@tf.distributions.RegisterKL(P, Q)` before a function (p, q, name=None): KL(p || q).

    Subclasses of both take it, too, unless there is one for classes nearer to theirs.

    Raises:
        TypeError: It is put before what cannot be called.
        ValueError: The two classes have one.
    """

    def __init__(self, dist_cls_a: type[Distribution], dist_cls_b: type[Distribution]):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Function) -> Function:
        """Registers a function."""
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            names = " || ".join(kind.__name__ for kind in self._key)
            raise ValueError(
                f"KL({names}) has already been registered to: {_DIVERGENCES[self._key]}"
            )
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


def _divergence_of(p: type, q: type) -> Divergence | None:
    """What is registered for the classes nearest to two, counted in steps of inheritance."""
    pairs = product(enumerate(p.__mro__), enumerate(q.__mro__))
    known = [
        (steps_p + steps_q, _DIVERGENCES[base_p, base_q])
        for (steps_p, base_p), (steps_q, base_q) in pairs
        if (base_p, base_q) in _DIVERGENCES
    ]
    return min(known, key=lambda row: row[0])[1] if known else None


def kl_divergence(
    distribution_a: Distribution,
    distribution_b: Distribution,
    allow_nan_stats: bool = True,
    name: str | None = None,
) -> Tensor:
    """KL(a || b) for each of the batch: what is expected under a of log a(x) - log b(x).

    Without `allow_nan_stats` a result that is not a number fails when it runs.

    Raises NotImplementedError when nothing is registered for the classes.
    """
    kinds = type(distribution_a), type(distribution_b)
    divergence = _divergence_of(*kinds)
    if divergence is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{kinds[0].__name__} and distribution_b type {kinds[1].__name__}"
        )
    with name_scope("KullbackLeibler"):
        result = divergence(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return result
        result = ops.Identity(result, name="kl")
        words = (
            f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN "
            "values (and was called with allow_nan_stats=False). Values:"
        )
        check = Assert(ops.LogicalNot(reduce_any(ops.IsNan(result))), [words, result])
        with control_dependencies([check]):
            return ops.Identity(result, name="checked_kl")


def cross_entropy(
    ref: Distribution, other: Distribution, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """What is expected under `ref` of -log other(x): its entropy and the divergence."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats)
