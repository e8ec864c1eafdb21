"""Functions outside of layers: keras.ops, and TensorFlow's in models of Keras 2."""
