from collections.abc import Callable, Sequence

from llvmlite import ir

from ..core.base import BaseContext
from ..core.types import Array
from ..core.typing import Signature

class ArrayStruct:
    data: ir.Value
    def _getvalue(self) -> ir.Value: ...

def make_array(array_type: Array) -> Callable[..., ArrayStruct]: ...
def populate_array(
    array: ArrayStruct,
    data: ir.Value,
    shape: Sequence[ir.Value],
    strides: Sequence[ir.Value],
    itemsize: ir.Value,
    meminfo: ir.Value | None,
) -> ArrayStruct: ...
def load_item(
    context: BaseContext, builder: ir.IRBuilder, arrayty: Array, ptr: ir.Value
) -> ir.Value: ...
def store_item(
    context: BaseContext, builder: ir.IRBuilder, arrayty: Array, val: ir.Value, ptr: ir.Value
) -> ir.Value: ...
def getitem_arraynd_intp(
    context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Sequence[ir.Value]
) -> ir.Value: ...
def getitem_array_tuple(
    context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Sequence[ir.Value]
) -> ir.Value: ...
def setitem_array(
    context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Sequence[ir.Value]
) -> ir.Value: ...
