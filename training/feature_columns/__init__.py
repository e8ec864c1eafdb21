"""Columns of features as the inputs of models: `tf.feature_column`."""
