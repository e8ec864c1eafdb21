"""TensorFlow's public functions that build operations; `flatlite.compat.v1` names them."""
