# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.feature_column`."""

from ...training.feature_columns.categorical import categorical_column_with_hash_bucket as categorical_column_with_hash_bucket
from ...training.feature_columns.categorical import categorical_column_with_identity as categorical_column_with_identity
from ...training.feature_columns.categorical import categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file
from ...training.feature_columns.categorical import categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list
from ...training.feature_columns.categorical import crossed_column as crossed_column
from ...training.feature_columns.categorical import sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket
from ...training.feature_columns.categorical import sequence_categorical_column_with_identity as sequence_categorical_column_with_identity
from ...training.feature_columns.categorical import sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file
from ...training.feature_columns.categorical import sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list
from ...training.feature_columns.categorical import weighted_categorical_column as weighted_categorical_column
from ...training.feature_columns.embedding import embedding_column as embedding_column
from ...training.feature_columns.embedding import indicator_column as indicator_column
from ...training.feature_columns.embedding import shared_embedding_columns as shared_embedding_columns
from ...training.feature_columns.models import input_layer as input_layer
from ...training.feature_columns.models import linear_model as linear_model
from ...training.feature_columns.models import make_parse_example_spec as make_parse_example_spec
from ...training.feature_columns.models import sequence_numeric_column as sequence_numeric_column
from ...training.feature_columns.numeric import bucketized_column as bucketized_column
from ...training.feature_columns.numeric import numeric_column as numeric_column
