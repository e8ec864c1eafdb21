"""The part of numba that flatlite uses; what is compiled keeps the type it has in Python."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from .core import types as types
from .core.types import float32 as float32
from .core.types import float64 as float64
from .core.types import int8 as int8
from .core.types import int16 as int16
from .core.types import int32 as int32
from .core.types import int64 as int64
from .core.types import uint8 as uint8
from .core.types import uint16 as uint16
from .core.types import uint32 as uint32
from .core.types import uint64 as uint64

F = TypeVar("F", bound=Callable[..., Any])

cuda: Any
config: Any
_dynfunc: Any

@overload
def njit(function: F, /, **options: Any) -> F: ...
@overload
def njit(**options: Any) -> Callable[[F], F]: ...
