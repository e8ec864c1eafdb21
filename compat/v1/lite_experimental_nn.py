"""The names of `tf.lite.experimental.nn`."""

from ...facade import facade

HOMES = {"graph.functions.rnn.separate_gates": "TFLiteLSTMCell TfLiteRNNCell dynamic_rnn"}

__all__, __getattr__, __dir__ = facade(__name__, HOMES)
