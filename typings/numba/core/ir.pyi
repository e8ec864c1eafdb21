from typing import Any

class Inst:
    def list_vars(self) -> list[Var]: ...
    def _rec_list_vars(self, val: Any) -> list[Var]: ...

class Var(Inst): ...
class Block: ...

class FunctionIR:
    blocks: dict[int, Block]
    is_generator: bool
    variable_lifetime: Any
    generator_info: Any
