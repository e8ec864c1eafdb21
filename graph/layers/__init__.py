"""The layers of `tf.layers`: variables in a scope, and what is computed with them."""
