"""Each op type as a function: `tf.raw_ops`."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, cast

from ..core.create import create
from ..core.named_results import result_type
from ..core.signatures.signatures import REQUIRED, Argument, Signature, op_types, signature_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.graph import Operation, Tensor
    from ..core.protocols import AttrValue
    from ..core.typing import TensorLike

RENAMED = {
    "All": "reduction_indices=axis",
    "Any": "reduction_indices=axis",
    "EuclideanNorm": "reduction_indices=axis",
    "ExpandDims": "dim=axis",
    "Max": "reduction_indices=axis",
    "Mean": "reduction_indices=axis",
    "Min": "reduction_indices=axis",
    "Prod": "reduction_indices=axis",
    "Select": "t=x e=y",
    "Split": "split_dim=axis",
    "SplitV": "split_dim=axis",
    "Squeeze": "squeeze_dims=axis",
    "Sum": "reduction_indices=axis",
    "Where": "input=condition",
}
"""Parameters that TensorFlow names otherwise than the op's inputs and attributes: theirs=public."""


def raw_op_names() -> list[str]:
    """The op types that have a function."""
    return sorted(name for name in op_types() if not name.startswith("_"))


@functools.cache
def raw_op(kind: str) -> RawOp:
    """The function of op type `kind`; LookupError when there is no such op."""
    signature = signature_of(kind)
    if signature is None or kind.startswith("_"):
        raise LookupError(f"there is no op type '{kind}'")
    return RawOp(signature)


class RawOp:
    """A function of an op's inputs and attributes, all of them by keyword.

    It gives a tensor, or a list where the op declares one; a namedtuple of such where it declares
    several, and the operation where it declares none.

    Raises:
        TypeError: positional arguments, one that lacks or is not known; values of another kind.
        ValueError: the shapes of the inputs do not go together.
    """

    def __init__(self, signature: Signature) -> None:
        self._op = signature
        words = [word.partition("=") for word in RENAMED.get(signature.type, "").split()]
        self._public = {theirs: public for theirs, _, public in words}
        self._inputs = [argument.name for argument in signature.inputs]
        self._attrs = [name for name in signature.attrs if name not in signature.inferred]
        self._required = [name for name in self._attrs if name in signature.required]
        self.__name__ = self.__qualname__ = signature.function_name
        self.__doc__ = f"Adds an operation {signature.type} to the graph."
        self.__signature__ = inspect.Signature(list(self._parameters()))

    def _parameters(self) -> Iterator[inspect.Parameter]:
        """Inputs, attributes without a default, those with one, `name`."""
        for name in (*self._inputs, *self._required):
            yield self._parameter(name)
        for name in self._attrs:
            if name not in self._required:
                yield self._parameter(name, self._op.attrs[name].default)
        yield self._parameter("name", None)

    def _parameter(self, name: str, default: object = REQUIRED) -> inspect.Parameter:
        value = inspect.Parameter.empty if default is REQUIRED else default
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(self._public.get(name, name), kind, default=value)

    def __repr__(self) -> str:
        return f"<function {self.__name__}{self.__signature__}>"

    def __call__(
        self, *args: object, name: str | None = None, **arguments: TensorLike | AttrValue
    ) -> object:
        """Adds the operation; see the class."""
        keys = list(self.__signature__.parameters)
        if args:
            raise TypeError(
                f"{self.__name__} only takes keyword args (possible keys: {keys}). "
                "Please pass these args as kwargs instead."
            )
        for key in arguments:
            if key not in keys:
                raise TypeError(f"{self.__name__}() got an unexpected keyword argument '{key}'")
        for theirs in (*self._inputs, *self._required):
            if (key := self._public.get(theirs, theirs)) not in arguments:
                raise TypeError(
                    f"{self.__name__}() missing 1 required positional argument: '{key}'"
                )
        inputs = [arguments[self._public.get(theirs, theirs)] for theirs in self._inputs]
        attrs = {
            theirs: arguments[key]
            for theirs in self._attrs
            if (key := self._public.get(theirs, theirs)) in arguments
        }
        op = create(
            self._op.type,
            cast("list[TensorLike]", inputs),
            cast("dict[str, AttrValue]", attrs),
            name,
        )
        return self._results(op)

    def _results(self, op: Operation) -> object:
        tensors = iter(op.outputs)
        results = [_result(op, argument, tensors) for argument in self._op.outputs]
        if len(results) < 2:
            return results[0] if results else op
        fields = tuple(argument.name for argument in self._op.outputs)
        return result_type(self._op.type, fields)(*results)


def _result(op: Operation, argument: Argument, tensors: Iterator[Tensor]) -> Tensor | list[Tensor]:
    """What stands for one declared output."""
    if not argument.count and not argument.is_list:
        return next(tensors)
    return [next(tensors) for _ in argument.dtypes(op.get_attr)]
