"""The names of `tf.compat.v1.lite`; they are those of `flatlite.lite`."""

from ...lite import __all__ as __all__
from ...lite import __dir__ as __dir__
from ...lite import __getattr__ as __getattr__
