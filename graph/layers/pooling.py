"""Pools over one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..core.build import ops
from ..core.graph import Tensor
from ..core.tensor_shape import TensorShape
from ..functions.nn import windows
from ..functions.nn.line_windows import avg_pool1d, max_pool1d
from .base import InputSpec, Layer
from .functional import functional
from .geometry import Numbers, layout, numbers, padding_of, window_length

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..core.typing import ShapeLike
    from ..variables.variable_scope import VariableScope
    from .base import PlainOptions


def _volumes(
    kind: Callable[..., Tensor],
) -> Callable[[Tensor, Sequence[int], Sequence[int], str, str], Tensor]:
    def pool(
        inputs: Tensor, sizes: Sequence[int], steps: Sequence[int], padding: str, data_format: str
    ) -> Tensor:
        return kind(
            inputs, ksize=list(sizes), strides=list(steps), padding=padding, data_format=data_format
        )

    return pool


class Pooling(Layer):
    """One number for all that lie under a window, at each of its places.

    Args:
        pool_size: Of the window, in each dimension.
        strides: How far the window moves.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        name: Of its scope.
        **kwargs: Of Layer.
    """

    rank = 2
    _function: Callable[..., Tensor]

    CONFIGURED = "pool_size strides padding data_format"

    def __init__(
        self,
        pool_size: Numbers,
        strides: Numbers,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | VariableScope | None = None,
        **kwargs: Unpack[PlainOptions],
    ):
        super().__init__(name=name, **kwargs)
        self.pool_size = numbers(pool_size, self.rank, "pool_size")
        self.strides = numbers(strides, self.rank, "strides", least=0)
        self.padding = padding_of(padding)
        self.format = layout(data_format, self.rank)
        self.data_format = data_format.lower()
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Tensor) -> Tensor:
        """The pooled inputs."""
        sizes, steps = self.pool_size, self.strides
        function, padding = type(self)._function, self.padding.upper()
        if self.rank == 1:
            return function(inputs, sizes, steps, padding, self.format)
        if self.data_format == "channels_first":
            return function(inputs, [1, 1, *sizes], [1, 1, *steps], padding, self.format)
        return function(inputs, [1, *sizes, 1], [1, *steps, 1], padding, self.format)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """Batch, places of the window, channels."""
        shape = TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for i, (size, step) in enumerate(zip(self.pool_size, self.strides, strict=True)):
            shape[first + i] = window_length(shape[first + i], size, self.padding, step)
        return TensorShape(shape)


class AveragePooling1D(Pooling):
    """The mean under each place of a window over a line; see Pooling."""

    rank, _function = 1, staticmethod(avg_pool1d)


class AveragePooling2D(Pooling):
    """The mean under each place of a window over images; see Pooling."""

    _function = staticmethod(windows.avg_pool)


class AveragePooling3D(Pooling):
    """The mean under each place of a window over volumes; see Pooling."""

    rank, _function = 3, staticmethod(_volumes(ops.AvgPool3D))


class MaxPooling1D(Pooling):
    """The largest under each place of a window over a line; see Pooling."""

    rank, _function = 1, staticmethod(max_pool1d)


class MaxPooling2D(Pooling):
    """The largest under each place of a window over images; see Pooling."""

    _function = staticmethod(windows.max_pool)


class MaxPooling3D(Pooling):
    """The largest under each place of a window over volumes; see Pooling."""

    rank, _function = 3, staticmethod(_volumes(ops.MaxPool3D))


_LINE = "[batch, width, channels], or [batch, channels, width]; real floats."
_IMAGES = "[batch, height, width, channels], or channels second; real floats."
_VOLUMES = "[batch, depth, height, width, channels], or channels second; real floats."

average_pooling1d = functional(
    AveragePooling1D,
    "average_pooling1d",
    "The mean under each place of a window over a line.",
    _LINE,
)
average_pooling2d = functional(
    AveragePooling2D,
    "average_pooling2d",
    "The mean under each place of a window over images.",
    _IMAGES,
)
average_pooling3d = functional(
    AveragePooling3D,
    "average_pooling3d",
    "The mean under each place of a window over volumes.",
    _VOLUMES,
)
max_pooling1d = functional(
    MaxPooling1D, "max_pooling1d", "The largest under each place of a window over a line.", _LINE
)
max_pooling2d = functional(
    MaxPooling2D, "max_pooling2d", "The largest under each place of a window over images.", _IMAGES
)
max_pooling3d = functional(
    MaxPooling3D,
    "max_pooling3d",
    "The largest under each place of a window over volumes.",
    _VOLUMES,
)
