"""Expressions of `tf.random`, whose numbers are TensorFlow's: uniform ones to the bit."""

SEEDS = ("[3, -7]", "[2**40, 1]", "[0, 0]")
EXPRESSIONS = [
    *(f"tf.random.stateless_uniform([3, 5], {seed})" for seed in SEEDS),
    *(f"tf.random.stateless_uniform([7], {seed}, dtype=tf.float64)" for seed in SEEDS),
    *(f"tf.random.stateless_uniform([7], {seed}, None, None, tf.int32)" for seed in SEEDS),
    *(f"tf.random.stateless_uniform([7], {seed}, None, None, tf.uint64)" for seed in SEEDS),
    "tf.random.stateless_uniform([7], [1, 2], -5, 2**40, tf.int64)",
    "tf.cast(tf.random.stateless_uniform([7], [1, 2], dtype=tf.float16), tf.float32)",
    "tf.random.stateless_truncated_normal([300], [9, 4])",
    "tf.random.split([4, 5], 3)",
    "tf.random.split(tf.constant([4, 5], tf.int64))",
    "tf.random.fold_in([4, 5], 9)",
    "tf.random.stateless_categorical([[-np.inf, 0., 1.], [2., 3., -9.]], 9, [1, 2])",
    "tf.random.stateless_multinomial(a, 5, [3, 4], tf.int32)",
    "tf.random.categorical(a, 6, seed=5)",
    "tf.multinomial(p, 3, seed=8, output_dtype=tf.int32)",
    "tf.random.stateless_poisson([50, 4], [1, 2], [0., .5, 9., 30.])",
    "tf.random.stateless_poisson([3], [1, 2], 200., tf.float64)",
    "tf.random_poisson([1., 12.], [40], seed=3)",
    "tf.random.poisson(tf.constant(4., tf.float64), [], tf.int64, seed=3)",
]
GRADIENTS = [
    "tf.random.stateless_gamma([5, 3, 4], [3, 4], p)",
    "tf.random.stateless_gamma([6], [3, 4], [1., .3, 2., 8., 1.5, 100.], 2.)",
    "tf.random_gamma([3], p, tf.exp(a), seed=4)",
    "tf.random.gamma([], p[0], dtype=tf.float32, seed=6)",
]
