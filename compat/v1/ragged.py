"""The names of `tf.ragged`."""

from ...facade import facade

HOMES = {
    "graph.functions.ragged.tensors": (
        "boolean_mask constant constant_value cross cross_hashed map_flat_values placeholder "
        "range=ragged_range "
        "row_splits_to_segment_ids segment_ids_to_row_splits stack stack_dynamic_partitions"
    ),
    "graph.core.composite.ragged_value": "RaggedTensorValue",
}

__all__, __getattr__, __dir__ = facade(__name__, HOMES)
