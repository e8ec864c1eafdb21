"""The names of `tf.train.experimental`."""

from ...facade import facade

HOMES = {
    "training.optimizers.loss_scale": "DynamicLossScale FixedLossScale LossScale",
    "training.optimizers.mixed_precision": (
        "MixedPrecisionLossScaleOptimizer disable_mixed_precision_graph_rewrite "
        "enable_mixed_precision_graph_rewrite"
    ),
    "training.checkpoints.python_state": "PythonState",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
