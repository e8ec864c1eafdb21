"""Expressions that functions refuse, with TensorFlow's type and leading words.

    python tests/graph/expressions/function_errors.py

runs them in an environment with TensorFlow and prints the rows that differ there.
"""

import sys

from argument_errors import ERRORS as ARGUMENT_ERRORS
from list_errors import ERRORS as LIST_ERRORS
from operator_errors import ERRORS as OPERATOR_ERRORS
from sparse_errors import ERRORS as SPARSE_ERRORS

RUNS = [
    ("D([1.0, 2.0]) + tf.ones([3])", "Incompatible shapes: [2] vs. [3]"),
    (
        "tf.matmul(D([[1.0]]), tf.ones([2, 3]))",
        "Matrix size-incompatible: In[0]: [1,1], In[1]: [2,3]",
    ),
    (
        "tf.reshape(D([1.0]), [4])",
        "Input to reshape is a tensor with 1 values, but the requested shape has 4",
    ),
    ("tf.reshape(D([1.0]), [4, -1])", "but the requested shape requires a multiple of 4"),
    (
        "tf.concat([D([[1.0]]), tf.ones([2, 2])], 0)",
        "ConcatOp : Dimension 1 in both shapes must be equal: shape[0] = [1,1] vs.",
    ),
    (
        "tf.stack([D([1.0]), tf.ones([2])])",
        "Shapes of all inputs must match: values[0].shape = [1] != values[1]",
    ),
    (
        "tf.nn.bias_add(D([[1.0] * 6]), tf.ones([3]))",
        "Must provide as many biases as the last dimension of the input tensor",
    ),
    (
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=D([1]), logits=tf.ones([2, 3]))",
        "logits and labels must have the same first dimension, got logits shape [2,3]",
    ),
    ("tf.ensure_shape(D([1.0]), [None, 3])", "is not compatible with expected shape [?,3]."),
    ("tf.matrix_diag_part(D([1.0]))", "input must be at least 2-dim, received shape: [1]"),
    ("tf.matrix_diag(D(1.0))", "diagonal must be at least 1-dim, received shape: []"),
    (
        "tf.transpose(D([1.0]), [1, 0])",
        "transpose expects a vector of size 1. But input(1) is a vector of size 2",
    ),
    ("tf.reduce_sum(D([1.0]), 3)", "Invalid reduction dimension (3 for input with 1 dimension(s)"),
    (
        "tf.nn.conv2d(D(np.ones([1, 2, 2, 4], np.float32)), tf.ones([1, 1, 3, 1]), 1, 'SAME')",
        "input depth must be evenly divisible by filter depth: 4 vs 3",
    ),
    (
        "tf.nn.fused_batch_norm(D(np.ones([1, 2, 2, 2], 'f4')), tf.ones([3]), tf.ones([3]))[0]",
        "scale must have the same number of elements as the channels of x, got 3 and 2",
    ),
    (
        "tf.where(D([1.0, 2.0]) > 1.5, tf.ones([3]), tf.ones([3]))",
        "Inputs to operation Select of type Select must have the same size and shape.",
    ),
    ("tf.one_hot([1], tf.cast(D(-3.0), tf.int32))", "depth must be non-negative, got: -3"),
]
"""Operands whose shapes are known in the run alone, and what the kernel says."""

ERRORS = [
    *((expr, "InvalidArgumentError", words) for expr, words in RUNS),
    *ARGUMENT_ERRORS,
    *LIST_ERRORS,
    *OPERATOR_ERRORS,
    *SPARSE_ERRORS,
    (
        "tf.io.decode_compressed('abc', 'ZLIB')",
        "DataLossError",
        "inflate() failed with error -3: incorrect header check",
    ),
    ("tf.io.decode_gif('abc')", "InvalidArgumentError", "Unknown image file format. One of JPEG,"),
    ("tf.cast('a', tf.float32)", "UnimplementedError", "Cast string to float is not supported"),
    (
        "tf.nn.conv2d_transpose(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 5, 3]), [1, 8, 8, 4], 2)",
        "InvalidArgumentError",
        "input depth must be evenly divisible by filter depth: 4 vs 5",
    ),
    (
        (
            "tf.raw_ops.QueueDequeueV2(handle=tf.FIFOQueue(1, tf.int32).queue_ref,"
            " component_types=[tf.int32], timeout_ms=10)"
        ),
        "InvalidArgumentError",
        "Timeout not supported yet.",
    ),
    (
        (
            "tf.raw_ops.BarrierTakeMany(handle=tf.raw_ops.Barrier(component_types=[tf.int32],"
            " shapes=[[]]), num_elements=1, component_types=[tf.int32], timeout_ms=10).indices"
        ),
        "InvalidArgumentError",
        "Timeout not supported yet.",
    ),
    ("tf.linalg.inv([[1., 2.], [2., 4.]])", "InvalidArgumentError", "Input is not invertible."),
    (
        "tf.linalg.solve([[1., 2.], [2., 4.]], [[1.], [2.]])",
        "InvalidArgumentError",
        "Input matrix is not invertible.",
    ),
    ("tf.linalg.lu([[1., 2.], [2., 4.]])", "InvalidArgumentError", "Input is not invertible."),
    ("tf.linalg.inv(tf.ones([2, 3]))", "ValueError", "Dimensions must be equal, but are 2 and 3"),
    ("tf.linalg.sqrtm(tf.ones([3]))", "ValueError", "Shape must be at least rank 2 but is rank 1"),
    (
        "tf.linalg.solve(tf.ones([2, 2]), tf.ones([3, 2]))",
        "ValueError",
        "Dimensions must be equal, but are 2 and 3",
    ),
    ("tf.linalg.norm([1., 2.], 'x')", "ValueError", "'ord' must be a supported vector norm, got x"),
    ("tf.linalg.norm([[1.]], 0)", "ValueError", "'ord' must be a supported vector norm, got 0"),
    (
        "tf.linalg.norm([[1.]], 3, (0, 1))",
        "ValueError",
        "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got 3",
    ),
    (
        "tf.linalg.norm([[1.]], axis=(0, 0))",
        "ValueError",
        "'axis' must be None, an integer, or a tuple of 2 unique integers, got (0, 0)",
    ),
    (
        "tf.linalg.pinv([[1, 2]])",
        "TypeError",
        "Input `a` must have `float`-like `dtype` (saw int32",
    ),
    (
        "tf.linalg.matrix_rank([1.])",
        "ValueError",
        "Input `a` must have at least 2 dimensions (saw: 1).",
    ),
    (
        "tf.linalg.lu_solve([[1.]], [[0]], [[1.]])",
        "ValueError",
        "`rank(lower_upper)` must equal `rank(perm) + 1`",
    ),
    (
        "tf.linalg.lu_solve([[1.]], [0], [1.])",
        "ValueError",
        "Input `rhs` must have at least 2 dimensions.",
    ),
    (
        "tf.linalg.lu_solve([[1.]], [0], [[1.], [2.]])",
        "ValueError",
        "`lower_upper.shape[-1]` must equal `rhs.shape[-1]`.",
    ),
    ("tf.linalg.lu_reconstruct([[1., 2.]], [0])", "ValueError", "`lower_upper` must be square."),
    (
        "tf.linalg.lu_reconstruct([1.], [0])",
        "ValueError",
        "Input `lower_upper` must have at least 2 dimensions.",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3]), tf.ones([1]))",
        "ValueError",
        "Expected diagonals to have rank at least 2, got 1",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([2, 4]), tf.ones([4]))",
        "ValueError",
        "Expected 3 diagonals got 2",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([5]))",
        "ValueError",
        "Expected number of left-hand sided and right-hand sides to be equal, got 4 and 5",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([2, 4, 5]))",
        "ValueError",
        "Expected the rank of rhs to be 1 or 2, got 3",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([2, 3, 4]), tf.ones([3, 4, 1]))",
        "ValueError",
        "Batch shapes (2,) and (3,) are incompatible",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([4]), 'x')",
        "ValueError",
        "Unrecognized diagonals_format: x",
    ),
    (
        "tf.linalg.tridiagonal_solve([a], tf.ones([4]), 'sequence')",
        "ValueError",
        "Expected diagonals to be a sequence of length 3.",
    ),
    (
        "tf.linalg.tridiagonal_solve([a[0], a[0, :2], a[0, :1]], tf.ones([2]), 'sequence')",
        "ValueError",
        "Expected superdiagonal to be have length 2 or 1, got 4.",
    ),
    (
        "tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([3]), 'matrix')",
        "ValueError",
        "Expected last two dimensions of diagonals to be same, got 4 and 3",
    ),
    (
        "tf.linalg.tridiagonal_solve(m, m, partial_pivoting=False, perturb_singular=True)",
        "ValueError",
        "partial_pivoting must be True if perturb_singular is.",
    ),
    (
        "tf.linalg.eigh_tridiagonal([1., 2.], [1.], select='x')",
        "ValueError",
        "'select must have a value in {'a', 'i', 'v'}.",
    ),
    (
        "tf.linalg.eigh_tridiagonal([1., 2.], tf.constant([1.], tf.float64))",
        "ValueError",
        "'alpha' and 'beta' must have the same type.",
    ),
    (
        "tf.gradients(tf.linalg.qr(m[:, :, :2], full_matrices=True)[0], m)",
        "NotImplementedError",
        "QrGrad not implemented when nrows > ncols and full_matrices is true",
    ),
    (
        "tf.gradients(tf.svd(m[:, :1], full_matrices=True)[2], m)",
        "NotImplementedError",
        "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True",
    ),
    (
        "tf.gradients(tf.linalg.lstsq(m, m, fast=False), m)",
        "ValueError",
        "Gradient not defined for fast=False",
    ),
    ("tf.assert_equal([1, 2], [1, 3])", "InvalidArgumentError", "Condition x == y did not hold"),
    (
        "tf.assert_less(tf.placeholder_with_default(i, None), 5, message='much')",
        "InvalidArgumentError",
        "assertion failed: [much] [Condition x < y did not hold element-wise:]",
    ),
    (
        "tf.Assert(tf.placeholder_with_default(False, None), [i, a, 'x', a[0, :3], True])",
        "InvalidArgumentError",
        "assertion failed: [[-9 4 -1...]...] [[",
    ),
    (
        "tf.Assert(tf.placeholder_with_default(False, None), [p[:2], np.float64(1 / 3)], 5)",
        "InvalidArgumentError",
        "...]...] [0.33333333333333331]",
    ),
    ("tf.assert_none_equal(1., [1., 3.], ['mine'])", "InvalidArgumentError", "mine"),
    ("tf.assert_greater([1], [2])", "InvalidArgumentError", "Condition x > y did not hold"),
    ("tf.assert_greater_equal([1], [2])", "InvalidArgumentError", "Condition x >= y did not hold"),
    ("tf.assert_less_equal([3], [2])", "InvalidArgumentError", "Condition x <= y did not hold"),
    (
        "tf.assert_positive([0], message='m')",
        "InvalidArgumentError",
        "Condition x > 0 did not hold",
    ),
    ("tf.assert_negative([0])", "InvalidArgumentError", "Condition x < 0 did not hold"),
    ("tf.assert_non_negative([-1])", "InvalidArgumentError", "Condition x >= 0 did not hold"),
    ("tf.assert_non_positive([1])", "InvalidArgumentError", "Condition x <= 0 did not hold"),
    ("tf.assert_near([1.], [1.1])", "InvalidArgumentError", "x and y not equal to tolerance rtol"),
    (
        "tf.verify_tensor_all_finite([np.inf], 'bad')",
        "InvalidArgumentError",
        "bad : Tensor had Inf",
    ),
    ("tf.debugging.assert_proper_iterable(a)", "TypeError", 'to be a "proper" iterable'),
    ("tf.debugging.assert_proper_iterable(3)", "TypeError", "to be iterable.  Found"),
    (
        "tf.assert_rank(a, 3, message='m')",
        "ValueError",
        "m.  Tensor Const:0 must have rank 3.  Received rank 2, shape (3, 4)",
    ),
    ("tf.assert_rank(a, [1])", "ValueError", "Rank must be a scalar."),
    ("tf.assert_rank(a, 2.)", "TypeError", "must be of type tf.int32; got tf.float32"),
    ("tf.assert_rank_at_least(a, 3)", "ValueError", "must have rank at least 3.  Received rank 2"),
    ("tf.assert_rank_in(a, [3, 1])", "ValueError", "must have rank in (3, 1).  Received rank 2"),
    (
        "tf.assert_rank(tf.placeholder_with_default(a, None), 1)",
        "InvalidArgumentError",
        "must have rank] [1] [Received shape: ]",
    ),
    (
        "tf.assert_rank_in(tf.placeholder_with_default(a, None), [1, 4])",
        "InvalidArgumentError",
        "must have rank in] [1] [4] [Received shape: ]",
    ),
    ("tf.assert_scalar(a)", "ValueError", "Expected scalar shape for Const:0, saw shape: (3, 4)."),
    (
        "tf.assert_integer(a)",
        "TypeError",
        'Expected "x" to be integer type.  Found: Const:0 of dtype',
    ),
    ("tf.assert_type(a, tf.int32)", "TypeError", "must be of type tf.int32; got tf.float32"),
    (
        "tf.assert_same_float_dtype([a, tf.constant(1., tf.float64)])",
        "ValueError",
        "must be of the same type",
    ),
    ("tf.assert_same_float_dtype([i])", "ValueError", "Expected floating point type, got"),
    (
        "tf.debugging.assert_shapes([(a, ('N', 'M')), (p, ('M', 'N'))])",
        "ValueError",
        "Specified by tensor Const",
    ),
    ("tf.debugging.assert_shapes([(a, (3, 5))])", "ValueError", "Specified explicitly.  Tensor"),
    ("tf.debugging.assert_shapes([(a, (3, ...))])", "ValueError", "specified shape index 1."),
    ("tf.debugging.assert_shapes([(a, 3)])", "ValueError", "Specified shape must be an iterable."),
    (
        "tf.debugging.assert_shapes([(tf.placeholder_with_default(a, [None, 4]), (2, 4))])",
        "InvalidArgumentError",
        "[must have size] [2] [Received shape: ]",
    ),
    (
        "tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32)",
        "ValueError",
        "argument `minval` and `maxval` must be both None or not None. Got `minval`=0 and",
    ),
    (
        "tf.random.stateless_uniform([2], [1, 2], dtype=tf.uint32)",
        "ValueError",
        "must be both None or not None.",
    ),
    (
        "tf.random.stateless_uniform([2], [1, 2], 0, 5, dtype=tf.uint32)",
        "ValueError",
        "Please don't use unsigned integers in this case.",
    ),
    ("tf.random.categorical(a, 2, tf.float32)", "ValueError", "Accepted dtypes are"),
    ("tf.random.categorical(a[0], 2)", "ValueError", "Shape must be rank 2 but is rank 1"),
    (
        "tf.random.stateless_categorical(a, -2, [1, 2])",
        "ValueError",
        "-2",
    ),
    (
        "tf.random.stateless_gamma([3], [1, 2], p)",
        "InvalidArgumentError",
        "Shape passed in must end with broadcasted shape",
    ),
    ("tf.signal.dct(a, 5)", "ValueError", "Types I, II, III and IV (I)DCT are supported."),
    ("tf.signal.dct(a, axis=0)", "NotImplementedError", "axis must be -1. Got: 0"),
    ("tf.signal.dct(a, n=0)", "ValueError", "n should be a positive integer or None"),
    ("tf.signal.dct(a, norm='x')", "ValueError", "Expected None or 'ortho', got: x"),
    ("tf.signal.dct(a, 1, norm='ortho')", "ValueError", "is not supported for the Type-I DCT."),
    ("tf.signal.dct(a[:, :1], 1)", "ValueError", "requires the dimension to be greater than one"),
    ("tf.signal.rfft(i)", "ValueError", "RFFT requires tf.float32 or tf.float64 inputs, got"),
    ("tf.signal.irfft(a)", "ValueError", "IRFFT requires tf.complex64 or tf.complex128 inputs"),
    ("tf.signal.mdct(a, 6)", "ValueError", "The frame length must be a multiple of 4."),
    ("tf.signal.vorbis_window(4, tf.int32)", "ValueError", "dtype must be a floating point type."),
    ("tf.nn.ctc_loss(a, p, [1])", "TypeError", "Expected argument `labels` to be a SparseTensor."),
    (
        "tf.nn.ctc_beam_search_decoder(m, [2, 2, 2], 1, 2)",
        "InvalidArgumentError",
        "requested more paths than the beam width.",
    ),
    (
        "tf.nn.ctc_greedy_decoder(m, [2, 2, 2], blank_index=4)",
        "InvalidArgumentError",
        "blank_index expected to be between -3 and 2 but was 4",
    ),
    (
        "tf.random.uniform_candidate_sampler([[9]], 1, 5, True, 4)",
        "InvalidArgumentError",
        "Sampler's range is too small.",
    ),
    (
        "tf.random.uniform_candidate_sampler([[9]], 1, 2, True, 4)",
        "InvalidArgumentError",
        "`true_candidate` out of range [0, 4), received 9",
    ),
    (
        "tf.random.fixed_unigram_candidate_sampler([[1]], 1, 2, True, 4)",
        "InvalidArgumentError",
        "Must provide either vocab_file or unigrams.",
    ),
    (
        "tf.nn.fractional_max_pool(tf.reshape(a, [1, 3, 4, 1]), [1., 1.2, 1.5, 1.], seed=3)",
        "InvalidArgumentError",
        "Both seed and seed2 should be 0 if deterministic is false.",
    ),
    (
        "tf.segment_sum(tf.ones([4, 2]), [-1, -1, 0, 0])",
        "InvalidArgumentError",
        "Segment id -1 out of range [0, 1), possibly because 'segment_ids' input is not sorted.",
    ),
    (
        "tf.segment_max(tf.ones([4, 2]), [0, 0, 1, 0])",
        "InvalidArgumentError",
        "segment ids are not increasing",
    ),
    (
        "tf.segment_mean(tf.ones([4, 2]), [0, 2, 1, 1])",
        "InvalidArgumentError",
        "segment ids are not increasing",
    ),
    (
        "tf.segment_prod(tf.ones([4, 2]), [0, 0, 0, -1])",
        "InvalidArgumentError",
        "segment ids must be >= 0",
    ),
    (
        "tf.segment_sum(tf.ones([4, 2]), [0, 1])",
        "InvalidArgumentError",
        "segment_ids should be the same size as dimension 0 of input.",
    ),
    ("tf.segment_sum(3., [0])", "ValueError", "Shape must be at least rank 1 but is rank 0"),
    ("tf.segment_sum(a, [[0], [1]])", "ValueError", "Shape must be rank 1 but is rank 2"),
    (
        "tf.ensure_shape(tf.placeholder_with_default(a, None), [None, 3, 3])",
        "InvalidArgumentError",
        "[3,4] is not compatible with expected shape [?,3,3].",
    ),
    ("tf.nest.pack_sequence_as([1, 2], [3])", "ValueError", "Could not pack sequence."),
    ("tf.nest.pack_sequence_as(1, [3, 4])", "ValueError", "The target structure is of type"),
    ("tf.nest.pack_sequence_as([1], 3)", "TypeError", "Attempted to pack value"),
    ("tf.nest.map_structure(3, [1])", "TypeError", "must be callable"),
    ("tf.nest.map_structure(max)", "ValueError", "Must provide at least one structure"),
    ("tf.nest.map_structure(max, 1, foo=3)", "ValueError", "Only valid keyword arguments"),
    ("tf.nest.assert_same_structure([1], (1,))", "TypeError", "same"),
    ("tf.nest.assert_same_structure([1], [1, [2]])", "ValueError", "same nested structure"),
    (
        "tf.strings.unicode_decode([b'b\\xe2c'], 'UTF-8', 'strict')",
        "InvalidArgumentError",
        "Invalid formatting on input string",
    ),
    ("tf.strings.ngrams(['a'], 0)", "ValueError", "All ngram_widths must be greater than 0"),
    ("tf.matrix_diag(1.)", "ValueError", "must be at least rank 1 but is rank 0"),
    ("tf.matrix_diag_part([1.])", "ValueError", "must be at least rank 2 but is rank 1"),
    ("tf.matrix_set_diag([1.], [1.])", "ValueError", "must be at least rank 2 but is rank 1"),
    ("tf.unravel_index([1], [2, 0])", "InvalidArgumentError", "dims cannot contain a dim of zero"),
    ("tf.concat([1, 2], 0)", "ValueError", "Can't concatenate scalars (use tf.stack instead)"),
    ("tf.transpose(a, [0, 7])", "ValueError", "7 is out of range of input rank"),
    ("tf.sort(a, axis=-4)", "ValueError", "of dimension 0 out of bounds"),
    (
        "tf.nn.conv2d(tf.ones([1, 1, 1, 1]), tf.ones([1, 0, 1, 1]), 1, 'SAME')",
        "InvalidArgumentError",
        "filter must not have zero elements",
    ),
    ("tf.strings.join([['a'], [['b']]])", "ValueError", "Shapes must be equal rank, but are 1 and"),
    ("tf.as_string(1., fill='ab')", "InvalidArgumentError", "Fill string must be one or fewer"),
    (
        "tf.quantization.quantize_and_dequantize_v2([1.], [0.], [1.], axis=10)",
        "ValueError",
        "Shape must be at least rank 11 but is rank 1",
    ),
    (
        "tf.fill(tf.placeholder_with_default(-2, None), 3.)",
        "InvalidArgumentError",
        "",
    ),
    ("tf.tensordot(a, p, [[0, 1]])", "ValueError", "`axes` must be an integer or have length 2"),
    ("tf.tensordot(a, p, 3)", "ValueError", "must not be larger than the number of dimensions"),
    ("tf.tensordot(a, p, -1)", "ValueError", "`axes` must be at least 0"),
    ("tf.one_hot([1], 3, 1., tf.constant(0))", "TypeError", "of on_value does not match dtype"),
    ("tf.placeholder(tf.float32, [-1])", "ValueError", "Dimension -1 must be >= 0."),
    (
        "tf.convert_to_tensor(tf.TensorShape([None]))",
        "ValueError",
        "Cannot convert a partially known TensorShape",
    ),
    (
        "tf.convert_to_tensor(tf.TensorShape([3]), tf.float32)",
        "TypeError",
        "Allowed dtypes are tf.int32",
    ),
    (
        "tf.unsorted_segment_sum(a, [[0, 1, 2]], 3)",
        "ValueError",
        "Dimensions must be equal, but are 3 and 1",
    ),
    ("tf.strings.substr('abc', 1, 1, unit='UTF8')", "ValueError", "unit"),
    (
        "tf.strings.substr(['abc'], [1], [1, 2])",
        "ValueError",
        "pos and len shapes must match: [1] vs. [2]",
    ),
    ("tf.string_split(['a'], ['b'])", "ValueError", "Shape must be rank 0 but is rank 1"),
    ("tf.as_string(1., scientific=True, shortest=True)", "InvalidArgumentError", "Cannot select"),
    (
        "tf.nn.max_pool(tf.ones([1, 1, 1, 1]), [1, 1, 2, 1], 1, 'VALID')",
        "ValueError",
        "Negative dimension size caused by subtracting 2 from 1",
    ),
]
"""Expression, type, words that the message holds."""

SPARSE = {
    "SPARSE": "tf.SparseTensor([[0, 1], [1, 0], [2, 3]], [1., 2., 3.], [3, 4])",
    "WIDER": "tf.SparseTensor([[0, 1]], [1.], [3, 5])",
}
"""Names in expressions -> what they stand for."""


def caught(tf, expr: str, inputs) -> tuple[list[str], str]:
    """The names of the error's classes, and its message."""
    import numpy as np

    try:
        with tf.Graph().as_default(), tf.Session() as session:
            tensors = {key: tf.constant(array) for key, array in inputs.items()}
            names = {"tf": tf, "np": np, **tensors}
            names["D"] = lambda value: tf.placeholder_with_default(value, None)
            names |= {key: eval(text, names) for key, text in SPARSE.items() if key in expr}
            session.run(eval(expr, names))
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__], str(error)
    return [], "no error"


if __name__ == "__main__":
    import expressions_edges
    import expressions_image
    import tensorflow.compat.v1 as tensorflow
    from make_expressions import INPUTS

    tensorflow.disable_v2_behavior()
    for expr, kind, words in [*ERRORS, *expressions_edges.ERRORS, *expressions_image.ERRORS]:
        kinds, message = caught(tensorflow, expr, INPUTS)
        if kind not in kinds or words not in message:
            sys.stdout.write(f"{expr}: {kinds[:1]} {message}\n")
