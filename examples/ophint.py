"""A part of a graph becomes one operator of its own: python examples/ophint.py

A hand-written activation is marked with OpHint, converted to a custom operator with its constant
attribute, and run by a Python class: in the session, and in the interpreter.
"""

import numpy as np
from flatbuffers import flexbuffers

import flatlite.compat.v1 as tf


@tf.lite.custom_op("SoftClip")
class SoftClip:
    """x * scale, bent towards +-limit by a tanh."""

    def __init__(self, options):
        self.limit = flexbuffers.Loads(options)["limit"]

    def prepare(self, x, scale):
        return [(np.broadcast_shapes(x.shape, scale.shape), x.dtype)]

    def run(self, x, scale):
        return np.float32(self.limit) * np.tanh(x * scale / np.float32(self.limit))


def soft_clip(x, scale, limit):
    """The same with the graph's operations, marked as the function SoftClip."""
    hint = tf.lite.OpHint("SoftClip", limit=limit)
    x = hint.add_input(x, name="x")
    scale = hint.add_input(scale, name="scale")
    return hint.add_output(limit * tf.tanh(x * scale / limit), name="y")


def main():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        weights = tf.get_variable("w", initializer=tf.constant(np.eye(4, dtype=np.float32)))
        scale = tf.constant([0.5, 1.0, 2.0, 4.0])
        y = soft_clip(tf.matmul(x, weights), scale, limit=3.0)
        session.run(tf.global_variables_initializer())

        sample = np.float32([[-4, -1, 1, 4]])
        print("the graph:      ", session.run(y, {x: sample})[0])

        stubs = tf.lite.experimental.convert_op_hints_to_stubs(session)
        (stub,) = [node for node in stubs.node if node.op == "SoftClip"]
        print("its stub:       ", f"{stub.op}({', '.join(stub.input)})")

        converter = tf.lite.TFLiteConverter.from_session(session, [x], [y])
        converter.allow_custom_ops = True
        content = converter.convert()

    interpreter = tf.lite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    print("the operators:  ", [op["op_name"] for op in interpreter._get_ops_details()])
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
    interpreter.invoke()
    (output,) = interpreter.get_output_details()
    print("the interpreter:", interpreter.get_tensor(output["index"])[0])


if __name__ == "__main__":
    main()
