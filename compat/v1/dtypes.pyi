# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.dtypes`."""

from ...graph.core.dtype import DType as DType
from ...graph.core.dtype import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from ...graph.core.dtype import as_dtype as as_dtype
from ...graph.core.dtype import bfloat16 as bfloat16
from ...graph.core.dtype import bool as bool
from ...graph.core.dtype import complex128 as complex128
from ...graph.core.dtype import complex64 as complex64
from ...graph.core.dtype import double as double
from ...graph.core.dtype import float16 as float16
from ...graph.core.dtype import float32 as float32
from ...graph.core.dtype import float64 as float64
from ...graph.core.dtype import half as half
from ...graph.core.dtype import int16 as int16
from ...graph.core.dtype import int32 as int32
from ...graph.core.dtype import int64 as int64
from ...graph.core.dtype import int8 as int8
from ...graph.core.dtype import qint16 as qint16
from ...graph.core.dtype import qint32 as qint32
from ...graph.core.dtype import qint8 as qint8
from ...graph.core.dtype import quint16 as quint16
from ...graph.core.dtype import quint8 as quint8
from ...graph.core.dtype import resource as resource
from ...graph.core.dtype import string as string
from ...graph.core.dtype import uint16 as uint16
from ...graph.core.dtype import uint32 as uint32
from ...graph.core.dtype import uint64 as uint64
from ...graph.core.dtype import uint8 as uint8
from ...graph.core.dtype import variant as variant
from ...graph.functions.array.casting import cast as cast
from ...graph.functions.array.casting import saturate_cast as saturate_cast
from ...graph.functions.math.arithmetic import complex as complex
from ...graph.functions.math.special import as_string as as_string
