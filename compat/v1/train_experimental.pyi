# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.train.experimental`."""

from ...training.loss_scale import DynamicLossScale as DynamicLossScale
from ...training.loss_scale import FixedLossScale as FixedLossScale
from ...training.loss_scale import LossScale as LossScale
from ...training.mixed_precision import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
from ...training.mixed_precision import disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite
from ...training.mixed_precision import enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite
from ...training.python_state import PythonState as PythonState
