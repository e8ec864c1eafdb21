"""The names of `tf.summary`."""

from ...facade import facade
from .homes import SUMMARY

__all__, __getattr__, __dir__ = facade(__name__, SUMMARY)
