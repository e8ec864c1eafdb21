"""What TF1 programs do with the shapes of tensors, given `tf`.

What TensorFlow makes of them is stored in shape_programs.json. Each expression gives what `repr`
shows.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np

EXPRESSIONS = (
    'repr(x)', 'str(x)', 'repr(u)', 'str(u)', 'repr(v)', 'x.shape', 'u.shape', 'v.shape',
    '"%s" % x.shape', '"%s %s" % (x.shape, 1)', 'f"{x.shape}"', 'isinstance(x.shape, tuple)',
    'x.shape == [None, 3]', 'x.shape == (None, 3)', '[None, 3] == x.shape',
    '(None, 3) == x.shape', 'x.shape != [None, 3]', 'x.shape == "ab"', 'x.shape != "ab"',
    'x.shape == 3.5', 'u.shape == None', 'u.shape == [2]', 'u.shape != [2]',
    'u.shape != u.shape', 'hash(x.shape) == hash((None, 3))', '{x.shape: 1}',
    'x.shape < [2, 3]', 'list(x.shape)', 'tuple(x.shape)', 'None in x.shape', '3 in x.shape',
    'x.shape[0]', 'x.shape[1]', 'x.shape[-1].value', 'x.shape[5]', 'x.shape[1:]', 'x.shape[:-1]',
    'tf.TensorShape([2, 3])[::2]', 'u.shape[0]', 'u.shape[1:3]', 'u.shape[3:1]', 'u.shape[1:]',
    'u.shape[::2]', 'len(x.shape)', 'len(u.shape)', 'list(u.shape)', 'bool(x.shape)',
    'bool(u.shape)', 'bool(tf.TensorShape([]))', '[1] + x.shape', '(1,) + x.shape',
    'x.shape + [1]', 'x.shape.concatenate(5)', 'x.shape.concatenate(u.shape)', 'x.shape.ndims',
    'x.shape.rank', 'u.shape.ndims', 'u.shape.dims', 'x.shape.dims', 'x.shape.as_list()',
    'u.shape.as_list()', 'x.shape.num_elements()', 'v.shape.num_elements()', 'x.shape.index(3)',
    'x.shape[1] / 2', 'x.shape[1] // 2', 'x.shape[1] * 2', '2 * x.shape[1]', 'x.shape[0] + 1',
    'range(x.shape[1])', 'int(x.shape[1])', 'int(x.shape[0])', 'np.zeros(x.shape[1:]).shape',
    'np.prod(x.shape[1:])', 'tf.zeros(x.shape[1:])', 'tf.zeros(x.shape)',
    'tf.reshape(x, [-1, x.shape[1]])', 'tf.shape(x)[0] * x.shape[1]',
    'x.shape.merge_with([2, None])', 'x.shape.merge_with([2, 4])', 'x.shape.with_rank(2)',
    'x.shape.with_rank(3)', 'x.shape.is_compatible_with([5, 3])', 'x.get_shape() == x.shape',
    'pickle.loads(pickle.dumps(x.shape))', 'copy.deepcopy(x.shape)', 'v.get_shape().ndims',
    'tf.SparseTensor([[0, 0]], [1], [2, 3]).shape',
    'x.shape.most_specific_compatible_shape([2, 3])',
)  # fmt: skip


def outcome(expression: str, names: dict) -> str:
    """What an expression gives, or its error."""
    try:
        return repr(eval(expression, names))
    except Exception as error:  # any that TensorFlow raises is an answer
        return f"{type(error).__name__}: {error}"


def outcomes(tf) -> dict[str, str]:
    """What all expressions give, with Dimensions and with numbers."""
    results = {}
    with tf.Graph().as_default():
        x, u = tf.placeholder(tf.float32, [None, 3], "x"), tf.placeholder(tf.float32, name="u")
        v = tf.Variable([1.0, 2.0], use_resource=False, name="v")
        names = {"tf": tf, "np": np, "x": x, "u": u, "v": v, "copy": copy, "pickle": pickle}
        for choose in (tf.enable_v2_tensorshape, tf.disable_v2_tensorshape):
            choose()
            for expression in EXPRESSIONS:
                results[f"{choose.__name__.partition('_')[0]} {expression}"] = outcome(
                    expression, names
                )
    return results
