"""`typing.NamedTuple`, `Generic` and `TypeVar` for modules that every start imports.

A class costs a quarter of the time. What they leave out is what nobody here asks of one: types of
fields and parameters at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Generic as Generic
    from typing import NamedTuple as NamedTuple
    from typing import TypeVar as TypeVar
else:
    from operator import itemgetter

    class Generic:
        """Base of classes with parameters, which only type checkers tell apart."""

        __slots__ = ()

        def __class_getitem__(cls, parameters):
            return cls

    def TypeVar(name, **_):
        """What stands for a parameter."""
        return name

    _ELEMENTS = [property(itemgetter(i)) for i in range(16)]

    class _Maker(type):
        """Gives a class a property for each annotation, of at most 16."""

        def __new__(cls, name, bases, namespace):
            fields = tuple(namespace.get("__annotations__", ()))
            namespace["_field_defaults"] = {k: namespace.pop(k) for k in fields if k in namespace}
            namespace["_fields"] = namespace["__match_args__"] = fields
            namespace["__slots__"] = ()
            namespace.update(zip(fields, _ELEMENTS[: len(fields)], strict=True))
            return super().__new__(cls, name, bases, namespace)

    class NamedTuple(tuple, metaclass=_Maker):
        """Base of classes whose annotations are the names of a tuple's elements."""

        def __new__(cls, *values, **named):
            """A tuple of the fields, by position or name; raises TypeError unless these fit."""
            if named or len(values) != len(cls._fields):
                values = cls._complete(values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _complete(cls, values, named):
            fields = cls._fields
            by_name = {**cls._field_defaults, **dict(zip(fields, values, strict=False)), **named}
            is_clear = len(values) <= len(fields) and named.keys().isdisjoint(fields[: len(values)])
            if not is_clear or by_name.keys() != {*fields}:
                raise TypeError(
                    f"{cls.__name__} has the fields {', '.join(fields)}; got {len(values)} by "
                    f"position and {', '.join(named) or 'none'} by name"
                )
            return [by_name[field] for field in fields]

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, **named):
            return type(self)(**{**self._asdict(), **named})

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            pairs = zip(self._fields, self, strict=True)
            return (
                f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"
            )
