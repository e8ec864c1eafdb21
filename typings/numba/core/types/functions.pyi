from collections.abc import Mapping

from . import Type
from ..typing import Context, Signature

class BaseFunction(Type):
    def get_call_type(
        self, context: Context, args: tuple[Type, ...], kws: Mapping[str, Type]
    ) -> Signature | None: ...

class Dispatcher(Type):
    def get_call_type(
        self, context: Context, args: tuple[Type, ...], kws: Mapping[str, Type]
    ) -> Signature | None: ...
