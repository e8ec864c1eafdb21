"""Expressions of gradients, and of functions whose gradients are recorded too."""

CUBE = "tf.reduce_sum(a ** 3) * tf.reduce_sum(tf.tanh(p))"
EXPRESSIONS = [
    f"tf.hessians({CUBE}, a)",
    f"tf.hessians({CUBE}, [a, p])",
    "tf.hessians([tf.reduce_sum(tf.matmul(a, p, transpose_b=True)), tf.reduce_prod(a)], a)",
    "tf.gradients(tf.gather(a * p, [0, 2, 0]) * 3., [a, p], aggregation_method=2)",
    "tf.gradients(a * p + a / p, [a, p], gate_gradients=True)",
    "tf.gradients([a * p, tf.exp(a)], [a, p, m], unconnected_gradients='zero')",
    "tf.gradients(a * tf.exp(p), [a, p], stop_gradients=[p])",
    "tf.convert_to_tensor(tf.gradients(tf.gather(a, [[2, 0], [2, 2]]), a)[0])",
]
"""What gives tensors."""

GRADIENTS = [
    "tf.custom_gradient(lambda x, y: (x * y, lambda dy: (dy * 100., dy * x)))(a, p)",
    "tf.recompute_grad(lambda x, y: tf.sin(x) * y)(a, p)",
    "tf.grad_pass_through(tf.floor)(a)",
    "tf.cond(a[0, 0] < 9., lambda: tf.exp(a) * p, lambda: a)",
    "tf.case([(a[0, 0] > 9., lambda: a), (p[0, 0] > 0., lambda: tf.square(a) * p)])",
    "tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.sin(x) * p), [0, a])[1]",
    "tf.scan(lambda x, y: tf.tanh(x * y) + y, a)",
    "tf.scan(lambda x, y: (x[0] * y, x[1] + x[0]), a, (p[0], a[1]))",
    "tf.map_fn(lambda x: (tf.reduce_sum(x[0] * x[1]), x[0]), (a, p))",
    "tf.foldl(lambda x, y: x * tf.sin(y), a)",
    "tf.foldr(lambda x, y: x / (1. + y * y), a, initializer=p[0])",
    "tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(a).gather([2, 0, 2])",
    "tf.TensorArray(tf.float32, 2).write(0, a).write(1, p).concat()",
    "tf.TensorArray(tf.float32, 2, infer_shape=False).split(a, [1, 2]).read(1)",
    "tf.TensorArray(tf.float32, 5).scatter([3, 0, 1], a).read(3) * p[0]",
]
"""What gives tensors, whose gradients by the inputs are recorded as well."""
