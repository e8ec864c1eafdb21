"""SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION."""

import numpy as np
from cases import OPTIMIZED, Case, Refuse, f32, floats


def softmax(beta):
    def expected(x):
        y = np.asarray(x, np.float64) * beta
        e = np.exp(y - y.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return expected


def log_softmax(x):
    y = np.asarray(x, np.float64)
    y = y - y.max(-1, keepdims=True)
    return y - np.log(np.exp(y).sum(-1, keepdims=True))


def l2_normalization(x):
    y = np.asarray(x, np.float64)
    return y / np.maximum(np.sqrt((y**2).sum(-1, keepdims=True)), 1e-6)


def local_response(radius, bias, alpha, beta):
    def expected(x):
        y = np.asarray(x, np.float64)
        channels = range(x.shape[-1])
        near = [[abs(i - j) <= radius for i in channels] for j in channels]
        return y * (bias + alpha * (y**2 @ np.array(near, np.float64))) ** -beta

    options = {"radius": radius, "bias": bias, "alpha": alpha, "beta": beta}
    return options, expected


def response(name, *numbers, channels=7, most=2, **extra):
    options, expected = local_response(*numbers)
    return Case(
        f"local_response/{name}", "LOCAL_RESPONSE_NORMALIZATION", options,
        [floats(1, 2, 3, channels, low=-most, high=most)], expected, rtol=1e-5,
        **{"oracle": OPTIMIZED, **extra},
    )  # fmt: skip


ONE = {"beta": 1.0}
CASES = [
    Case("softmax/rows", "SOFTMAX", ONE, [floats(3, 7, low=-9, high=9)], softmax(1)),
    Case("softmax/beta", "SOFTMAX", {"beta": 2.5}, [floats(2, 3, 7)], softmax(2.5)),
    Case("softmax/vector", "SOFTMAX", ONE, [floats(7)], softmax(1)),
    Case("softmax/far_apart", "SOFTMAX", ONE, [f32([[-300, 0, 88.5], [1e38, -1e38, 0]])],
         softmax(1), atol=0),
    Case("softmax/infinite", "SOFTMAX", ONE, [f32([[-np.inf, 0, 1], [-np.inf] * 3])],
         lambda x: np.stack([softmax(1)(x[0]), [np.nan] * 3])),
    Case("softmax/empty_batch", "SOFTMAX", ONE, [floats(0, 3)], lambda x: x),
    Case("softmax/empty_rows", "SOFTMAX", ONE, [floats(3, 0)], lambda x: x),
    Case("log_softmax/rows", "LOG_SOFTMAX", {}, [floats(3, 7, low=-9, high=9)], log_softmax),
    Case("log_softmax/vector", "LOG_SOFTMAX", {}, [floats(7)], log_softmax),
    Case("log_softmax/scalar", "LOG_SOFTMAX", {}, [f32(3)], lambda x: f32(0), oracle=None,
         why="LiteRT reads a size past the shape"),
    Case("l2_normalization/image", "L2_NORMALIZATION", {}, [floats(1, 2, 3, 5)], l2_normalization),
    Case("l2_normalization/vector", "L2_NORMALIZATION", {}, [floats(9)], l2_normalization),
    Case("l2_normalization/zero", "L2_NORMALIZATION", {}, [f32([[0, 0], [1e-7, 0]])],
         l2_normalization),
    *(
        response(f"wide_{str(beta).replace('.', '_')}", 3, 1.0, 0.5, beta, channels=53)
        for beta in (0.3, 0.5, 0.75, 1.0)
    ),
    response("beyond_squares", 2, 1.0, 0.5, 0.75, channels=33, most=1e22, oracle=None,
             why="LiteRT's squares are float32, which these are too large for"),
    response("near", 1, 1.0, 0.5, 0.5),
    response("usual", 2, 1.0, 1e-4, 0.75),
    response("all_channels", 9, 2.0, 0.3, 1.5),
    Refuse("softmax/scalar", "SOFTMAX", ONE, [f32(1)],
           "input must have 1 dimension or more, got a scalar"),
    Refuse("softmax/int8", "SOFTMAX", ONE, [np.zeros((1, 4), np.int8)],
           "int8 is not supported yet"),
    Refuse("l2_normalization/activation", "L2_NORMALIZATION",
           {"fused_activation_function": "RELU"}, [floats(2, 3)],
           "fused_activation_function must be NONE"),
    Refuse("local_response/rank", "LOCAL_RESPONSE_NORMALIZATION", {}, [floats(2, 3)],
           "input must have 4 dimensions, got shape (2, 3)"),
]  # fmt: skip
