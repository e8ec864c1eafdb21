"""The names of `tf.test` that need no framework of tests."""

from ...facade import facade

HOMES = {"graph.derivatives.gradient_checker": "compute_gradient compute_gradient_error"}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
