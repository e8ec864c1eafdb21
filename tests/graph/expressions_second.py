"""Gradients of gradients, where finite differences in 64 bits do not reach."""

IMAGE = "tf.reshape(tf.tile(a, [3, 2]) * tf.cast(tf.range(8), tf.float32), [2, 3, 4, 3])"
NORMALIZED = "tf.nn.fused_batch_norm({x}, p[0, :3], a[1, :3], {options})[0]"
TRAINED = {
    "last": "data_format='NHWC'",
    "used": "mean=a[2, :3], variance=p[1, :3], is_training=False",
}
RESULTS = [NORMALIZED.format(x=IMAGE, options=options) for options in TRAINED.values()]
EXPRESSIONS = [
    f"tf.gradients(tf.gradients(tf.square({normalized}), [a, p]), [a, p])" for normalized in RESULTS
]
EXPRESSIONS += [f"tf.gradients(tf.sin({normalized}), [a, p])" for normalized in RESULTS]
EXPRESSIONS += [
    "tf.gradients(tf.gradients(1. / p, [p])[0], [p])[0]",
]
GRADIENTS: list[str] = []
