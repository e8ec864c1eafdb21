"""Names of other versions of TensorFlow: `v1` has TF1's, `v2` some of TF2's."""

from ..facade import facade

MODULES = {"v1": "compat.v1", "v2": "compat.v2"}
__all__, __getattr__, __dir__ = facade(__name__, {}, modules=MODULES)
