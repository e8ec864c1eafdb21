"""`tf.version`: the versions of TensorFlow and its graphs that are followed here."""

from ...facade import facade
from .homes import VERSIONS

__all__, __getattr__, __dir__ = facade(__name__, VERSIONS)
