"""The names of `tf.audio`."""

from ...facade import facade

HOMES = {"graph.functions.signal.audio": "decode_wav encode_wav"}

__all__, __getattr__, __dir__ = facade(__name__, HOMES)
