"""Custom operators written in Python: a registry that sessions and interpreters look in.

    @custom_op("Affine")
    class Affine:
        def __init__(self, options):                # bytes of the operator's options; may be absent
            self.scale, self.shift = struct.unpack("<ff", options)

        def prepare(self, x):                       # may be absent, see below
            return [(x.shape, x.dtype)]

        def run(self, x):
            return x * self.scale + self.shift

`prepare` is given one object for each input (`shape`, `dtype`, `name`, and `value` when it is known
before the model runs; None for an omitted input) and returns (shape, dtype) of each result. Without
it the shapes are those of what `run` returns, which may then differ from one run to the next.
`run` is given one array for each input, which it must not change, and returns the result, or a
tuple or list of the results.

Where `run` is a kernel, numba compiles it and it becomes an instruction of the program:

    @custom_op("Affine")
    class Affine:
        def __init__(self, options): ...             # and prepare, which it must have, as above

        def arguments(self, x, out):                 # of the kernel, by name
            numbers = {"scale": self.scale, "shift": self.shift}
            return {"x": x.ravel(), "out": out.ravel(), "split": x.size, **numbers}

        @kernel("x:float32[1] out~x:float32[1] scale:float32 shift:float32")
        def run(x, out, scale, shift, first, last, fault):
            for i in range(first, last):
                out[i] = x[i] * scale + shift

The text declares the arguments (engine/build/declaration.py). `arguments` is given one buffer for
each input and each result; these have `shape`, `dtype`, `size`, `ndim`, `ravel`, `reshape` and
`view`. "split" says of how many items the kernel does those from `first` to `last`, all of them
where it is left out. A single number is given by its name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

Class = TypeVar("Class", bound=type)
F = TypeVar("F", bound=Callable[..., object])

_CUSTOM_OPS: dict[str, type] = {}


class CustomKernel(Generic[F]):
    """A function that numba compiles, with what it declares of its arguments.

    Attributes:
        function: as it was written.
        declaration, sets: as `kernel` takes them.
    """

    def __init__(self, function: F, declaration: str, sets: Mapping[str, Iterable[object]]):
        self.function = function
        self.declaration = declaration
        self.sets = {letter: tuple(dtypes) for letter, dtypes in sets.items()}
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: object) -> object:
        """Runs the function as it was written, without numba."""
        return self.function(*arguments)


def kernel(declaration: str, **sets: Iterable[object]) -> Callable[[F], CustomKernel[F]]:
    """Makes the decorated function, `run` of a custom operator's class, a kernel.

    Args:
        declaration: a word for each argument, `x:float32[2]` or `x:T[rows,*]` or `alpha:float32`;
            what the kernel writes has a name that begins with "out".
        **sets: the types that each letter stands for, `T=("float32", "int32")`.
    """
    if not isinstance(declaration, str) or not declaration:
        raise ValueError(f"a kernel's declaration must be a non-empty str, got {declaration!r}")
    return lambda function: CustomKernel(function, declaration, sets)


def has_kernel(cls: type) -> bool:
    """Whether the `run` of a custom operator's class is a kernel."""
    return isinstance(getattr(cls, "run", None), CustomKernel)


def custom_op(name: str) -> Callable[[Class], Class]:
    """Registers the decorated class as the custom operator `name`, in place of an earlier one.

    >>> @custom_op("Twice")
    ... class Twice:
    ...     def run(self, x):
    ...         return 2 * x
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"a custom operator's name must be a non-empty str, got {name!r}")

    def register(cls: Class) -> Class:
        if not callable(getattr(cls, "run", None)):
            raise ValueError(f"custom operator {name}: {cls!r} must be a class with a method run")
        for method in ("prepare", "arguments") if has_kernel(cls) else ():
            if not callable(getattr(cls, method, None)):
                raise ValueError(
                    f"custom operator {name}: {cls!r}, whose run is a kernel, must have a method "
                    f"{method}"
                )
        _CUSTOM_OPS[name] = cls
        return cls

    return register


def custom_op_of(name: str) -> type:
    """The class registered as `name`; raises LookupError when there is none."""
    if name not in _CUSTOM_OPS:
        raise LookupError(f"custom operator {name} is not registered; use custom_op({name!r})")
    return _CUSTOM_OPS[name]


def is_custom_op(name: str) -> bool:
    """Whether a custom operator of this name is registered."""
    return name in _CUSTOM_OPS


def make_custom_op(cls: type, options: bytes):
    """An instance of a custom operator's class for one operator of a model."""
    takes_options = cls.__init__ is not object.__init__
    return cls(options) if takes_options else cls()
