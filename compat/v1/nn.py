"""The names of `tf.nn`: activations, convolutions, pools, losses, normalisations."""

from .homes import NN, namespace

__all__, __getattr__, __dir__ = namespace(__name__, NN)
