"""Python functions of a program, which a Session calls with arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema import errors
from ..functions.functional import PY_FUNCTIONS
from .hosted import hosted

if TYPE_CHECKING:
    from ..core.graph import Operation
    from ..core.protocols import DTypeAttr
    from .state import State


@hosted("PyFunc", "PyFuncStateless")
def py_func(op: Operation, state: State, *arrays: np.ndarray) -> np.ndarray | list[np.ndarray]:
    """What the function that was given to tf.py_func gives; one read from a file has none."""
    token = cast("bytes", op.get_attr("token")).decode()
    functions = op.graph.scopes.extras.get(PY_FUNCTIONS, {})
    function = cast("Callable[..., object] | None", functions.get(token))
    if function is None:
        words = f"callback {token} is not found: it was not made in this process"
        raise errors.UnknownError(None, op, f"KeyError: {words}")
    types = cast("list[DTypeAttr]", op.get_attr("Tout"))
    answer = function(*[array.copy() for array in arrays])
    if isinstance(answer, (list, tuple)):
        values = list(cast("Sequence[object]", answer))
    else:
        values = [] if answer is None else [answer]
    results = [_as_array(item, dtype) for item, dtype in zip(values, types, strict=False)]
    if len(values) != len(types):
        raise ValueError(
            f"{token} returns {len(values)} values, but expects to see {len(types)} values."
        )
    return results[0] if len(results) == 1 else results


def _as_array(item: object, dtype: DTypeAttr) -> np.ndarray:
    """One result in the type that was promised."""
    array = np.asarray(item)
    if dtype.hasobject:
        texts = np.empty(array.shape, object)
        for index, text in np.ndenumerate(array):
            texts[index] = text.encode() if isinstance(text, str) else bytes(text)
        return texts
    if array.dtype != dtype:
        raise ValueError(f"value is of type {array.dtype.name}, but expects {np.dtype(dtype).name}")
    return array
