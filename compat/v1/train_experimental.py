"""The names of `tf.train.experimental`."""

from ...facade import facade

HOMES = {
    "training.loss_scale": "DynamicLossScale FixedLossScale LossScale",
    "training.mixed_precision": (
        "MixedPrecisionLossScaleOptimizer disable_mixed_precision_graph_rewrite "
        "enable_mixed_precision_graph_rewrite"
    ),
    "training.python_state": "PythonState",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
