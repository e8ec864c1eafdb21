"""Distributions of numbers and of vectors: what their shapes are."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.tensor_shape import TensorShape
from ..array.array import concat, expand_dims
from ..array.creation import broadcast_static_shape
from ..checks import assert_less
from ..flow.control_flow import with_dependencies
from ..linalg.diagonals import matrix_set_diag
from ..linalg.linear_algebra import matmul
from .base import Distribution

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike
    from .base import Count


class ScalarDistribution(Distribution):
    """Of numbers; the batch has the shape that the graph_parents broadcast to."""

    _PARAMETERS: ClassVar[tuple[str, ...]] = ()
    """Those whose shapes follow from that of a draw."""

    @classmethod
    def _param_shapes(cls, sample_shape: TensorLike) -> dict[str, Tensor]:
        sizes = convert_to_tensor(sample_shape, np.int32)
        return dict.fromkeys(cls._PARAMETERS, sizes)

    def _batch_shape(self) -> TensorShape:
        shapes = [parent.get_shape() for parent in self._graph_parents]
        return reduce(broadcast_static_shape, shapes)

    def _batch_shape_tensor(self) -> Tensor:
        return reduce(ops.BroadcastArgs, [ops.Shape(parent) for parent in self._graph_parents])

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor(np.array([], np.int32))

    def _drawn_shape(self, n: Count) -> Tensor:
        """[n, *batch]"""
        return concat([[n], self.batch_shape_tensor()], 0)

    def _over_batch(self, x: Tensor) -> Tensor:
        """`x`, repeated for the whole batch."""
        return x * ops.Fill(self.batch_shape_tensor(), np.ones((), x.dtype))


class VectorDistribution(Distribution):
    """Of vectors; `_whole` has the shape of the batch and an event."""

    _whole: Tensor

    def _batch_shape(self) -> TensorShape:
        return self._whole.get_shape().with_rank_at_least(1)[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return ops.Shape(self._whole)[:-1]

    def _event_shape(self) -> TensorShape:
        return self._whole.get_shape().with_rank_at_least(1)[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return ops.Shape(self._whole)[-1:]

    def _outer_covariance(self, x: Tensor, y: Tensor) -> Tensor:
        """-x y^T with the variance on its diagonal."""
        products = matmul(expand_dims(x, -1), expand_dims(y, -2))
        return matrix_set_diag(-products, self._variance())


def above_one(
    distribution: Distribution,
    statistic: Tensor,
    parameters: dict[str, Tensor],
    defined: Tensor | None = None,
) -> Tensor:
    """`statistic` where parameters are above 1; elsewhere NaN, or else an error.

    Args:
        distribution: Says which.
        statistic: It.
        parameters: What must be above 1, by the words of the error.
        defined: Where it is; where all of the parameters are above 1, by default.
    """
    if not distribution.allow_nan_stats:
        one = np.ones((), statistic.dtype)
        checks = [assert_less(one, x, message=words) for words, x in parameters.items()]
        return with_dependencies(checks, statistic)
    if defined is None:
        defined = reduce(ops.LogicalAnd, [x > 1.0 for x in parameters.values()])
    return ops.SelectV2(defined, statistic, np.asarray(np.nan, statistic.dtype))
