"""FULLY_CONNECTED and BATCH_MATMUL."""

import numpy as np
from cases import Case, Refuse, floats


def wide(x):
    return np.asarray(x, np.float64)


def rows(x, weights, bias=None):
    """Without keep_num_dims: `x` cut into rows of the weights' depth."""
    depth = weights.shape[1]
    y = wide(x).reshape(x.size // depth if depth else x.shape[0], depth) @ wide(weights).T
    return y if bias is None else y + bias.ravel()


def keeping_dims(x, weights, bias=None):
    return rows(x, weights, bias).reshape(*x.shape[:-1], weights.shape[0])


def connected(name, x, weights, bias=None, keep=False, constants=(1, 2), **extra):
    inputs = [floats(*x), floats(*weights, seed=1)] + ([floats(*bias, seed=2)] if bias else [])
    constants = [i for i in constants if i < len(inputs)]
    expected = keeping_dims if keep else rows
    return Case(
        f"fully_connected/{name}", "FULLY_CONNECTED", {"keep_num_dims": keep}, inputs, expected,
        constants=constants, rtol=1e-5, atol=2e-6, **extra,
    )  # fmt: skip


def batches(name, x, y, adj_x=False, adj_y=False, constants=()):
    def expected(x, y):
        left = np.swapaxes(wide(x), -1, -2) if adj_x else wide(x)
        right = np.swapaxes(wide(y), -1, -2) if adj_y else wide(y)
        return left @ right

    return Case(
        f"batch_matmul/{name}", "BATCH_MATMUL", {"adj_x": adj_x, "adj_y": adj_y},
        [floats(*x), floats(*y, seed=1)], expected, constants=constants, rtol=1e-5, atol=2e-6,
    )  # fmt: skip


CASES = [
    connected("plain", (3, 5), (4, 5)),
    connected("bias", (3, 5), (4, 5), (4,)),
    connected("bias_as_row", (3, 5), (4, 5), (1, 4)),
    connected("flattens", (2, 3, 5), (4, 5), (4,)),
    connected("flattens_across", (3, 2, 2), (3, 4), (3,)),
    connected("from_vector", (5,), (4, 5), (4,)),
    connected("keep", (2, 3, 5), (4, 5), (4,), keep=True),
    connected("keep_vector", (5,), (4, 5), keep=True),
    connected("one_unit", (7, 33), (1, 33), (1,)),
    connected("tall", (37, 9), (18, 9), (18,)),
    connected("deep", (2, 1003), (6, 1003), (6,)),
    connected("weights_at_run_time", (3, 5), (4, 5), (4,), constants=()),
    connected("constant", (3, 5), (4, 5), (4,), constants=(0, 1, 2)),
    connected("empty_batch", (0, 5), (4, 5), (4,)),
    connected("empty_depth", (3, 0), (4, 0)),
    connected("empty_depth_bias", (3, 0), (4, 0), (4,), keep=True, oracle=None,
              why="LiteRT leaves the bias out"),
    Case("fully_connected/omitted_bias", "FULLY_CONNECTED", {},
         [floats(3, 5), floats(4, 5, seed=1), None], lambda x, w, b: rows(x, w), constants=(1,),
         rtol=1e-5, atol=2e-6),
    Case("fully_connected/relu", "FULLY_CONNECTED", {"fused_activation_function": "RELU"},
         [floats(3, 5), floats(4, 5, seed=1)], lambda x, w: np.maximum(rows(x, w), 0),
         constants=(1,), rtol=1e-5, atol=2e-6),
    batches("plain", (3, 5), (5, 4)),
    batches("batch", (2, 3, 5), (2, 5, 4)),
    batches("repeats_left", (3, 5), (4, 5, 2)),
    batches("repeats_right", (4, 3, 5), (1, 5, 2), constants=(1,)),
    batches("repeats_both", (2, 1, 3, 5), (4, 5, 2)),
    batches("adj_x", (2, 5, 3), (2, 5, 4), adj_x=True),
    batches("adj_y", (2, 3, 5), (2, 4, 5), adj_y=True),
    batches("adj_both", (1, 5, 3), (2, 4, 5), adj_x=True, adj_y=True),
    batches("many_rows", (2, 35, 5), (5, 17)),
    batches("rank5", (1, 2, 1, 3, 5), (2, 1, 5, 2)),
    batches("empty_batch", (0, 3, 5), (5, 2)),
    batches("empty_depth", (3, 0), (0, 2)),
    Refuse("fully_connected/weights_rank", "FULLY_CONNECTED", {}, [floats(3, 5), floats(4, 5, 1)],
           "weights must have 2 dimensions, got shape (4, 5, 1)"),
    Refuse("fully_connected/bias_size", "FULLY_CONNECTED", {},
           [floats(3, 5), floats(4, 5), floats(5)],
           "bias must have 4 elements, one a unit, got shape (5,)"),
    Refuse("fully_connected/remainder", "FULLY_CONNECTED", {}, [floats(3, 4), floats(4, 5)],
           "input must divide into rows of 5, as in the weights, got shape (3, 4)"),
    Refuse("fully_connected/keep_last", "FULLY_CONNECTED", {"keep_num_dims": True},
           [floats(5, 2), floats(4, 5)],
           "last dimension of the input must be 5, as in the weights, got shape (5, 2)"),
    Refuse("fully_connected/activation", "FULLY_CONNECTED", {"fused_activation_function": "TANH"},
           [floats(3, 5), floats(4, 5)],
           "fused_activation_function must be one of NONE, RELU, RELU_N1_TO_1, RELU6, got TANH"),
    Refuse("fully_connected/int8_weights", "FULLY_CONNECTED", {},
           [floats(3, 5), np.zeros((4, 5), np.int8)], "weights must have a scale"),
    Refuse("fully_connected/shuffled", "FULLY_CONNECTED", {"weights_format": "SHUFFLED4x16INT8"},
           [floats(3, 5), floats(4, 5)], "shuffled weights are for uint8 times uint8 to int16, got "
           "float32 times float32 to float32"),
    Refuse("batch_matmul/vector", "BATCH_MATMUL", {}, [floats(5), floats(5, 2)],
           "left input must have 2 dimensions or more, got shape (5,)"),
    Refuse("batch_matmul/depth", "BATCH_MATMUL", {}, [floats(2, 5), floats(4, 2)],
           "inner dimensions must agree, got 5 and 4 in (2, 5) and (4, 2)"),
    Refuse("batch_matmul/batches", "BATCH_MATMUL", {}, [floats(2, 2, 5), floats(3, 5, 2)],
           "batch dimensions must be equal or 1, got (2, 2, 5) and (3, 5, 2)"),
    Refuse("batch_matmul/int8", "BATCH_MATMUL", {},
           [np.zeros((2, 5), np.int8), np.zeros((5, 2), np.int8)],
           "'in0' must have one positive scale"),
]  # fmt: skip
