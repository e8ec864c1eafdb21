"""The converter of `tf.compat.v1.lite`."""

from __future__ import annotations

from ..sources.positions import TENSORFLOW
from . import converter


class TFLiteConverter(converter.TFLiteConverter):
    """`flatlite.lite.TFLiteConverter` with what TensorFlow 1 takes by default.

    `from_saved_model` converts "serving_default", or the only signature there is, unless told
    otherwise; inputs and outputs are at TensorFlow's positions, by tensor name, unless `io_order`
    says "source"; the metadata says API version 1.
    """

    _api_version = 1
    _io_order = TENSORFLOW
