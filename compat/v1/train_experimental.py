"""The names of `tf.train.experimental`."""

from ...facade import facade

HOMES = {"training.python_state": "PythonState"}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
