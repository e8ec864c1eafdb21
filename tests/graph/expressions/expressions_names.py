"""Expressions of smaller names: sound, volumes' patches, filled rows, average losses."""

SOUND = "tf.stack([tf.tanh(a[0]), a[1] * 3.], 1)"
FILE = f"tf.audio.encode_wav({SOUND}, 8000)"
VOLUME = "tf.reshape(tf.range(48.), [1, 4, 3, 2, 2])"
FILLED = "tf.raw_ops.RaggedFillEmptyRows"

EXPRESSIONS = [
    f"tf.audio.decode_wav({FILE})",
    f"tf.audio.decode_wav({FILE}, 1, 2)",
    f"tf.audio.decode_wav({FILE}, desired_channels=3, desired_samples=6)",
    "tf.audio.encode_wav(tf.zeros([0, 2]), 44100)",
    f"tf.extract_volume_patches({VOLUME}, [1, 2, 2, 1, 1], [1, 2, 1, 1, 1], 'VALID')",
    f"tf.extract_volume_patches({VOLUME}, [1, 3, 2, 2, 1], [1, 2, 2, 1, 1], 'SAME')",
    (
        f"{FILLED}(value_rowids=tf.constant([0, 0, 3], tf.int64), values=[5, 6, 7], nrows=5,"
        " default_value=-1)"
    ),
    (
        f"{FILLED}(value_rowids=tf.constant([], tf.int64), values=tf.constant([], tf.string),"
        " nrows=2, default_value='x')"
    ),
    (
        "tf.raw_ops.RaggedFillEmptyRowsGrad(reverse_index_map=tf.constant([0, 1, 4], tf.int64),"
        " grad_values=[1., 2., 3., 4., 5.])"
    ),
    "tf.nn.compute_average_loss(a[0])",
    "tf.nn.compute_average_loss(a[:, 0], sample_weight=[1., 2., 0.], global_batch_size=6)",
    "tf.nn.compute_average_loss(a[:, 0], sample_weight=.5)",
    "tf.nn.compute_average_loss(a, sample_weight=[1., 2., 0.])",
    "tf.nn.scale_regularization_loss(a[0])",
    "tf.convert_to_tensor_or_indexed_slices([1, 2], tf.int64)",
    "tf.convert_to_tensor_or_indexed_slices(tf.IndexedSlices(a, [0, 1, 2])).values",
]
GRADIENTS = []
