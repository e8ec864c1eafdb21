"""The names of `tf.feature_column`."""

from ...facade import facade

HOMES = {
    "training.feature_columns.categorical": (
        "categorical_column_with_hash_bucket categorical_column_with_identity "
        "categorical_column_with_vocabulary_file categorical_column_with_vocabulary_list "
        "crossed_column sequence_categorical_column_with_hash_bucket "
        "sequence_categorical_column_with_identity "
        "sequence_categorical_column_with_vocabulary_file "
        "sequence_categorical_column_with_vocabulary_list weighted_categorical_column"
    ),
    "training.feature_columns.embedding": (
        "embedding_column indicator_column shared_embedding_columns"
    ),
    "training.feature_columns.models": (
        "input_layer linear_model make_parse_example_spec sequence_numeric_column"
    ),
    "training.feature_columns.numeric": "bucketized_column numeric_column",
}
ABSENT = {"shared_embeddings": "take shared_embedding_columns, which TensorFlow 1 has"}
__all__, __getattr__, __dir__ = facade(__name__, HOMES, absent=ABSENT)
