"""What Normal and Laplace share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.scopes import name_scope
from .base import FULLY_REPARAMETERIZED
from .events import ScalarDistribution
from .parameters import same_floats

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike


class LocationScale(ScalarDistribution):
    """Of loc + scale * z, where z has no parameters.

    Args:
        loc: The middles.
        scale: The widths, of the same type of floats.
        validate_args: Whether `scale` is looked at.
        allow_nan_stats: See Distribution.
        name: Before the names of operations.
    """

    _PARAMETERS = ("loc", "scale")

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as scope:
            self._loc, self._scale = same_floats(validate_args, (scale,), loc=loc, scale=scale)
        super().__init__(
            self._scale.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._loc, self._scale],
            scope,
        )

    @property
    def loc(self) -> Tensor:
        """The middles."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The widths."""
        return self._scale
