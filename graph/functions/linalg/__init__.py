"""Products, decompositions and equations of matrices: `tf.linalg`."""
