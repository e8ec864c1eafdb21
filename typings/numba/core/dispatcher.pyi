from collections.abc import Sequence

from llvmlite import binding as llvm

from .types import Type
from .typing import Signature

class FunctionDescriptor:
    llvm_func_name: str

class Library:
    def linked(self) -> llvm.ModuleRef:
        """What flatlite's own library (engine/build/lowering.py) has."""

class CompileResult:
    signature: Signature
    library: Library
    fndesc: FunctionDescriptor

class Dispatcher:
    overloads: dict[Sequence[Type], CompileResult]
    def compile(self, sig: Sequence[Type]) -> object: ...
