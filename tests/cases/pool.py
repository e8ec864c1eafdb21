"""AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D."""

import definitions
import numpy as np
from cases import Case, Refuse, f32, floats

KINDS = {
    "AVERAGE_POOL_2D": "average",
    "MAX_POOL_2D": "maximum",
    "L2_POOL_2D": "root_mean_square",
}
LARGEST = np.finfo(np.float32).max


def window(h, w, stride_h=1, stride_w=1, padding="SAME", **options):
    return {
        "filter_height": h, "filter_width": w, "stride_h": stride_h, "stride_w": stride_w,
        "padding": padding, **options,
    }  # fmt: skip


def pools(name, shape, *geometry, clamp=(-np.inf, np.inf), **options):
    """The case for each of the three operators."""
    options = window(*geometry, **options)
    size = options["filter_height"], options["filter_width"]
    stride = options["stride_h"], options["stride_w"]
    for op, kind in KINDS.items():

        def expected(x, kind=kind):
            y = definitions.pool(kind, x, size, stride, options["padding"])
            return np.clip(y, *clamp)

        x = floats(*shape, low=-3, high=9)
        yield Case(f"pool/{kind}_{name}", op, options, [x], expected, rtol=1e-5)


CASES = [
    *pools("2x2", (2, 6, 4, 3), 2, 2, 2, 2),
    *pools("same_border", (1, 7, 5, 3), 3, 3, 2, 2),
    *pools("same_even", (1, 5, 5, 17), 2, 4, 1, 1),
    *pools("valid", (1, 7, 8, 5), 3, 2, 2, 3, "VALID"),
    *pools("whole_image", (2, 7, 7, 33), 7, 7, 1, 1, "VALID"),
    *pools("larger_than_image", (1, 2, 3, 2), 5, 5, 1, 1),
    *pools("relu6", (1, 5, 5, 2), 2, 2, clamp=(0, 6), fused_activation_function="RELU6"),
    Case("pool/empty_batch", "AVERAGE_POOL_2D", window(2, 2), [floats(0, 4, 4, 2)],
         lambda x: np.zeros((0, 4, 4, 2))),
    Case("pool/far_too_small", "L2_POOL_2D", window(5, 2, padding="VALID"), [floats(1, 1, 3, 2)],
         lambda x: np.zeros((1, 0, 2, 2))),
    Case("pool/no_position", "MAX_POOL_2D", window(2, 2, padding="VALID"), [floats(1, 1, 1, 2)],
         lambda x: np.zeros((1, 0, 0, 2))),
    *(Case(f"pool/no_{name}", "AVERAGE_POOL_2D", window(3, 3, padding="VALID"),
           [np.zeros((1, *size, 2), np.float32)], lambda x, shape=shape: np.zeros(shape))
      for name, size, shape in (("row", (0, 5), (1, 0, 3, 2)), ("pixel", (0, 0), (1, 0, 0, 2)))),
    Case("pool/maximum_passes_over_nan", "MAX_POOL_2D", window(1, 2, padding="VALID"),
         [f32([np.nan, 1, np.nan, np.nan, 2]).reshape(1, 1, 5, 1)],
         lambda x: f32([1, 1, -LARGEST, 2]).reshape(1, 1, 4, 1)),
    Case("pool/average_of_nan_and_infinity", "AVERAGE_POOL_2D", window(1, 2, padding="VALID"),
         [f32([np.nan, 1, 3, np.inf]).reshape(1, 1, 4, 1)],
         lambda x: f32([np.nan, 2, LARGEST]).reshape(1, 1, 3, 1)),
    Refuse("pool/rank", "MAX_POOL_2D", window(2, 2), [floats(4, 4, 2)],
           "input must have 4 dimensions, got shape (4, 4, 2)"),
    Refuse("pool/stride", "MAX_POOL_2D", window(2, 2, 1, 0), [floats(1, 4, 4, 2)],
           "stride_w must be positive, got 0"),
    Refuse("pool/filter", "MAX_POOL_2D", window(2, 0), [floats(1, 4, 4, 2)],
           "filter must not be empty, got 0 along w"),
    *(
        Case(f"pool/plain_{dtype}_{op.lower()}", op, window(2, 3, padding="VALID"),
             [np.random.default_rng(9).integers(info.min, info.max, (1, 5, 6, 7), dtype)])
        for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D")
        for dtype, info in ((x, np.iinfo(x)) for x in ("int8", "uint8", "int16"))
    ),
    Refuse("pool/plain_activation", "MAX_POOL_2D",
           {**window(2, 2), "fused_activation_function": "RELU6"},
           [np.zeros((1, 4, 4, 2), np.int8)], "int8 without a scale takes no activation function"),
    Refuse("pool/plain_input", "MAX_POOL_2D", window(2, 2), [np.zeros((1, 4, 4, 2), np.int8)],
           "input has no scale, output has one", quantization={"out0": (0.5, 0)}),
]  # fmt: skip
