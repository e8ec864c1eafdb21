"""Names of TensorFlow 2 that TF1 programs use, too: `import flatlite.compat.v2 as tf2`.

Of the modules here, `image` has what differs from TF1's; the rest of its names are TF1's.
"""

from ...facade import facade

MODULES = {"image": "compat.v2.image", "lite": "lite"}
__all__, __getattr__, __dir__ = facade(__name__, {}, modules=MODULES)
