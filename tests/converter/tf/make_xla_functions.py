"""Records graphs of XLA's operations, as exports of JAX have them, and what TensorFlow answers.

Run as `python tests/converter/tf/make_xla_functions.py` in an environment that has TensorFlow 2.21,
which compiles them with XLA. xla_functions.npz has the entries of graph_functions.npz.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops as ops
from tensorflow.compiler.tf2xla.python import xla
from tensorflow.compiler.xla import xla_data_pb2 as data
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

HERE = Path(__file__).parent
RNG = np.random.default_rng(12)


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def function(body, *specs):
    return tf.function(body).get_concrete_function(*specs)


F, WHOLE = tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)
ADD, MUL = function(lambda x, y: x + y, F, F), function(lambda x, y: x * y, F, F)
MAX, MIN = function(tf.maximum, F, F), function(tf.minimum, F, F)
SECOND = function(lambda x, y: y, F, F)


def dot(batch, contracting, dtype=tf.float32):
    numbers = data.DotDimensionNumbers(
        lhs_batch_dimensions=batch[0],
        rhs_batch_dimensions=batch[1],
        lhs_contracting_dimensions=contracting[0],
        rhs_contracting_dimensions=contracting[1],
    )
    return lambda x, y: ops.xla_dot_v2(
        lhs=x,
        rhs=y,
        dimension_numbers=numbers.SerializeToString(),
        precision_config=b"",
        preferred_element_type=dtype,
    )


LAYOUTS = {  # (batch, channels, spatial) of the input, (in, out, spatial) of the filters
    "nhwc": ((0, 3, [1, 2]), (2, 3, [0, 1]), (0, 3, [1, 2])),
    "nchw": ((0, 1, [2, 3]), (1, 0, [2, 3]), (0, 1, [2, 3])),
    "nwc": ((0, 2, [1]), (1, 2, [0]), (0, 2, [1])),
    "ndhwc": ((0, 4, [1, 2, 3]), (3, 4, [0, 1, 2]), (0, 4, [1, 2, 3])),
}


def conv(layout, strides, padding, lhs=None, rhs=None, groups=1, weights=None):
    x, w, y = LAYOUTS[layout]
    numbers = data.ConvolutionDimensionNumbers(
        input_batch_dimension=x[0],
        input_feature_dimension=x[1],
        input_spatial_dimensions=x[2],
        kernel_input_feature_dimension=w[0],
        kernel_output_feature_dimension=w[1],
        kernel_spatial_dimensions=w[2],
        output_batch_dimension=y[0],
        output_feature_dimension=y[1],
        output_spatial_dimensions=y[2],
    )
    ones = [1] * len(strides)

    def convolve(inputs, filters=weights):
        return ops.xla_conv_v2(
            lhs=inputs,
            rhs=filters,
            window_strides=strides,
            padding=padding,
            lhs_dilation=lhs or ones,
            rhs_dilation=rhs or ones,
            feature_group_count=groups,
            dimension_numbers=numbers.SerializeToString(),
            precision_config=b"",
            preferred_element_type=tf.float32,
        )

    return (lambda inputs: convolve(inputs)) if weights is not None else convolve


def gather(sizes, offset, collapsed, targets, axis, batching=((), ())):
    numbers = data.GatherDimensionNumbers(
        offset_dims=offset,
        collapsed_slice_dims=collapsed,
        start_index_map=targets,
        index_vector_dim=axis,
        operand_batching_dims=batching[0],
        start_indices_batching_dims=batching[1],
    )
    return lambda x, i: xla.gather(x, i, numbers, tf.constant(sizes))


def scatter(combine, windows, inserted, targets, axis):
    numbers = data.ScatterDimensionNumbers(
        update_window_dims=windows,
        inserted_window_dims=inserted,
        scatter_dims_to_operand_dims=targets,
        index_vector_dim=axis,
    )
    return lambda x, i, updates: xla.scatter(x, i, updates, combine, numbers)


def reduced(body, axes, start=0.0):
    return lambda x: ops.xla_variadic_reduce_v2(
        inputs=[x], init_values=[tf.constant(start)], dimensions_to_reduce=axes, reducer=body
    )[0]


def largest(value, index, other, place):
    is_other = other > value
    return tf.where(is_other, other, value), tf.where(is_other, place, index)


def arg_max(x):
    places = tf.broadcast_to(tf.range(7), tf.shape(x))
    return ops.xla_variadic_reduce_v2(
        inputs=[x, places],
        init_values=[tf.constant(-np.inf), tf.constant(0)],
        dimensions_to_reduce=[1],
        reducer=function(largest, F, WHOLE, F, WHOLE),
    )


def windows(body, kernel, strides, padding, start=0.0, dilations=None):
    ones = [1] * len(kernel)
    return lambda x: ops.xla_reduce_window(
        input=x,
        init_value=tf.constant(start),
        window_dimensions=kernel,
        window_strides=strides,
        base_dilations=ones,
        window_dilations=dilations or ones,
        padding=padding,
        computation=body,
    )


def sorted_by(body, axis, *specs):
    def sort(*operands):
        return ops.xla_variadic_sort(
            inputs=operands, dimension=axis, comparator=function(body, *specs), is_stable=True
        )

    return sort


def total_order(x):
    bits = tf.bitcast(x, tf.int32)
    mask = tf.bitcast(tf.bitwise.right_shift(bits, 31), tf.uint32)
    return tf.bitwise.bitwise_xor(
        bits, tf.bitcast(tf.bitwise.right_shift(mask, tf.constant(1, tf.uint32)), tf.int32)
    )


def body_of_loop(i, x):
    return i + 1, x * 1.5


MATRIX, CUBE, IMAGE = floats(5, 7), floats(2, 5, 7), floats(2, 9, 8, 3)
SAME = [[1, 1], [1, 1]]
INF = np.float32(np.inf)
TIES = np.float32([[3, 1, 3, -2, 0, 1], [0, 0, 5, 5, -1, 4]])
CASES = {
    "dot": (dot(([], []), ([1], [1])), [MATRIX, floats(4, 7)]),
    "dot/batch": (dot(([0], [1]), ([2], [0])), [CUBE, floats(7, 2, 3)]),
    "dot/outer": (dot(([], []), ([], [])), [floats(3), floats(2, 2)]),
    "dot/two": (dot(([], []), ([0, 2], [2, 1])), [CUBE, floats(3, 7, 2)]),
    "einsum": (lambda x, y: ops.xla_einsum(a=x, b=y, equation="ij,kj->ki"), [MATRIX, floats(3, 7)]),
    "conv": (conv("nhwc", [1, 2], SAME, weights=floats(3, 3, 3, 4)), [IMAGE]),
    "conv/computed": (conv("nhwc", [1, 1], SAME), [IMAGE, floats(3, 3, 3, 4)]),
    "conv/nchw": (
        conv("nchw", [2, 1], [[0, 1], [2, 0]], weights=floats(4, 3, 3, 2)),
        [floats(2, 3, 8, 7)],
    ),
    "conv/dilated": (
        conv("nhwc", [1, 1], [[2, 2], [0, 0]], rhs=[2, 3], weights=floats(3, 2, 3, 4)),
        [IMAGE],
    ),
    "conv/depthwise": (conv("nhwc", [1, 1], SAME, groups=3, weights=floats(3, 3, 1, 6)), [IMAGE]),
    "conv/groups": (
        conv("nhwc", [1, 1], SAME, groups=2, weights=floats(3, 3, 2, 6)),
        [floats(1, 6, 5, 4)],
    ),
    "conv/transposed": (
        conv("nhwc", [1, 1], [[1, 2], [2, 2]], lhs=[2, 2], weights=floats(3, 4, 3, 2)),
        [IMAGE],
    ),
    "conv/holes": (
        conv("nhwc", [1, 1], [[3, 4], [0, 0]], lhs=[2, 1], weights=floats(3, 4, 3, 2)),
        [IMAGE],
    ),
    "conv/line": (conv("nwc", [2], [[2, 0]], weights=floats(3, 3, 5)), [floats(2, 9, 3)]),
    "conv/space": (
        conv("ndhwc", [1, 1, 2], [[1, 1], [0, 0], [0, -1]], weights=floats(2, 2, 2, 3, 2)),
        [floats(1, 4, 4, 5, 3)],
    ),
    "pad": (lambda x: xla.pad(x, tf.constant(2.5), [1, 0], [0, 3], [0, 2]), [MATRIX]),
    "pad/less": (lambda x: xla.pad(x, tf.constant(0.0), [-1, 2], [-2, -3], [1, 0]), [MATRIX]),
    "gather/rows": (gather([1, 7], [1], [0], [0], 1), [MATRIX, np.int32([[3], [-1], [9]])]),
    "gather/columns": (gather([5, 1], [0], [1], [1], 1), [MATRIX, np.int32([[3], [0]])]),
    "gather/points": (
        gather([1, 1], [], [0, 1], [1, 0], 1),
        [MATRIX, np.int32([[3, 4], [6, 0], [9, 9]])],
    ),
    "gather/windows": (
        gather([2, 3], [1, 2], [], [0, 1], 1),
        [MATRIX, np.int32([[3, 4], [0, 1], [-3, 9]])],
    ),
    "gather/part": (gather([1, 3], [0], [0], [0], 1), [MATRIX, np.int32([[3], [1]])]),
    "gather/one": (gather([1, 2, 7], [0, 1], [0], [0, 1], 0), [CUBE, np.int32([1, 2])]),
    "gather/scalars": (gather([1, 7], [1], [0], [0], 1), [MATRIX, np.int32([4, 0, 1])]),
    "gather/batch": (
        gather([1, 1, 7], [1], [1], [1], 1, ([0], [0])),
        [CUBE, np.int32([[4], [2]])],
    ),
    "scatter/set": (
        scatter(SECOND, [1], [0], [0], 1),
        [MATRIX, np.int32([[3], [0], [5]]), floats(3, 7)],
    ),
    "scatter/add": (
        scatter(ADD, [1], [0], [0], 1),
        [MATRIX, np.int32([[3], [3], [-1]]), floats(3, 7)],
    ),
    "scatter/max": (
        scatter(MAX, [], [0, 1], [0, 1], 1),
        [MATRIX, np.int32([[3, 2], [0, 7], [4, 6]]), floats(3)],
    ),
    "scatter/windows": (
        scatter(ADD, [1, 2], [], [0, 1], 1),
        [MATRIX, np.int32([[3, 2], [0, 1], [4, 6]]), floats(3, 2, 3)],
    ),
    "scatter/columns": (
        scatter(SECOND, [0], [1], [1], 1),
        [MATRIX, np.int32([[2], [5]]), floats(5, 2)],
    ),
    "reduce/sum": (reduced(ADD, [0]), [MATRIX]),
    "reduce/start": (reduced(MUL, [0, 2], 3.0), [CUBE]),
    "reduce/least": (reduced(MIN, [1], np.inf), [MATRIX]),
    "reduce/function": (reduced(function(lambda x, y: x + y + x * y, F, F), [1]), [MATRIX / 9]),
    "reduce/argument": (arg_max, [MATRIX]),
    "window/max": (
        windows(MAX, [1, 3, 2, 1], [1, 2, 2, 1], [[0, 0], [1, 1], [0, 0], [0, 0]], -INF),
        [IMAGE],
    ),
    "window/sum": (
        windows(ADD, [1, 2, 2, 1], [1, 1, 1, 1], [[0, 0], [0, 1], [0, 1], [0, 0]]),
        [IMAGE],
    ),
    "window/running": (windows(ADD, [1, 7], [1, 1], [[0, 0], [6, 0]]), [MATRIX]),
    "window/back": (windows(ADD, [5, 1], [1, 1], [[0, 4], [0, 0]]), [MATRIX]),
    "window/product": (windows(MUL, [2, 3], [1, 2], [[0, 0], [1, 1]], 1.0, [2, 1]), [MATRIX]),
    "sort": (lambda x: ops.xla_sort(input=x), [MATRIX]),
    "sort/pairs": (lambda x, y: ops.xla_key_value_sort(keys=x, values=y), [MATRIX, floats(5, 7)]),
    "sort/less": (sorted_by(lambda x, y: x < y, 0, F, F), [MATRIX]),
    "sort/ties": (
        sorted_by(lambda x, y, i, j: x < y, 1, F, F, WHOLE, WHOLE),
        [TIES, np.arange(12, dtype=np.int32).reshape(2, 6)],
    ),
    "sort/lexical": (
        sorted_by(lambda x, y, v, w: (x > y) | ((x == y) & (v < w)), 1, F, F, F, F),
        [TIES, floats(2, 6)],
    ),
    "sort/total": (sorted_by(lambda x, y: total_order(x) < total_order(y), 1, F, F), [MATRIX]),
    "helper": (
        lambda x, y: ops.xla_broadcast_helper(lhs=x, rhs=y, broadcast_dims=[0])[1] * x,
        [MATRIX, floats(5)],
    ),
    "compiler": (
        lambda x: ops.xla_optimization_barrier(input=[ops.xla_sharding(input=x)])[0] * 2,
        [MATRIX],
    ),
    "loop": (
        lambda x: ops.xla_while(
            input=[tf.constant(0), x],
            cond=function(lambda i, x: i < 3, WHOLE, tf.TensorSpec([5, 7])),
            body=function(body_of_loop, WHOLE, tf.TensorSpec([5, 7])),
        )[1],
        [MATRIX],
    ),
}


def main():
    recorded = {}
    for name, (body, inputs) in CASES.items():
        specs = [tf.TensorSpec(x.shape, x.dtype) for x in inputs]
        compiled = tf.function(body, jit_compile=True)
        results = tf.nest.flatten(compiled(*map(tf.constant, inputs)))
        concrete = tf.function(body).get_concrete_function(*specs)
        frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
        graph = frozen.graph.as_graph_def()
        recorded[f"{name}/graph"] = np.frombuffer(graph.SerializeToString(), np.uint8)
        ends = ([x.name for x in side] for side in (frozen.inputs, frozen.outputs))
        recorded[f"{name}/ends"] = np.array("|".join(",".join(names) for names in ends))
        recorded |= {f"{name}/in/{i}": x for i, x in enumerate(inputs)}
        recorded |= {f"{name}/out/{i}": x.numpy() for i, x in enumerate(results)}
    np.savez_compressed(HERE / "xla_functions.npz", **recorded)


if __name__ == "__main__":
    main()
