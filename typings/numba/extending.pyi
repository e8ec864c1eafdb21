from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from .core.types import Type
from .core.typing import Context, Signature

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

def intrinsic(
    function: Callable[Concatenate[Context, P], tuple[Signature, Callable[..., Any]]], /
) -> Callable[..., int]: ...
def lower_builtin(function: Any, *types: type[Type]) -> Callable[[F], F]: ...
def register_model(type_: type[Type]) -> Callable[[C], C]: ...
