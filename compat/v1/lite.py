"""The names of `tf.compat.v1.lite`; but for the converter they are those of `flatlite.lite`."""

from ... import lite
from ...lite import __all__ as __all__
from ...lite import __dir__ as __dir__


def __getattr__(name: str):
    if name == "TFLiteConverter":
        from ...converter.converter_v1 import TFLiteConverter

        return TFLiteConverter
    return getattr(lite, name)
