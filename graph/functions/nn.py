"""TF1's functions of neural networks: `tf.nn`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import shapes
from ..build import ops
from ..create import constant, convert_to_tensor, type_name
from ..graph import Tensor
from ..scopes import name_scope
from . import array, math, random
from .math import one_of
from .rows import functions

ONE_TO_ONE = r"""
avg_pool3d      AvgPool3D   input ksize strides padding data_format='NDHWC'
conv2d_backprop_filter Conv2DBackpropFilter input filter_sizes out_backprop strides padding \
    use_cudnn_on_gpu=True data_format='NHWC' dilations=[1,1,1,1]
dilation2d      Dilation2D  input filter strides rates padding
elu             Elu         features
l2_loss         L2Loss      t
local_response_normalization LRN input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5
lrn             LRN         input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5
max_pool3d      MaxPool3D   input ksize strides padding data_format='NDHWC'
relu            Relu        features
selu            Selu        features
softplus        Softplus    features
softsign        Softsign    features
"""
globals().update(functions(ONE_TO_ONE))
relu = globals()["relu"]
tanh, sigmoid = math.tanh, math.sigmoid  # pyright: ignore[reportAttributeAccessIssue]
log_sigmoid = math.log_sigmoid
reduce_mean, reduce_sum = math.reduce_mean, math.reduce_sum


def relu6(features, name=None) -> Tensor:
    """The elements held within 0 and 6."""
    with name_scope(name, "Relu6", [features]) as scope:
        return ops.Relu6(convert_to_tensor(features, name="features"), name=scope)


def leaky_relu(features, alpha=0.2, name=None) -> Tensor:
    """The elements, times `alpha` where they are negative."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.kind in "iu":
            features = math.cast(features, np.float32)
        return ops.LeakyRelu(features, alpha=float(alpha), name=scope)


def crelu(features, name=None, axis=-1) -> Tensor:
    """relu of the elements and of their negatives, side by side."""
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return ops.Relu(array.concat([features, ops.Neg(features)], axis, name=scope))


def swish(features, name=None) -> Tensor:
    """x * sigmoid(x)."""
    with name_scope(name, "swish", [features]):
        features = convert_to_tensor(features, name="features")
        return ops.Mul(features, ops.Sigmoid(features))


def bias_add(value, bias, data_format=None, name=None) -> Tensor:
    """`value` with a number added to each channel."""
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None and not data_format.startswith("N"):
            raise ValueError(
                "`data_format` must be of the form `N...C` or `NC...`. Received: "
                f"data_format={data_format}"
            )
        layout = "NCHW" if data_format is not None and data_format.startswith("NC") else "NHWC"
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, value.dtype, "bias")
        return ops.BiasAdd(value, bias, data_format=layout, name=scope)


def conv2d(
    input,
    filter=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
    filters=None,
) -> Tensor:
    """A convolution over height and width.

    Args:
        input: [batch, height, width, channels].
        filter: [height, width, channels, results].
        strides: A number, or 2 or 4 of them.
        padding: "SAME", "VALID", or a pair of numbers for each dimension.
        use_cudnn_on_gpu: Taken for TensorFlow's sake.
        data_format: "NHWC", or "NCHW".
        dilations: Distances between the taps.
        name: Of the operation.
        filters: Another name of `filter`.
    """
    filter = one_of("filters", filters, "filter", filter)
    return ops.Conv2D(
        input,
        filter,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        strides=_four(1 if strides is None else strides, data_format, "strides"),
        dilations=_four(dilations, data_format, "dilations"),
        name=name,
        **_padding(padding),
    )


def _padding(padding) -> dict:
    """The attributes that say how much is padded."""
    if isinstance(padding, (list, tuple)):
        return {
            "padding": b"EXPLICIT",
            "explicit_paddings": [int(n) for pair in padding for n in pair],
        }
    if padding is None:
        raise ValueError("padding must be 'SAME', 'VALID' or a list of pairs, got None")
    return {"padding": padding}


def _four(numbers, data_format: str | None, name: str) -> list[int]:
    """Numbers for each dimension of images, from one, two or four."""
    found = [int(n) for n in np.atleast_1d(np.asarray(numbers))]
    if len(found) == 4:
        return found
    if len(found) not in (1, 2):
        raise ValueError(f"{name} should be of length 1, 2 or 4 but was {len(found)}")
    inner = found * (3 - len(found))
    return [1, 1, *inner] if data_format and data_format.startswith("NC") else [1, *inner, 1]


def conv2d_transpose(
    value=None,
    filter=None,
    output_shape=None,
    strides=None,
    padding: str = "SAME",
    data_format: str = "NHWC",
    name=None,
    input=None,
    filters=None,
    dilations=None,
) -> Tensor:
    """What `conv2d` would take to `value`; `filter` is [height, width, results, channels]."""
    value = one_of("input", input, "value", value)
    filter = one_of("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        return ops.Conv2DBackpropInput(
            convert_to_tensor(output_shape, np.int32, "input_sizes"),
            filter,
            value,
            strides=_four(strides, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=_four(1 if dilations is None else dilations, data_format, "dilations"),
            name=scope,
        )


def conv2d_backprop_input(
    input_sizes,
    filter=None,
    out_backprop=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
    filters=None,
) -> Tensor:
    """The gradient of `conv2d` by its input."""
    return ops.Conv2DBackpropInput(
        input_sizes,
        one_of("filters", filters, "filter", filter),
        out_backprop,
        strides=_four(strides, data_format, "strides"),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=_four(dilations, data_format, "dilations"),
        name=name,
        **_padding(padding),
    )


def depthwise_conv2d_native(
    input, filter, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1), name=None
) -> Tensor:
    """A convolution of each channel by itself; `filter` is [height, width, channels, m]."""
    return ops.DepthwiseConv2dNative(
        input,
        filter,
        strides=[int(n) for n in strides],
        data_format=data_format or "NHWC",
        dilations=[int(n) for n in dilations],
        name=name,
        **_padding(padding),
    )


def depthwise_conv2d(
    input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None
) -> Tensor:
    """A convolution of each channel by itself; `filter` is [height, width, channels, m]."""
    rate = one_of("dilations", dilations, "rate", rate)
    gaps = [1, 1] if rate is None else [int(n) for n in np.atleast_1d(np.asarray(rate))]
    layout = data_format or "NHWC"
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        four = [1, 1, *gaps] if layout.startswith("NC") else [1, *gaps, 1]
        return depthwise_conv2d_native(input, filter, strides, padding, layout, four, scope)


def separable_conv2d(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    rate=None,
    name=None,
    data_format=None,
    dilations=None,
) -> Tensor:
    """A convolution of each channel by itself, then one that mixes them."""
    rate = one_of("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input]) as scope:
        each = depthwise_conv2d(
            input, depthwise_filter, strides, padding, rate, "depthwise", data_format
        )
        layout = data_format or "NHWC"
        return conv2d(each, pointwise_filter, 1, "VALID", data_format=layout, name=scope)


def atrous_conv2d(value, filters, rate, padding, name=None) -> Tensor:
    """A convolution with `rate` - 1 holes between its taps."""
    return conv2d(value, filters, 1, padding, dilations=[1, rate, rate, 1], name=name)


def max_pool(
    value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None
):
    """The largest element under each position of a window."""
    value = one_of("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as scope:
        if not np.all(ksize):
            raise ValueError(f"`ksize` cannot be zero. Received: ksize={ksize}")
        return ops.MaxPool(
            convert_to_tensor(value, name="input"),
            ksize=_four(ksize, data_format, "ksize"),
            strides=_four(strides, data_format, "strides"),
            data_format=data_format,
            name=scope,
            **_padding(padding),
        )


def avg_pool(
    value, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None
):
    """The mean of the elements under each position of a window."""
    value = one_of("input", input, "value", value)
    with name_scope(name, "AvgPool", [value]) as scope:
        return ops.AvgPool(
            convert_to_tensor(value, name="value"),
            ksize=_four(ksize, data_format, "ksize"),
            strides=_four(strides, data_format, "strides"),
            data_format=data_format,
            name=scope,
            **_padding(padding),
        )


max_pool2d, avg_pool2d = max_pool, avg_pool


def pool(
    input,
    window_shape,
    pooling_type,
    padding,
    dilation_rate=None,
    strides=None,
    name=None,
    data_format=None,
    dilations=None,
) -> Tensor:
    """Pooling over height and width: `pooling_type` is "MAX" or "AVG"."""
    rate = one_of("dilations", dilations, "dilation_rate", dilation_rate)
    if rate is not None and np.any(np.asarray(rate) != 1):
        raise NotImplementedError(f"pool with dilations {rate} is not supported")
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pooling_type must be 'MAX' or 'AVG', got {pooling_type!r}")
    function = max_pool if pooling_type == "MAX" else avg_pool
    steps = 1 if strides is None else strides
    return function(input, window_shape, steps, padding, data_format or "NHWC", name)


def softmax(logits, axis=None, name=None, dim=None) -> Tensor:
    """exp(x) over its sum along `axis`, the last one by default."""
    return _along_last(ops.Softmax, logits, one_of("axis", axis, "dim", dim), name)


def log_softmax(logits, axis=None, name=None, dim=None) -> Tensor:
    """The logarithm of softmax."""
    return _along_last(ops.LogSoftmax, logits, one_of("axis", axis, "dim", dim), name)


def _along_last(compute, x, axis, name) -> Tensor:
    x = convert_to_tensor(x)
    rank = None if x.shape is None else len(x.shape)
    if axis is None or axis == -1 or axis + 1 == rank:
        return compute(x, name=name)
    if rank is None or not -rank <= axis < rank:
        raise ValueError(f"axis must be in [-rank, rank) of a known rank, got {axis} for {x.shape}")
    order = list(np.arange(rank))
    order[axis], order[-1] = order[-1], order[axis]
    swapped = compute(array.transpose(x, np.array(order, np.int32)))
    return array.transpose(swapped, np.array(order, np.int32), name=name or "transpose")


def _require_named(function: str, labels, logits) -> None:
    if labels is None or logits is None:
        raise ValueError(f"Both `labels` and `logits` must be provided for {function}")


def softmax_cross_entropy_with_logits(
    labels=None, logits=None, dim=-1, name=None, axis=None
) -> Tensor:
    """Like softmax_cross_entropy_with_logits_v2, without a gradient for the labels."""
    axis = dim if axis is None else axis
    _require_named("softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = ops.StopGradient(labels, name="labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(labels, logits, axis, scope)


def softmax_cross_entropy_with_logits_v2(labels=None, logits=None, axis=None, name=None, dim=None):
    """-sum(labels * log(softmax(logits))) along `axis`, the last one by default.

    Args:
        labels: Probabilities, in the shape of `logits`.
        logits: Any numbers.
        axis: The classes.
        name: Of the operation.
        dim: Old name of `axis`.
    """
    axis = one_of("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    _require_named("softmax_cross_entropy_with_logits_v2", labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        precise = math.cast(logits, np.float32) if logits.dtype.itemsize == 2 else logits
        labels = math.cast(labels, precise.dtype)
        rank = array.rank(precise)
        if axis != -1 and logits.shape is not None and axis != len(logits.shape) - 1:
            order = np.arange(len(logits.shape))
            order = np.append(np.delete(order, axis), order[axis]).astype(np.int32)
            precise, labels = array.transpose(precise, order), array.transpose(labels, order)
        shape = array.shape(precise)
        precise, labels = _flat_rows(precise), _flat_rows(labels)
        cost, _ = ops.SoftmaxCrossEntropyWithLogits(precise, labels, name=scope)
        cost = ops.Reshape(cost, ops.Slice(shape, [0], [ops.Sub(rank, 1)]))
        if logits.shape is not None:
            known = list(logits.shape)
            del known[axis]
            cost.set_shape(tuple(known))
        return math.cast(cost, logits.dtype)


def _flat_rows(x: Tensor) -> Tensor:
    """`x` as a matrix of its last dimension."""
    rank = array.rank(x)
    last = ops.Slice(array.shape(x), [ops.Sub(rank, 1)], [1])
    result = array.reshape(x, array.concat([[-1], last], 0))
    if x.shape is not None:
        rows = shapes.count(x.shape[:-1]) if None not in x.shape[:-1] else None
        result.set_shape((rows, x.shape[-1]))
    return result


def sparse_softmax_cross_entropy_with_logits(
    labels=None, logits=None, name=None, **others
) -> Tensor:
    """-log(softmax(logits))[label] for each row.

    Args:
        labels: [...], the number of the right class in each row, int32 or int64.
        logits: [..., classes].
        name: Of the operation.
        **others: None are known.

    Raises:
        ValueError: The shapes do not fit.
        TypeError: An argument is unknown.
    """
    if others:
        raise TypeError(f"unknown arguments: {', '.join(others)}")
    _require_named("sparse_softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        precise = math.cast(logits, np.float32) if logits.dtype == np.float16 else logits
        known, label_shape = labels.get_shape(), array.shape(labels)
        if logits.shape == ():
            raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
        if None not in (logits.shape, labels.shape):
            _check_labels(known, logits)
        if logits.shape is not None and len(logits.shape) == 2:
            cost, _ = ops.SparseSoftmaxCrossEntropyWithLogits(precise, labels, name=name)
            return math.cast(cost, logits.dtype)
        classes = array.shape(logits)[array.rank(logits) - 1]
        precise = array.reshape(precise, array.stack([-1, classes]))
        rows = array.reshape(labels, [-1])
        cost, _ = ops.SparseSoftmaxCrossEntropyWithLogits(precise, rows, name=name)
        cost = array.reshape(cost, label_shape)
        cost.set_shape(known)
        return math.cast(cost, logits.dtype)


def _check_labels(known, logits: Tensor) -> None:
    shape = logits.get_shape()
    if len(known) != len(shape) - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={known} of rank {len(known)} and logits.shape={shape} of rank "
            f"{len(shape)}"
        )
    if not known.is_compatible_with(shape[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={known} and logits.shape={shape}"
        )


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None) -> Tensor:
    """-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits)), each element."""
    _require_named("sigmoid_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        if not labels.get_shape().is_compatible_with(logits.get_shape()):
            raise ValueError(
                "`logits` and `labels` must have the same shape, received "
                f"({logits.get_shape()} vs {labels.get_shape()})."
            )
        zeros = array.zeros_like(logits)
        positive = ops.GreaterEqual(logits, zeros)
        relu_logits = ops.Select(positive, logits, zeros)
        negative = ops.Select(positive, ops.Neg(logits), logits)
        linear = relu_logits - logits * labels
        return math.add(linear, ops.Log1p(ops.Exp(negative)), name=scope)


def weighted_cross_entropy_with_logits(
    labels=None, logits=None, pos_weight: Any = 1.0, name=None, targets=None
):
    """sigmoid_cross_entropy_with_logits with the positive term times `pos_weight`."""
    labels = one_of("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        weight = 1 + (pos_weight - 1) * labels
        tail = ops.Log1p(ops.Exp(ops.Neg(ops.Abs(logits)))) + ops.Relu(ops.Neg(logits))
        return math.add((1 - labels) * logits, weight * tail, name=scope)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None) -> Tensor:
    """`x` with a part `rate` of its elements set to 0, the others scaled up to make up for it.

    Args:
        x: Floats.
        keep_prob: 1 - rate, the old argument.
        noise_shape: The shape of the choices; it broadcasts to that of `x`.
        seed: See set_random_seed.
        name: Of the operations.
        rate: A number in [0, 1), or a tensor.

    Raises ValueError when `rate` is missing or out of range.
    """
    kept = None if keep_prob is None else 1.0 - keep_prob
    rate = one_of("rate", rate, "keep_prob", kept)
    if rate is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    number = rate if isinstance(rate, (int, float, np.floating)) else None
    with name_scope(name, "dropout", [x]):
        if number is not None and not 0 <= number < 1:
            raise ValueError(
                "`rate` must be a scalar tensor or a float in the range [0, 1). Received: "
                f"rate={rate}"
            )
        x = convert_to_tensor(x, name="x")
        if x.dtype.kind not in "fV":
            raise ValueError(
                "`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
                f"x_dtype={type_name(x.dtype)}"
            )
        if number == 0:
            random.get_seed(seed)
            return x
        if number is not None:
            scaled = ops.Mul(x, convert_to_tensor(1 / (1 - number), x.dtype))
        else:
            rate = math.cast(convert_to_tensor(rate), x.dtype)
            scaled = ops.RealDiv(x, ops.Sub(constant(1, x.dtype), rate))
        shape = array.shape(x) if noise_shape is None else noise_shape
        keep = ops.GreaterEqual(random.random_uniform(shape, dtype=x.dtype, seed=seed), rate)
        result = ops.SelectV2(keep, scaled, constant(0, x.dtype))
        result.set_shape(x.shape)
        return result


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None) -> tuple[Tensor, Tensor]:
    """Mean and variance along `axes`."""
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x)
        y = math.cast(x, np.float32) if x.dtype == np.float16 else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        squares = ops.SquaredDifference(y, ops.StopGradient(mean))
        variance = reduce_mean(squares, axes, keepdims=True, name="variance")
        if not keepdims:
            mean, variance = array.squeeze(mean, axes), array.squeeze(variance, axes)
        return math.cast(mean, x.dtype), math.cast(variance, x.dtype)


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None) -> Tensor:
    """(x - mean) / sqrt(variance + variance_epsilon) * scale + offset."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = ops.Rsqrt(variance + variance_epsilon)
        factor = factor if scale is None else factor * scale
        shift = -mean * factor if offset is None else offset - mean * factor
        return x * math.cast(factor, x.dtype) + math.cast(shift, x.dtype)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None) -> Tensor:
    """`x` over the root of the sum of its squares along `axis`."""
    axis = one_of("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        total = reduce_sum(ops.Square(x), axis, keepdims=True)
        return ops.Mul(x, ops.Rsqrt(ops.Maximum(total, epsilon)), name=scope)


def zero_fraction(value, name=None) -> Tensor:
    """The part of the elements that are zero."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        zeros = ops.Equal(value, np.zeros((), value.dtype))
        return reduce_mean(math.cast(zeros, np.float32), name="fraction")


def xw_plus_b(x, weights, biases, name=None) -> Tensor:
    """x @ weights + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return bias_add(math.matmul(x, weights), biases, name=scope)


def relu_layer(x, weights, biases, name=None) -> Tensor:
    """relu(x @ weights + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return ops.Relu(bias_add(math.matmul(x, weights), biases), name=scope)


def embedding_lookup(
    params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None
):
    """Rows of a matrix, one for each of `ids`."""
    if isinstance(params, (list, tuple)):
        if len(params) != 1:
            raise NotImplementedError("embedding_lookup of several parts is not supported")
        params = params[0]
    if max_norm is not None:
        raise NotImplementedError("embedding_lookup with max_norm is not supported")
    with name_scope(name, "embedding_lookup", [ids]) as scope:
        return ops.Identity(array.gather(params, ids, name=scope))


def in_top_k(predictions, targets, k, name=None) -> Tensor:
    """Whether each target is among the `k` largest of its row."""
    return ops.InTopKV2(predictions, targets, k, name=name)


def top_k(input, k=1, sorted: bool = True, name=None) -> list[Tensor]:
    """The `k` largest elements of each row, and where they stand."""
    return array.top_k(input, k, sorted, name)


def fused_batch_norm(
    x,
    scale,
    offset,
    mean=None,
    variance=None,
    epsilon=0.001,
    data_format="NHWC",
    is_training: bool = True,
    name=None,
    exponential_avg_factor=1.0,
):
    """Batch normalisation, and the batch's mean and variance."""
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    empty = np.zeros(0, np.float32)
    outputs = ops.FusedBatchNormV3(
        x,
        scale,
        convert_to_tensor(offset, name="offset"),
        empty if mean is None else mean,
        empty if variance is None else variance,
        epsilon=max(epsilon, 1.001e-5),
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return outputs[:3]
