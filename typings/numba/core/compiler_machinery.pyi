from collections.abc import Callable
from typing import Any, TypeVar

from .compiler import StateDict

C = TypeVar("C", bound=type)

class CompilerPass:
    _name: str
    analysis: Any
    def run_pass(self, state: StateDict) -> bool: ...

class PassManager:
    _analysis: Any
    def __init__(self, pipeline_name: str) -> None: ...
    def add_pass(self, pss: type[CompilerPass], description: str = "") -> None: ...
    def finalize(self) -> None: ...
    def _runPass(self, index: int, pss: CompilerPass, internal_state: StateDict) -> None: ...

def register_pass(mutates_CFG: bool, analysis_only: bool) -> Callable[[C], C]: ...
