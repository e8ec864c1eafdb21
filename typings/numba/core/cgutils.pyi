from collections.abc import Sequence

from llvmlite import ir

from .base import BaseContext
from .types import Array

def get_or_insert_function(module: ir.Module, fnty: ir.FunctionType, name: str) -> ir.Function: ...
def unpack_tuple(builder: ir.IRBuilder, tup: ir.Value, count: int | None = None) -> list[ir.Value]: ...
def get_item_pointer(
    context: BaseContext,
    builder: ir.IRBuilder,
    aryty: Array,
    ary: object,
    inds: Sequence[ir.Value],
    wraparound: bool = False,
    boundscheck: bool = False,
) -> ir.Value: ...
def normalize_ir_text(text: str) -> str: ...
