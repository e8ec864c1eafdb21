"""Models whose tensors TensorFlow's converter names, by functions of TensorFlow 1 or flatlite."""

import numpy as np


def convolution(tf):
    x = tf.placeholder(tf.float32, (1, 5, 5, 3), name="input")
    y = tf.nn.conv2d(x, tf.ones([3, 3, 3, 40]), strides=[1, 1, 1, 1], padding="SAME")
    return [x], [tf.nn.relu(y, name="output")]


def products(tf):
    x = tf.placeholder(tf.float32, (2, 8), name="x")
    weights = tf.constant(np.linspace(-1, 1, 1024).reshape(8, 128).astype(np.float32), name="w")
    with tf.name_scope("second"):
        y = tf.matmul(tf.nn.relu(tf.matmul(x, weights)), tf.transpose(weights))
    return [x], [tf.identity(y, name="out")]


def images(tf):
    x = tf.placeholder(tf.float32, (1, 8, 8, 4), name="x")
    y = tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 4, 1]), [1, 1, 1, 1], "VALID", name="depth")
    return [x], [tf.nn.conv2d(y, tf.ones([1, 1, 4, 2]), [1, 2, 2, 1], "SAME", name="one")]


MODELS = {"convolution": convolution, "products": products, "images": images}
WAYS = ("float", "dynamic", "int8")


def names_of(model, way, tf, lite):
    """(name, dtype, shape) of the tensors of a model's file, by index."""
    with tf.Graph().as_default():
        inputs, outputs = MODELS[model](tf)
        converter = lite.TFLiteConverter.from_session(tf.Session(), inputs, outputs)
    if way != "float":
        converter.optimizations = [lite.Optimize.DEFAULT]
    if way == "int8":
        shape = [int(n) for n in inputs[0].shape]
        converter.representative_dataset = lambda: [[np.ones(shape, np.float32)]]
    interpreter = lite.Interpreter(model_content=converter.convert())
    return [
        [d["name"], np.dtype(d["dtype"]).name, d["shape"].tolist()]
        for d in interpreter.get_tensor_details()
    ]
