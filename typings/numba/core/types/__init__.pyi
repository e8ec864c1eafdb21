from collections.abc import Sequence
from typing import Any as AnyValue
from typing import overload

from ..typing import Signature

class Type:
    name: str
    def __call__(self, *arguments: Type) -> Signature: ...

class Number(Type): ...
class Boolean(Type): ...
class Literal(Type): ...

class Integer(Number):
    bitwidth: int
    @overload
    def __call__(self, *arguments: Type) -> Signature: ...
    @overload
    def __call__(self, value: float, /) -> int: ...

class Float(Number):
    bitwidth: int
    @overload
    def __call__(self, *arguments: Type) -> Signature: ...
    @overload
    def __call__(self, value: float, /) -> float: ...

class BaseTuple(Type):
    types: tuple[Type, ...]
    @classmethod
    def from_types(
        cls, tys: Sequence[Type], pyclass: type[tuple[int, ...]] | None = None
    ) -> BaseTuple: ...
    def __len__(self) -> int: ...

class Array(Type):
    dtype: Type
    ndim: int
    layout: str
    mutable: bool
    def __init__(
        self,
        dtype: Type,
        ndim: int,
        layout: str,
        readonly: bool = False,
        name: str | None = None,
        aligned: bool = True,
    ) -> None: ...
    def copy(
        self,
        dtype: Type | None = None,
        ndim: int | None = None,
        layout: str | None = None,
        readonly: bool | None = None,
    ) -> Array: ...

class ExternalFunction(Type):
    symbol: str
    sig: Signature
    def __init__(self, symbol: str, sig: Signature) -> None: ...
    def __call__(self, *arguments: AnyValue) -> AnyValue: ...

class Any(Type): ...

void: Type
none: Type
boolean: Boolean
intp: Integer
int8: Integer
int16: Integer
int32: Integer
int64: Integer
uint8: Integer
uint16: Integer
uint32: Integer
uint64: Integer
float32: Float
float64: Float

def unliteral(type: Type, /) -> Type: ...
