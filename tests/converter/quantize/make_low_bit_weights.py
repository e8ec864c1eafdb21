"""Makes fake_quant/low_bit.json: what TensorFlow stores small fake-quantized weights in.

.venv-tensorflow/bin/python tests/converter/quantize/make_low_bit_weights.py
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

FILE = Path(__file__).parent / "fake_quant/low_bit.json"


def row(bits, low_bit):
    """The type and the scale of the weights of a CONV_2D in TensorFlow's file."""
    weights = np.random.default_rng(bits).uniform(-1, 1, (1, 1, 4, 3)).astype(np.float32)

    @tf.function(input_signature=[tf.TensorSpec((1, 2, 2, 4))])
    def function(x):
        filters = tf.quantization.fake_quant_with_min_max_args(weights, -1.0, 1.0, bits, True)
        return tf.nn.conv2d(x, filters, 1, "SAME")

    converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter._experimental_low_bit_qat = low_bit
    interpreter = tf.lite.Interpreter(
        model_content=converter.convert(),
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF,
    )
    (op,) = interpreter._get_ops_details()
    details = {detail["index"]: detail for detail in interpreter.get_tensor_details()}
    weights = details[op["inputs"][1]]
    scales = weights["quantization_parameters"]["scales"]
    return {
        "bits": bits,
        "low_bit": low_bit,
        "weights": weights.tolist(),
        "dtype": np.dtype(weights["dtype"]).name,
        "scale": float(scales[0]) if len(scales) else None,
    }


FILE.write_text(json.dumps([row(bits, flag) for bits in range(5, 9) for flag in (False, True)]))
