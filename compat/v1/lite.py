"""The names of `tf.compat.v1.lite`; but for the converter they are those of `flatlite.lite`."""

from ...facade import facade
from ...lite import HOMES, MODULES

ALONE = {
    "converter.api.converter_v1": "TFLiteConverter",
    "converter.api.toco": "TocoConverter toco_convert",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES, ALONE, modules=MODULES)
