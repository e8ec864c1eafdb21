"""Names of TensorFlow that flatlite leaves out, and what a program takes instead.

A module's facade says it in the AttributeError, so that `hasattr` is False as for any other name.
"""

_EAGER = "flatlite is TensorFlow 1: build a graph and run it in a tf.Session"
_KERAS = (
    "make and train the model with Keras; flatlite.lite.TFLiteConverter.from_keras_model_file "
    "converts it and flatlite.lite.to_graph trains it further"
)
_CONTRIB = "TensorFlow has no tf.contrib since 1.15; see the names of tf.nn, tf.layers and tf.train"
_LIBRARIES = "flatlite runs no C++ of TensorFlow's; write the operation as tf.py_func or custom_op"
_TPU = "flatlite has no TPU system; tf.tpu.shard computes the same on this machine"

V0 = {
    "DeadlineExceededError": "tf.errors.DeadlineExceededError",
    "GradientDescent": "tf.train.GradientDescentOptimizer",
    "GradientDescentOptimizer": "tf.train.GradientDescentOptimizer",
    "MonitoredSession": "tf.train.MonitoredSession",
    "Relu": "tf.nn.relu",
    "batch_matmul": "tf.matmul",
    "complex_abs": "tf.abs",
    "decode_png": "tf.image.decode_png",
    "embedding_lookup_sparse": "tf.nn.embedding_lookup_sparse",
    "exponential_decay": "tf.train.exponential_decay",
    "inv": "tf.reciprocal",
    "listdiff": "tf.setdiff1d",
    "mul": "tf.multiply",
    "neg": "tf.negative",
    "pack": "tf.stack",
    "replica_device_setter": "tf.train.replica_device_setter",
    "select": "tf.where",
    "sub": "tf.subtract",
    "unpack": "tf.unstack",
    "zero_fraction": "tf.nn.zero_fraction",
}
"""Names of TensorFlow 0.x, and short ones that its documents use -> the name since 1.0."""

ROOT = {
    **{name: f"it is {new} since TensorFlow 1.0" for name, new in V0.items()},
    "CriticalSection": "one Session's steps run their writes in the order of control_dependencies",
    "GradientTape": f"take tf.gradients; {_EAGER}",
    "Module": "keep variables in a tf.variable_scope, or in a tf.layers layer",
    "autograph": "write tf.cond and tf.while_loop",
    "contrib": _CONTRIB,
    "enable_eager_execution": _EAGER,
    "enable_tensor_equality": "compare tensors with tf.equal",
    "enable_v2_behavior": _EAGER,
    "estimator": "TensorFlow has no tf.estimator since 2.16; see tf.train.MonitoredTrainingSession",
    "function": _EAGER,
    "keras": _KERAS,
    "load_file_system_library": _LIBRARIES,
    "load_library": _LIBRARIES,
    "load_op_library": _LIBRARIES,
    "profiler": "run with tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)",
    "sysconfig": _LIBRARIES,
    "wrap_function": _EAGER,
}
DISTRIBUTE: dict[str, str] = dict.fromkeys(
    ("MirroredStrategy", "OneDeviceStrategy", "Strategy", "get_strategy", "has_strategy"),
    "strategies belong to TensorFlow 2; take tf.train.replica_device_setter and "
    "tf.train.SyncReplicasOptimizer",
)
TPU: dict[str, str] = dict.fromkeys(
    (
        *("CrossShardOptimizer", "batch_parallel", "core", "cross_replica_sum", "experimental"),
        *("initialize_system", "outside_compilation", "replicate", "rewrite", "shutdown_system"),
    ),
    _TPU,
)
TRAIN: dict[str, str] = dict.fromkeys(
    ("sdca_fprint", "sdca_optimizer", "sdca_shrink_l1"),
    "take tf.train.FtrlOptimizer, which trains linear models with L1 and L2, and "
    "tf.strings.to_hash_bucket_fast",
)
