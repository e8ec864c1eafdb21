from .types import Type

class Signature:
    args: tuple[Type, ...]
    return_type: Type

class Context:
    def refresh(self) -> None: ...
