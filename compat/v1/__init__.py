"""The names of TensorFlow 1: `import flatlite.compat.v1 as tf`."""

from . import lite as lite

__all__ = ["lite"]
