"""Expressions of checks that hold, and of nests."""

ANY = "tf.placeholder_with_default(a, None)"
CHECKS = [
    "tf.assert_equal(a, a)",
    "tf.assert_less(a, 9.)",
    "tf.assert_positive(p)",
    "tf.assert_near(a, a + 1e-8)",
    f"tf.assert_rank({ANY}, tf.placeholder_with_default(2, None))",
    f"tf.assert_rank_in({ANY}, [1, 2])",
    f"tf.assert_rank_at_least({ANY}, 1)",
    "tf.assert_integer(i)",
    "tf.assert_type(a, tf.float32)",
    "tf.debugging.assert_shapes([(a, ('n', 'm')), (p, ('n', None)), (m, ('*', 'n', 3))])",
    f"tf.debugging.assert_shapes({{{ANY}: ('n', 'm'), p: ('n', 'm'), a[0, 0]: ()}})",
    f"tf.debugging.assert_shapes([({ANY}, (..., 'm')), (p[0], 'm'), (a[0, 0], (1,))])",
    "tf.debugging.assert_shapes([(tf.SparseTensor([[0, 1]], [1.], [3, 4]), (3, 'k'))])",
]
"""Operations."""
EXPRESSIONS = [
    *(f"tf.tuple([a], control_inputs=[{check}])[0]" for check in CHECKS),
    "tf.debugging.assert_all_finite(a, 'finite')",
    "tf.assert_scalar(3)",
    "tf.constant([tf.debugging.is_numeric_tensor(x) for x in (a, tf.constant('a'), 1., a > 0.)])",
    "tf.zeros([2], tf.assert_same_float_dtype([a, None], tf.float32))",
    "tf.zeros([2], tf.assert_same_float_dtype())",
    "tf.math.is_non_decreasing(tf.zeros([0]))",
    "tf.math.is_strictly_increasing([3.])",
    "tf.identity(tf.SparseTensor([[0, 1]], [1.], [3, 4]))",
    "tf.nest.flatten({'z': a, 'b': [p, (i, m)]})",
    "tf.nest.map_structure(lambda x, y: x * y, {'z': a, 'b': [p]}, {'b': [p], 'z': a})['b']",
    "tf.nest.pack_sequence_as({'z': 1, 'b': [1, 1]}, [a, p, i])['b']",
    "tf.nest.map_structure(tf.add, (a,), [p], check_types=False)",
    "tf.constant([tf.nest.is_nested(x) for x in ('ab', [1], {}, np.zeros(2), 3, (1,))])",
]
GRADIENTS: list[str] = []
