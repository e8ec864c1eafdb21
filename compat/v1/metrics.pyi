# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.metrics`."""

from ...graph.functions.nn.metrics import accuracy as accuracy
from ...graph.functions.nn.metrics import false_negatives as false_negatives
from ...graph.functions.nn.metrics import false_positives as false_positives
from ...graph.functions.nn.metrics import mean as mean
from ...graph.functions.nn.metrics import mean_absolute_error as mean_absolute_error
from ...graph.functions.nn.metrics import mean_cosine_distance as mean_cosine_distance
from ...graph.functions.nn.metrics import mean_iou as mean_iou
from ...graph.functions.nn.metrics import mean_per_class_accuracy as mean_per_class_accuracy
from ...graph.functions.nn.metrics import mean_relative_error as mean_relative_error
from ...graph.functions.nn.metrics import mean_squared_error as mean_squared_error
from ...graph.functions.nn.metrics import mean_tensor as mean_tensor
from ...graph.functions.nn.metrics import percentage_below as percentage_below
from ...graph.functions.nn.metrics import precision as precision
from ...graph.functions.nn.metrics import recall as recall
from ...graph.functions.nn.metrics import root_mean_squared_error as root_mean_squared_error
from ...graph.functions.nn.metrics import true_negatives as true_negatives
from ...graph.functions.nn.metrics import true_positives as true_positives
from ...graph.functions.nn.metrics_at import auc as auc
from ...graph.functions.nn.metrics_at import false_negatives_at_thresholds as false_negatives_at_thresholds
from ...graph.functions.nn.metrics_at import false_positives_at_thresholds as false_positives_at_thresholds
from ...graph.functions.nn.metrics_at import precision_at_thresholds as precision_at_thresholds
from ...graph.functions.nn.metrics_at import recall_at_thresholds as recall_at_thresholds
from ...graph.functions.nn.metrics_at import sensitivity_at_specificity as sensitivity_at_specificity
from ...graph.functions.nn.metrics_at import specificity_at_sensitivity as specificity_at_sensitivity
from ...graph.functions.nn.metrics_at import true_negatives_at_thresholds as true_negatives_at_thresholds
from ...graph.functions.nn.metrics_at import true_positives_at_thresholds as true_positives_at_thresholds
from ...graph.functions.nn.metrics_at_k import average_precision_at_k as average_precision_at_k
from ...graph.functions.nn.metrics_at_k import precision_at_k as precision_at_k
from ...graph.functions.nn.metrics_at_k import precision_at_top_k as precision_at_top_k
from ...graph.functions.nn.metrics_at_k import recall_at_k as recall_at_k
from ...graph.functions.nn.metrics_at_k import recall_at_top_k as recall_at_top_k
from ...graph.functions.nn.metrics_at_k import sparse_average_precision_at_k as sparse_average_precision_at_k
from ...graph.functions.nn.metrics_at_k import sparse_precision_at_k as sparse_precision_at_k
