"""What functions of sparse tensors refuse, as function_errors has it."""

ERRORS = [
    (
        "tf.sparse_to_dense([[0, 1]], [2], 1)",
        "InvalidArgumentError",
        "output_shape has incorrect number of elements: 1 should be: 2",
    ),
    (
        "tf.sparse_to_dense([[1, 0], [0, 0]], [2, 2], [1, 1])",
        "InvalidArgumentError",
        "Use `tf.sparse.reorder` to create a correctly ordered copy.",
    ),
    (
        "tf.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1]], [1, 1], [1, 2]), m[:1, :1], [1])",
        "InvalidArgumentError",
        "Not enough time for target transition sequence (required: 2, available: 1)",
    ),
    (
        "tf.nn.ctc_loss(tf.SparseTensor([[0, 0]], [1], [2, 1]), m, [1, 1, 1])",
        "InvalidArgumentError",
        "Labels length is zero in batch 1",
    ),
    (
        "tf.nn.ctc_loss_v2(tf.SparseTensor([[0, 0]], [1], [1, 1]), m, None, [1])",
        "ValueError",
        "Argument `blank_index` must be provided when labels is a SparseTensor.",
    ),
    (
        "tf.sets.size(tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2]))",
        "InvalidArgumentError",
        "is out of order. Many sparse ops require sorted indices.",
    ),
    (
        "tf.sparse.add(SPARSE, tf.ones([3, 5]))",
        "InvalidArgumentError",
        "Dimension 1 does not equal",
    ),
    ("tf.sparse.add(a, a)", "TypeError", "At least one input should be SparseTensor"),
    ("tf.sparse.add(SPARSE, WIDER)", "ValueError", "Shapes (3, 4) and (3, 5) are incompatible"),
    (
        "tf.sparse.concat(0, [SPARSE, WIDER])",
        "InvalidArgumentError",
        "Input shapes must match: expected 4 for dimension 1 but got 5 at position 1",
    ),
    (
        "tf.sparse.reshape(SPARSE, [5, 5])",
        "ValueError",
        "Cannot reshape a tensor with 12 elements to shape [5, 5] (25 elements).",
    ),
    ("tf.sparse.reshape(SPARSE, [-1, -1])", "ValueError", "At most one dimension can be inferred"),
    (
        "tf.sparse.reshape(SPARSE, tf.placeholder_with_default([5, -1], [None]))",
        "InvalidArgumentError",
        "the requested shape requires a multiple of 5. input_shape=[3,4] output_shape=[5,",
    ),
    (
        "tf.sparse.reshape(SPARSE, tf.placeholder_with_default([5, 5], [None]))",
        "InvalidArgumentError",
        "Input to reshape is a tensor with 12 dense values, but the requested shape has 25",
    ),
    (
        "tf.sparse.reshape(SPARSE, tf.placeholder_with_default([-1, -1], [None]))",
        "InvalidArgumentError",
        "only one output dimension may be -1, not both 0 and 1",
    ),
    (
        "tf.sparse.split(sp_input=SPARSE, num_split=9, axis=0)",
        "InvalidArgumentError",
        "Input num_split should be between 1 and the splitting dimension size (3), got 9",
    ),
    (
        "tf.sparse.split(sp_input=SPARSE, num_split=2, axis=5)",
        "InvalidArgumentError",
        "Input axis should be in range [-2, 2), got 5",
    ),
    ("tf.sparse.split(SPARSE, 2, 1)", "ValueError", "Keyword arguments are required"),
    (
        "tf.sparse.slice(SPARSE, [0], [1])",
        "InvalidArgumentError",
        "Expected start to be a vector of length 2 but got length 1",
    ),
    (
        "tf.sparse.slice(SPARSE, [0, 0], [-1, 4])",
        "InvalidArgumentError",
        "Expected a non-negative size, got -1",
    ),
    (
        "tf.sparse.fill_empty_rows(tf.SparseTensor([[5, 0]], [1.], [3, 4]), 0.)",
        "InvalidArgumentError",
        "indices(0, 0) is invalid: 5 >= 3",
    ),
    (
        "tf.sparse.fill_empty_rows(SPARSE, [0.])",
        "ValueError",
        "Shape must be rank 0 but is rank 1",
    ),
    (
        "tf.sparse.to_dense(tf.SparseTensor([[2, 0], [1, 0]], [1., 2.], [3, 4]))",
        "InvalidArgumentError",
        "indices[1] = [1,0] is out of order. Many sparse ops require sorted indices.",
    ),
    (
        "tf.sparse.to_dense(tf.SparseTensor([[2, 0], [2, 0]], [1., 2.], [3, 4]))",
        "InvalidArgumentError",
        "indices[1] = [2,0] is repeated",
    ),
    (
        "tf.sparse_to_dense([1, 7], [3], [1., 2.])",
        "InvalidArgumentError",
        "indices[1] = [7] is out of bounds: need 0 <= index < [3]",
    ),
    (
        "tf.sparse_to_dense([1, 7], [3], [1., 2.], validate_indices=False)",
        "InvalidArgumentError",
        "Indices are not valid (out of bounds).  Shape: [3]",
    ),
    (
        "tf.sparse_to_dense([1, 2], [3], [1., 2., 3.])",
        "InvalidArgumentError",
        "sparse_values has incorrect shape [3], should be [] or [2]",
    ),
    (
        "tf.sparse.reduce_sum(SPARSE, 2)",
        "InvalidArgumentError",
        "Invalid reduction dimension 2, for input with 2 dimensions.",
    ),
    (
        "tf.sparse.softmax(tf.SparseTensor([[0]], [1.], [3]))",
        "InvalidArgumentError",
        "Input should have rank >= 2, but received shape",
    ),
    (
        "tf.sparse.sparse_dense_matmul(SPARSE, m[0])",
        "ValueError",
        "Dimensions must be equal, but are 4 and 3",
    ),
    (
        "tf.sparse.sparse_dense_matmul(tf.SparseTensor([[5, 0]], [1.], [3, 4]), tf.ones([4, 3]))",
        "InvalidArgumentError",
        "m (5) from index[0,0] out of bounds (>=3)",
    ),
    (
        "tf.sparse.reset_shape(SPARSE, [2, 2])",
        "ValueError",
        "Requested new_shape should have dimension sizes >= sp_input.shape.",
    ),
    ("tf.sparse.reset_shape(SPARSE, [4, 5, 6])", "ValueError", "Dimensions 3 and 2 are not compat"),
    ("tf.sparse.retain(SPARSE, [True])", "ValueError", "Dimensions 3 and 1 are not compatible"),
    (
        "SPARSE * tf.ones([3, 5])",
        "InvalidArgumentError",
        "broadcasts dense to sparse only; got incompatible shapes: [3,4] vs. [3,5]",
    ),
    ("tf.sparse.cross(['a'])", "TypeError", "All inputs must be Tensor or SparseTensor."),
    ("tf.edit_distance(SPARSE, [1])", "TypeError", "Truth must be a SparseTensor."),
    (
        "tf.edit_distance(SPARSE, tf.SparseTensor([[0]], [9.], [3]))",
        "ValueError",
        "Num elements of hypothesis_shape does not match truth_shape: 2 vs. 1",
    ),
    (
        "tf.sparse.bincount([[1, 1, 2]], axis=1)",
        "ValueError",
        "Unsupported value for argument axis=1",
    ),
]
"""Expression, type, words that the message holds."""
