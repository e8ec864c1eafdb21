"""Functions of sparse tensors: `tf.sparse`."""
