"""Expressions of `tf.math.special`."""

NAMES = ["dawsn", "fresnel_cos", "fresnel_sin", "bessel_j0", "bessel_j1"]
POSITIVE = [f"bessel_{name}" for name in ("k0", "k0e", "k1", "k1e", "y0", "y1")]
POSITIVE += ["expint", "spence"]
WIDE = "tf.constant([-12., -8., -1., -0.25, 0., 0.5, 1.6, 2.5, 6., 8., 10.5, 40.], tf.float64)"
EDGES = "tf.constant([-1., -0.01, 0., np.inf, np.nan], tf.float64)"
EXPRESSIONS = [
    *(f"tf.math.special.{name}({WIDE})" for name in NAMES),
    *(f"tf.math.special.{name}(tf.abs({WIDE}))" for name in POSITIVE),
    *(f"tf.math.special.{name}({EDGES})" for name in NAMES + POSITIVE),
    *(
        f"tf.math.special.{name}(tf.cast(p, tf.float16))"
        for name in NAMES + POSITIVE
        if name.startswith("bessel")
    ),
    "tf.math.special.bessel_i0(a)",
    "tf.math.special.spence(tf.constant([0., 1., 2.]))",
    "tf.math.sobol_sample(2111, 5)",
    "tf.math.sobol_sample(3, 700, 5, tf.float64)",
    "tf.math.sobol_sample(7, 40, skip=33554000)",
    "tf.math.sobol_sample(2, 3, 2**30 - 9, tf.float64)",
]
GRADIENTS = [
    *(f"tf.math.special.{name}(3. * a)" for name in NAMES),
    *(f"tf.math.special.{name}(p)" for name in POSITIVE),
]
