"""`tf.graph_util`: parts of GraphDefs, and variables as constants."""

from ...facade import facade
from .homes import GRAPH_UTIL

__all__, __getattr__, __dir__ = facade(__name__, GRAPH_UTIL)
