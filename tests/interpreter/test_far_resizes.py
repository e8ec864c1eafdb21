"""RESIZE_BILINEAR of integers to sizes where LiteRT's rounded scale leads behind the last pixel."""

import numpy as np
import pytest
from building import Builder, save
from running import answers

from flatlite.lite import Interpreter
from flatlite.schema.quantization import Quantization


def resized(x, size, **options):
    b = Builder()
    params = {"quantization": Quantization(np.float32([0.1]), np.int64([0]), 0)}
    dtype, shape = x.dtype.name.upper(), (len(x), *size, x.shape[3])
    ends = [b.input("x", x.shape, dtype, **params), b.tensor("y", shape, dtype, **params)]
    b.op("RESIZE_BILINEAR", [ends[0], b.constant("size", np.int32(size))], ends[1:], **options)
    return answers(Interpreter(model_content=save(b.outputs(ends[1]))), x)[0]


@pytest.mark.parametrize("option", ["half_pixel_centers", "align_corners", None])
@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize("axis", [1, 2])
def test_the_last_pixel_goes_on(axis, dtype, option):
    """LiteRT reads on, into the next row or behind the tensor."""
    x = np.random.default_rng(3).integers(-90, 90, (2, 5, 5, 3)).astype(dtype)
    options = {option: True} if option else {}
    sizes = [np.where(np.arange(2) == axis - 1, n, 4).tolist() for n in (7001, 1)]
    y, edge = (
        resized(images, size, **options).swapaxes(1, axis)
        for images, size in zip((x, np.take(x, [4], axis)), sizes, strict=True)
    )
    behind = y[:, 5700:]  # a step is 1 / 1024 of a pixel, of which there are 5
    np.testing.assert_array_equal(behind, np.broadcast_to(edge, behind.shape))
