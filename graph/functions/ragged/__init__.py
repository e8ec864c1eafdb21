"""Functions of ragged tensors: `tf.ragged`."""
