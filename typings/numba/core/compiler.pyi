from typing import Any

from .base import BaseContext
from .codegen import CodeLibrary
from .compiler_machinery import PassManager

class StateDict(dict[str, Any]):
    targetctx: BaseContext
    library: CodeLibrary
    cr: Any
    flags: Any

class CompilerBase:
    state: StateDict
    def __init__(self, *arguments: Any) -> None: ...
    def define_pipelines(self) -> list[PassManager]: ...
