"""A custom operator in machine code: python examples/custom_kernel.py

The activation Snake, x + sin(a x)**2 / a, is marked with OpHint, converted to a custom operator and
run by a kernel that numba compiles: an instruction among the others, whose items threads share.
"""

from math import sin

import numpy as np
from flatbuffers import flexbuffers

import flatlite.compat.v1 as tf
from flatlite.interpreter.profile import profile


@tf.lite.custom_op("Snake")
class Snake:
    """x + sin(a x)**2 / a"""

    def __init__(self, options):
        self.a = flexbuffers.Loads(options)["a"]

    def prepare(self, x):
        return [(x.shape, x.dtype)]

    def arguments(self, x, out):
        return {"x": x.ravel(), "out": out.ravel(), "a": self.a, "split": x.size}

    @tf.lite.kernel("x:float32[1] out~x:float32[1] a:float32")
    def run(x, out, a, first, last, fault):
        for i in range(first, last):
            wave = sin(a * x[i])
            out[i] = x[i] + wave * wave / a


def snake(x, a):
    """The same with the graph's operations, marked as the function Snake."""
    hint = tf.lite.OpHint("Snake", a=a)
    x = hint.add_input(x, name="x")
    return hint.add_output(x + tf.square(tf.sin(a * x)) / a, name="y")


def main():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [64, 256], name="x")
        y = tf.tanh(snake(x, a=0.5))
        converter = tf.lite.TFLiteConverter.from_session(session, [x], [y])
        converter.allow_custom_ops = True
        content = converter.convert()
        sample = np.linspace(-4, 4, 64 * 256, dtype=np.float32).reshape(64, 256)
        expected = session.run(y, {x: sample})
    interpreter = tf.lite.Interpreter(model_content=content, num_threads=2)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
    interpreter.invoke()
    output = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    print(f"from the graph's answer: {np.abs(output - expected).max():.1g}")
    for row in profile(interpreter):
        print(f"{row.kind}: {row.seconds * 1e6:.0f} us")


if __name__ == "__main__":
    main()
