"""Writes the float model that record_aeq.py quantizes, and its samples, to aeq.

    PYTHONPATH=tests/support python tests/converter/quantize/make_aeq_model.py

A convolution, a depthwise one, a mean and two dense layers of random weights.
"""

from pathlib import Path

import building
import numpy as np

FOLDER = Path(__file__).parent / "aeq"


def float_model() -> bytes:
    """The float file."""
    rng = np.random.default_rng(5)
    b = building.Builder()

    def layer(kind, x, shape, weights, **options):
        n = weights[-1] if kind == "DEPTHWISE_CONV_2D" else weights[0]
        operands = [
            x,
            b.constant(f"{kind}{x}/weights", rng.normal(0, 0.4, weights).astype(np.float32)),
            b.constant(f"{kind}{x}/bias", rng.normal(0, 0.2, n).astype(np.float32)),
        ]
        return b.op(kind, operands, [b.tensor(f"{kind}{x}", shape)], **options)

    steps = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
    x = b.input("x", (1, 8, 8, 3))
    y = layer("CONV_2D", x, (1, 8, 8, 8), (8, 3, 3, 3), **steps, fused_activation_function=1)
    y = layer("DEPTHWISE_CONV_2D", y, (1, 8, 8, 8), (1, 3, 3, 8), **steps, depth_multiplier=1)
    axes = b.constant("axes", np.int32([1, 2]))
    y = b.op("MEAN", [y, axes], [b.tensor("mean", (1, 8))], keep_dims=False)
    y = layer("FULLY_CONNECTED", y, (1, 160), (160, 8), fused_activation_function=1)
    y = layer("FULLY_CONNECTED", y, (1, 5), (5, 160))
    y = b.op("SOFTMAX", [y], [b.tensor("y", (1, 5))], beta=1.0)
    signature = ("serving_default", {"x": x}, {"y": y}, 0)
    return building.save(b.outputs(y), signatures=[signature])


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "float.tflite").write_bytes(float_model())
    samples = np.random.default_rng(6).normal(0, 1, (12, 1, 8, 8, 3)).astype(np.float32)
    np.savez(FOLDER / "samples.npz", x=samples)
