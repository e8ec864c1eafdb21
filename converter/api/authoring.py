"""`tf.lite.experimental.authoring`: functions of a running TensorFlow that say what of them has no
form in TFLite.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...schema.errors import ConverterError, UnsupportedOps
from .converter import TFLiteConverter

__all__ = ["CompatibilityError", "compatible"]

ERROR, WARNING = "COMPATIBILITY ERROR", "COMPATIBILITY WARNING"
CUSTOM = (
    "is(are) not natively supported by TensorFlow Lite. You need to provide a custom operator. "
    "https://www.tensorflow.org/lite/guide/ops_custom"
)
SELECT = (
    'require(s) "Select TF Ops" for model conversion for TensorFlow Lite. '
    "https://www.tensorflow.org/lite/guide/ops_select"
)


class CompatibilityError(Exception):
    """A function that does not convert, where `compatible` was told to raise."""


class Compatible:
    """A function of TensorFlow that is converted when it is first called.

    Args:
        target: what `tf.function` made.
        converter_target_spec: `target_spec` of the converter.
        converter_allow_custom_ops: `allow_custom_ops` of the converter.
        raise_exception: whether what does not convert is an error of the first call.
    """

    def __init__(
        self,
        target: Any,
        converter_target_spec: Any = None,
        converter_allow_custom_ops: bool | None = None,
        raise_exception: bool = False,
    ) -> None:
        functools.update_wrapper(self, target)
        self._function = target
        self._options: tuple[Any, bool | None, bool] = (
            converter_target_spec,
            converter_allow_custom_ops,
            raise_exception,
        )
        self._log: list[str] | None = None
        self._bound: weakref.WeakKeyDictionary[Any, Compatible] = weakref.WeakKeyDictionary()

    def __get__(self, instance: Any, owner: type) -> Compatible:
        """The method of an object, which is checked for each object."""
        if instance is None:
            return self
        if instance not in self._bound:
            method = self._function.__get__(instance, owner)
            self._bound[instance] = Compatible(method, *self._options)
        return self._bound[instance]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives; the first call also converts it and prints what is missing.

        Raises:
            CompatibilityError: something is missing, and `raise_exception` is set.
        """
        if self._log is None:
            self._check(self.get_concrete_function(*args, **kwargs))
        return self._function(*args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The concrete function of the decorated one."""
        return self._function.get_concrete_function(*args, **kwargs)

    def get_compatibility_log(self) -> list[str]:
        """What the first call printed; RuntimeError before it."""
        if self._log is None:
            raise RuntimeError("target compatibility isn't verified yet")
        return self._log

    def _check(self, function: Any) -> None:
        target_spec, allow_custom_ops, raises = self._options
        self._log = []
        try:
            converter = TFLiteConverter.from_concrete_functions([function], self._function)
            converter.verify = False
            if target_spec is not None:
                converter.target_spec = target_spec
            if allow_custom_ops is not None:
                converter.allow_custom_ops = allow_custom_ops
            converter.convert()
        except UnsupportedOps as error:
            self._log += _lines(error, function.graph) if error.missing else [f"{ERROR}: {error}"]
        except (ConverterError, ValueError) as error:
            self._log.append(f"{ERROR}: {error}")
        for message in self._log:
            print(message)
        if raises and self._log:
            raise CompatibilityError(f"CompatibilityException at {self._function!r}")


def _lines(error: UnsupportedOps, graph: Any) -> Iterator[str]:
    """What is said of operations, and where the program makes each kind of them."""
    custom = sorted(set(error.missing) - error.flex)
    for kinds, level, text in ((custom, ERROR, CUSTOM), (sorted(error.flex), WARNING, SELECT)):
        if not kinds:
            continue
        yield f"{level}: op '{', '.join(f'tf.{kind}' for kind in kinds)}' {text}"
        for kind in kinds:
            frames = _frames(graph, kind, error.missing[kind])
            yield f"Op: tf.{kind}\n" + "".join(f"  - {frame}\n" for frame in frames)


def _frames(graph: Any, kind: str, names: Iterable[str]) -> list[str]:
    """The lines of the user's program that made the first operation of a kind, innermost first."""
    operations = [op for op in graph.get_operations() if op.type == kind]
    operations.sort(key=lambda op: op.name not in names)
    if not operations:  # in a function that is called
        return [f"node '{name}'" for name in names]
    package = os.path.dirname(getattr(sys.modules.get("tensorflow"), "__file__", None) or "")
    frames = [f"{frame.filename}:{frame.lineno}" for frame in operations[0].traceback]
    return [frame for frame in reversed(frames) if not package or not frame.startswith(package)]


def compatible(
    target: Any = None, converter_target_spec: Any = None, **kwargs: Any
) -> Compatible | Callable[[Any], Compatible]:
    """Has a `tf.function` say, when it is first called, what of it has no form in TFLite.

    What flatlite writes with builtin operators has one, whether TensorFlow's converter does or not.

    Args:
        target: the function to decorate; without it the result is a decorator.
        converter_target_spec: `target_spec` of the converter.
        **kwargs: `converter_allow_custom_ops`, `allow_custom_ops` of the converter, and
            `raise_exception`, whether the first call raises CompatibilityError.
    """
    if target is None:
        return functools.partial(Compatible, converter_target_spec=converter_target_spec, **kwargs)
    return Compatible(target, converter_target_spec, **kwargs)
