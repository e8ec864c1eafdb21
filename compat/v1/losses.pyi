# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.losses`."""

from ...graph.functions.nn.weighted_losses import Reduction as Reduction
from ...graph.functions.nn.weighted_losses import absolute_difference as absolute_difference
from ...graph.functions.nn.weighted_losses import add_loss as add_loss
from ...graph.functions.nn.weighted_losses import compute_weighted_loss as compute_weighted_loss
from ...graph.functions.nn.weighted_losses import cosine_distance as cosine_distance
from ...graph.functions.nn.weighted_losses import get_losses as get_losses
from ...graph.functions.nn.weighted_losses import get_regularization_loss as get_regularization_loss
from ...graph.functions.nn.weighted_losses import get_regularization_losses as get_regularization_losses
from ...graph.functions.nn.weighted_losses import get_total_loss as get_total_loss
from ...graph.functions.nn.weighted_losses import hinge_loss as hinge_loss
from ...graph.functions.nn.weighted_losses import huber_loss as huber_loss
from ...graph.functions.nn.weighted_losses import log_loss as log_loss
from ...graph.functions.nn.weighted_losses import mean_pairwise_squared_error as mean_pairwise_squared_error
from ...graph.functions.nn.weighted_losses import mean_squared_error as mean_squared_error
from ...graph.functions.nn.weighted_losses import sigmoid_cross_entropy as sigmoid_cross_entropy
from ...graph.functions.nn.weighted_losses import softmax_cross_entropy as softmax_cross_entropy
from ...graph.functions.nn.weighted_losses import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy
