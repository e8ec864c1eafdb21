from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from .codegen import Codegen, CodeLibrary
from .types import Type

class Status:
    is_error: ir.Value

class CallConv:
    def get_function_type(self, restype: Type, argtypes: Sequence[Type]) -> ir.FunctionType: ...
    def call_function(
        self,
        builder: ir.IRBuilder,
        callee: ir.Function,
        resty: Type,
        argtys: Sequence[Type],
        args: Sequence[ir.Value],
    ) -> tuple[Status, ir.Value]: ...

class BaseContext:
    call_conv: CallConv
    def refresh(self) -> None: ...
    def make_tuple(
        self, builder: ir.IRBuilder, typ: Type, values: Sequence[ir.Value]
    ) -> ir.Value: ...
    def codegen(self) -> Codegen: ...
    def create_module(self, name: str) -> ir.Module: ...
    def get_value_type(self, ty: Type) -> ir.Type: ...
    def get_data_type(self, ty: Type) -> ir.Type: ...
    def get_abi_sizeof(self, ty: ir.Type) -> int: ...
    def get_dummy_value(self) -> ir.Value: ...
    def cast(
        self, builder: ir.IRBuilder, val: ir.Value, fromty: Type, toty: Type
    ) -> ir.Value: ...
    def insert_user_function(
        self, func: Any, fndesc: Any, libs: Sequence[CodeLibrary] = ()
    ) -> None: ...
