from .ir import Block, FunctionIR

class VariableLifetime:
    def __init__(self, blocks: dict[int, Block]) -> None: ...

class PostProcessor:
    func_ir: FunctionIR
    def run(self, emit_dels: bool = False, extend_lifetimes: bool = False) -> None: ...
