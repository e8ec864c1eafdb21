# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""flatlite: TensorFlow Lite without TensorFlow."""

from . import compat as compat
from . import edit as edit
from . import errors as errors
from . import lite as lite
from . import litert as litert
from . import metadata as metadata
from . import micro as micro
from . import train as train
from .graph.core.dtype import DType as DType
from .graph.core.dtype import as_dtype as as_dtype
from .graph.core.dtype import bfloat16 as bfloat16
from .graph.core.dtype import bool as bool
from .graph.core.dtype import complex128 as complex128
from .graph.core.dtype import complex64 as complex64
from .graph.core.dtype import double as double
from .graph.core.dtype import float16 as float16
from .graph.core.dtype import float32 as float32
from .graph.core.dtype import float64 as float64
from .graph.core.dtype import half as half
from .graph.core.dtype import int16 as int16
from .graph.core.dtype import int32 as int32
from .graph.core.dtype import int64 as int64
from .graph.core.dtype import int8 as int8
from .graph.core.dtype import string as string
from .graph.core.dtype import uint16 as uint16
from .graph.core.dtype import uint32 as uint32
from .graph.core.dtype import uint64 as uint64
from .graph.core.dtype import uint8 as uint8

__version__: str
