"""Convolutions over one, two and three dimensions, transposed and separable ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.graph import Tensor
from ..core.tensor_shape import TensorShape
from ..functions.array import array, creation
from ..functions.array.slices import get_item
from ..functions.nn.activations import bias_add
from ..functions.nn.line_windows import conv1d as line_convolution
from ..functions.nn.line_windows import conv3d as volume_convolution
from ..functions.nn.line_windows import conv3d_transpose as volume_transposed
from ..functions.nn.named_functions import activation_of
from ..functions.nn.windows import conv2d as image_convolution
from ..functions.nn.windows import conv2d_transpose as image_transposed
from ..functions.nn.windows import separable_conv2d as image_separable
from ..variables.initializers import zeros_initializer
from .base import Activation, InputSpec, Layer, without
from .functional import functional
from .geometry import (
    Numbers,
    channel_axis,
    layout,
    numbers,
    padding_of,
    spread_length,
    window_length,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..core.typing import ShapeLike
    from ..variables.variable_scope import InitializerLike, Regularizer, VariableScope
    from ..variables.variables import Constraint, Variable
    from .base import ConvOptions, LayerOptions, SpreadOptions


class Conv(Layer):
    """activation(convolution(inputs, kernel) + bias), over `rank` dimensions.

    Args:
        filters: How many results for each place.
        kernel_size: Of the window, in each dimension.
        strides: How far the window moves.
        padding: "valid" or "same"; for Conv1D also "causal", zeros before the inputs alone.
        data_format: "channels_last" or "channels_first".
        dilation_rate: Distance between the taps; above 1 only with strides of 1.
        activation: A function of a tensor, or its name; None for none.
        use_bias: Whether there is a bias.
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        kernel_constraint, bias_constraint: Of its variables, as of get_variable.
        activity_regularizer: A function of the results, whose mean over the batch is a loss.
        trainable: Whether its variables are trained.
        name: Of its scope.
        **kwargs: Of Layer; and `groups`: parts of the channels that have filters of their own,
            which the numbers of channels and of filters are multiples of.

    Raises ValueError when sizes do not go together, or the inputs' channels are not known.
    """

    rank = 2
    is_transposed = False

    CONFIGURED = (
        "filters kernel_size strides padding data_format dilation_rate groups activation "
        "use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
        "activity_regularizer kernel_constraint bias_constraint"
    )

    def __init__(
        self,
        filters: int,
        kernel_size: Numbers,
        strides: Numbers = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Numbers = 1,
        activation: Activation | str | None = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        kernel_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None,
        activity_regularizer: Callable[[Tensor], Tensor] | None = None,
        kernel_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None,
        trainable: bool = True,
        name: str | VariableScope | None = None,
        **kwargs: Unpack[ConvOptions],
    ):
        self.groups = kwargs.get("groups", 1) or 1
        options = cast("LayerOptions", without(kwargs, "groups"))
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **options)
        rank = self.rank
        if filters <= 0:
            raise ValueError(
                "Invalid value for argument `filters`. Expected a strictly positive value. "
                f"Received filters={filters}."
            )
        if filters % self.groups:
            raise ValueError(
                "The number of filters must be evenly divisible by the number of groups. Received: "
                f"groups={self.groups}, filters={filters}"
            )
        self.filters = int(filters)
        self.kernel_size = numbers(kernel_size, rank, "kernel_size")
        self.strides = numbers(strides, rank, "strides", least=0)
        self.padding = padding_of(padding, ("valid", "same", "causal"))
        if self.padding == "causal" and rank > 1:
            raise ValueError("Causal padding is only supported for `Conv1D`and `SeparableConv1D`.")
        self.format = layout(data_format, rank)
        self.data_format = data_format.lower()
        self.dilation_rate = numbers(dilation_rate, rank, "dilation_rate")
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = (
            zeros_initializer() if bias_initializer is None else bias_initializer
        )
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.kernel: Variable | None = None
        self.bias: Variable | None = None
        self.input_spec = InputSpec(min_ndim=rank + 2)
        if min(self.strides) == 0:
            raise ValueError(
                f"The argument `strides` cannot contains 0(s). Received: {self.strides}"
            )
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )

    def _channels(self, shape: TensorShape) -> int:
        """How many channels the inputs have."""
        sizes, axis = TensorShape(shape).as_shape(), channel_axis(self.data_format, self.rank)
        place = axis - self.rank - 2 if axis > 1 else axis
        depth = None if sizes is None else sizes[place]
        if depth is None:
            raise ValueError(
                "The channel dimension of the inputs should be defined. The input_shape received "
                f"is {shape}, where axis {place} (0-based) is the channel dimension, which found "
                "to be `None`."
            )
        return depth

    def build(self, input_shape: TensorShape) -> None:
        """Makes `kernel` and `bias`."""
        depth = self._channels(input_shape)
        if not self.is_transposed and depth % self.groups:
            raise ValueError(
                "The number of input channels must be evenly divisible by the number of groups. "
                f"Received groups={self.groups}, but the input has {depth} channels (full input "
                f"shape is {input_shape})."
            )
        self.compute_output_shape(input_shape)
        last = [depth // self.groups, self.filters]
        if self.is_transposed:
            last = [self.filters, depth]
        self.kernel = self.add_weight(
            "kernel",
            [*self.kernel_size, *last],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self._finish(depth)

    def _finish(self, depth: int) -> None:
        """Makes the bias, and demands inputs of this depth from now on."""
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.filters],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        axis = channel_axis(self.data_format, self.rank)
        axes: dict[int, int | None] = {-1 if axis > 1 else 1: depth}
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes=axes)
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """activation(convolution(inputs) + bias); several first dimensions are one batch."""
        shape = inputs.sizes
        n_batch = 1 if shape is None else len(shape) - self.rank - 1
        if n_batch > 1:
            sizes = creation.shape(inputs)
            inner = get_item(sizes, slice(n_batch, None))
            flat = self.call(array.reshape(inputs, array.concat([[-1], inner], 0)))
            outer = get_item(sizes, slice(None, n_batch))
            whole = array.concat([outer, get_item(creation.shape(flat), slice(1, None))], 0)
            result = array.reshape(flat, whole)
            result.set_shape(self.compute_output_shape(TensorShape(shape)))
            return result
        y = self._with_bias(self._convolved(inputs))
        if shape is not None:
            y.set_shape(self.compute_output_shape(TensorShape(shape)))
        return y if self.activation is None else self.activation(y)

    def _convolved(self, inputs: Tensor) -> Tensor:
        if self.padding == "causal":
            inputs = self._padded(inputs)
        padding = "VALID" if self.padding == "causal" else self.padding.upper()
        name = type(self).__name__
        if self.rank == 1:
            return line_convolution(
                inputs,
                self.kernel,
                self.strides,
                padding,
                data_format=self.format,
                name=name,
                dilations=self.dilation_rate,
            )
        steps, gaps = self._wide(self.strides), self._wide(self.dilation_rate)
        if self.rank == 2:
            return image_convolution(
                inputs, self.kernel, steps, padding, True, self.format, gaps, name
            )
        return volume_convolution(inputs, self.kernel, steps, padding, self.format, gaps, name)

    def _padded(self, inputs: Tensor) -> Tensor:
        """Zeros before the inputs, so that no result depends on later ones."""
        reach = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        pads = [[0, 0]] * 3
        pads[2 if self.data_format == "channels_first" else 1] = [reach, 0]
        return array.pad(inputs, np.array(pads, np.int32))

    def _wide(self, sizes: Sequence[int]) -> list[int]:
        """Sizes with those of batch and channels, which are 1."""
        return [1, 1, *sizes] if self.data_format == "channels_first" else [1, *sizes, 1]

    def _with_bias(self, y: Tensor) -> Tensor:
        if self.bias is None:
            return y
        if self.rank == 1 and self.data_format == "channels_first":
            return y + array.reshape(self.bias, [1, self.filters, 1])
        return bias_add(y, self.bias, self.format)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """Batch, places of the window, filters; ValueError when the window does not fit."""
        shape = TensorShape(input_shape).as_list()
        is_first = self.data_format == "channels_first"
        n_batch = len(shape) - self.rank - 1
        batch, space = shape[:n_batch], shape[n_batch + is_first :][: self.rank]
        positions = [self._length(size, i) for i, size in enumerate(space)]
        if any(size is not None and size <= 0 for size in positions):
            raise ValueError(
                f"One of the dimensions in the output is <= 0 due to downsampling in {self.name}. "
                f"Consider increasing the input size. Received input shape {shape} which would "
                "produce output shape with a zero or negative value in a dimension."
            )
        return TensorShape(
            [*batch, self.filters, *positions] if is_first else [*batch, *positions, self.filters]
        )

    def _length(self, size: int | None, i: int) -> int | None:
        padding = "same" if self.padding == "causal" else self.padding
        gaps, steps = self.dilation_rate[i], self.strides[i]
        return window_length(size, self.kernel_size[i], padding, steps, gaps)


class Conv1D(Conv):
    """A convolution over a line: [batch, width, channels]; see Conv."""

    rank = 1


class Conv2D(Conv):
    """A convolution over images: [batch, height, width, channels]; see Conv."""


class Conv3D(Conv):
    """A convolution over volumes: [batch, depth, height, width, channels]; see Conv."""

    rank = 3


class ConvTranspose(Conv):
    """What a convolution would take to the inputs; see Conv.

    Args:
        **kwargs: Of Conv; and `output_padding`: how much larger results are than the inputs need,
            less than the strides; and `dilation_rate`, for images.
    """

    is_transposed = True

    CONFIGURED = (
        "filters kernel_size strides padding data_format groups output_padding activation use_bias "
        "kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
        "activity_regularizer kernel_constraint bias_constraint"
    )

    def __init__(
        self,
        filters: int,
        kernel_size: Numbers,
        strides: Numbers = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        activation: Activation | str | None = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        kernel_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None,
        activity_regularizer: Callable[[Tensor], Tensor] | None = None,
        kernel_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None,
        trainable: bool = True,
        name: str | VariableScope | None = None,
        **kwargs: Unpack[SpreadOptions],
    ):
        output_padding = kwargs.get("output_padding")
        options = cast("ConvOptions", without(kwargs, "output_padding", "dilation_rate"))
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            kwargs.get("dilation_rate", 1),
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            trainable,
            name,
            **options,
        )
        self.input_spec = InputSpec(ndim=self.rank + 2)
        self.output_padding: tuple[int, ...] | None = None
        if output_padding is not None:
            self.output_padding = numbers(output_padding, self.rank, "output_padding", least=0)
            pairs = zip(self.strides, self.output_padding, strict=True)
            if any(stride <= more for stride, more in pairs):
                raise ValueError(
                    "Strides must be greater than output padding. Received "
                    f"strides={self.strides}, output_padding={self.output_padding}."
                )

    def _convolved(self, inputs: Tensor) -> Tensor:
        sizes = creation.shape(inputs)
        first = 2 if self.data_format == "channels_first" else 1
        known = [None] * (self.rank + 2) if inputs.sizes is None else list(inputs.sizes)
        space: list[object] = []
        for i in range(self.rank):
            size = known[first + i]
            length = get_item(sizes, first + i) if size is None else size
            space.append(self._spread(cast("int", length), i))
        batch = get_item(sizes, 0)
        whole = [batch, self.filters, *space] if first == 2 else [batch, *space, self.filters]
        function = image_transposed if self.rank == 2 else volume_transposed
        return function(
            inputs,
            self.kernel,
            array.stack(whole),  # pyright: ignore[reportArgumentType] - numbers and tensors
            self._wide(self.strides),
            self.padding.upper(),
            self.format,
            dilations=self._wide(self.dilation_rate),
        )

    def _spread(self, size: int, i: int) -> int:
        """The size of the result along a dimension."""
        window = self.dilation_rate[i] * (self.kernel_size[i] - 1) + 1
        more = None if self.output_padding is None else self.output_padding[i]
        return spread_length(size, window, self.padding, self.strides[i], more)

    def _length(self, size: int | None, i: int) -> int | None:
        return None if size is None else self._spread(size, i)


class Conv2DTranspose(ConvTranspose):
    """A transposed convolution over images; see ConvTranspose."""

    CONFIGURED = f"{ConvTranspose.CONFIGURED} dilation_rate"


class Conv3DTranspose(ConvTranspose):
    """A transposed convolution over volumes; see ConvTranspose."""

    rank = 3


class SeparableConv(Conv):
    """A convolution of each channel by itself, and one of single places; see Conv.

    Args:
        depth_multiplier: How many results of each channel go into the second convolution.
        depthwise_initializer, depthwise_regularizer, depthwise_constraint: Of the first kernel.
        pointwise_initializer, pointwise_regularizer, pointwise_constraint: Of the second.
    """

    CONFIGURED = (
        "filters kernel_size strides padding data_format dilation_rate groups activation "
        "use_bias bias_initializer bias_regularizer activity_regularizer bias_constraint "
        "depth_multiplier depthwise_initializer pointwise_initializer "
        "depthwise_regularizer pointwise_regularizer depthwise_constraint "
        "pointwise_constraint"
    )

    def __init__(
        self,
        filters: int,
        kernel_size: Numbers,
        strides: Numbers = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Numbers = 1,
        depth_multiplier: int = 1,
        activation: Activation | str | None = None,
        use_bias: bool = True,
        depthwise_initializer: InitializerLike | None = None,
        pointwise_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        depthwise_regularizer: Regularizer | None = None,
        pointwise_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None,
        activity_regularizer: Callable[[Tensor], Tensor] | None = None,
        depthwise_constraint: Constraint | None = None,
        pointwise_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None,
        trainable: bool = True,
        name: str | VariableScope | None = None,
        **kwargs: Unpack[ConvOptions],
    ):
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = depthwise_initializer
        self.pointwise_initializer = pointwise_initializer
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint
        self.depthwise_kernel: Variable | None = None
        self.pointwise_kernel: Variable | None = None

    def build(self, input_shape: TensorShape) -> None:
        """Makes `depthwise_kernel`, `pointwise_kernel` and `bias`."""
        depth = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            [*self.kernel_size, depth, self.depth_multiplier],
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            [*(1,) * self.rank, depth * self.depth_multiplier, self.filters],
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
        )
        self._finish(depth)

    def _convolved(self, inputs: Tensor) -> Tensor:
        if self.padding == "causal":
            inputs = self._padded(inputs)
        padding = "VALID" if self.padding == "causal" else self.padding.upper()
        kernels = cast("Variable", self.depthwise_kernel), cast("Variable", self.pointwise_kernel)
        is_first = self.data_format == "channels_first"
        images = layout(self.data_format, 2)
        if self.rank == 2:
            steps = self._wide(self.strides)
            return image_separable(
                inputs, *kernels, steps, padding, self.dilation_rate, None, images
            )
        axis = 2 if is_first else 1
        steps = [1, 1, *self.strides * 2] if is_first else [1, *self.strides * 2, 1]
        each, together = (array.expand_dims(kernel, 0) for kernel in kernels)
        y = image_separable(
            array.expand_dims(inputs, axis),
            each,
            together,
            steps,
            padding,
            (1, *self.dilation_rate),
            None,
            images,
        )
        return array.squeeze(y, [axis])


class SeparableConv1D(SeparableConv):
    """A separable convolution over a line; see SeparableConv."""

    rank = 1


class SeparableConv2D(SeparableConv):
    """A separable convolution over images; see SeparableConv."""


_LINE = "[batch, width, channels], or [batch, channels, width]; real floats."
_IMAGES = "[batch, height, width, channels], or channels second; real floats."
_VOLUMES = "[batch, depth, height, width, channels], or channels second; real floats."

conv1d = functional(Conv1D, "conv1d", "A convolution over a line, by a new layer.", _LINE)
conv2d = functional(Conv2D, "conv2d", "A convolution over images, by a new layer.", _IMAGES)
conv3d = functional(Conv3D, "conv3d", "A convolution over volumes, by a new layer.", _VOLUMES)
conv2d_transpose = functional(
    Conv2DTranspose,
    "conv2d_transpose",
    "What a convolution over images would take to `inputs`, by a new layer.",
    _IMAGES,
)
conv3d_transpose = functional(
    Conv3DTranspose,
    "conv3d_transpose",
    "What a convolution over volumes would take to `inputs`, by a new layer.",
    _VOLUMES,
)
separable_conv1d = functional(
    SeparableConv1D,
    "separable_conv1d",
    "A convolution of each channel of lines by itself, then one of places, by a new layer.",
    _LINE,
)
separable_conv2d = functional(
    SeparableConv2D,
    "separable_conv2d",
    "A convolution of each channel of images by itself, then one of places, by a new layer.",
    _IMAGES,
)
