# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.mixed_precision`."""

from ...compat.v1 import train_experimental as experimental
from ...training.optimizers.loss_scale import DynamicLossScale as DynamicLossScale
from ...training.optimizers.loss_scale import FixedLossScale as FixedLossScale
from ...training.optimizers.loss_scale import LossScale as LossScale
from ...training.optimizers.mixed_precision import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
from ...training.optimizers.mixed_precision import disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite
from ...training.optimizers.mixed_precision import enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite
