"""TF's names of element types: `tf.float32` and its like."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from ...schema import dtypes

if TYPE_CHECKING:
    from .protocols import MaybeDType
    from .typing import DTypeLike


class DType:
    """An element type under TensorFlow's name; numpy takes it wherever it takes a dtype.

    There is one object for each type. It equals numpy's types and names of the type, and has what
    numpy's dtypes have (`kind`, `itemsize`, `type`) beside what TensorFlow's have. A reference to a
    type, whose name ends in "_ref" and whose number is 100 more, is a type of its own.

    Attributes:
        dtype: The numpy dtype.
        name: TensorFlow's name.

    >>> import numpy as np
    >>> np.zeros(2, DType("int8")).dtype, DType("uint8").limits
    (dtype('int8'), (0, 255))
    >>> DType("float32") is DType(np.float32), DType("float32") == np.float32
    (True, True)
    """

    __slots__ = ("_is_ref_dtype", "dtype", "itemsize", "kind", "name", "type")
    dtype: np.dtype
    name: str
    kind: str
    itemsize: int
    type: type[np.generic]
    _is_ref_dtype: bool
    _known: ClassVar[dict[np.dtype, DType]] = {}
    _references: ClassVar[dict[np.dtype, DType]] = {}

    def __new__(cls, dtype: DTypeLike | int | bytes) -> DType:
        """The object of a numpy type, or of a name or a number of TensorFlow's."""
        if isinstance(dtype, DType):
            return dtype
        if isinstance(dtype, int) and dtype is not True and not dtypes.is_tf_enum(dtype):
            raise TypeError(f"{dtype} does not correspond to a valid tensorflow::DataType")
        numpy_dtype = dtype if isinstance(dtype, np.dtype) else _numpy_dtype(dtype)
        is_reference = _names_reference(dtype)
        objects = cls._references if is_reference else cls._known
        known = objects.get(numpy_dtype)
        if known is None:
            known = super().__new__(cls)
            known.dtype, known._is_ref_dtype = numpy_dtype, is_reference
            known.name = dtypes.tf_name(numpy_dtype) + ("_ref" if is_reference else "")
            known.kind, known.itemsize = numpy_dtype.kind, numpy_dtype.itemsize
            known.type = numpy_dtype.type
            objects[numpy_dtype] = known
        return known

    @classmethod
    def of(cls, dtype: DTypeLike | None) -> MaybeDType:
        """The object of what numpy takes for a dtype, quickly; None of None."""
        if dtype is None or isinstance(dtype, DType):
            return dtype
        numpy_dtype = dtype if isinstance(dtype, np.dtype) else as_numpy(dtype)
        return cls._known.get(numpy_dtype) or cls(numpy_dtype)

    if TYPE_CHECKING:
        names: tuple[str, ...] | None
        char: str
        hasobject: bool

    else:

        def __getattr__(self, name: str):
            if name.startswith("_") or name == "dtype":
                raise AttributeError(name)
            return getattr(self.dtype, name)

    @property
    def as_numpy_dtype(self) -> type[np.generic] | np.dtype:
        """The numpy type; of quantized types, the dtype."""
        return self.dtype if self.is_quantized else self.dtype.type

    @property
    def as_datatype_enum(self) -> int:
        """The number graphs write for it."""
        return dtypes.tf_enum(self.dtype) + (dtypes.TF_REFERENCE if self._is_ref_dtype else 0)

    @property
    def base_dtype(self) -> DType:
        """What a reference refers to; else the type itself."""
        return DType(self.dtype) if self._is_ref_dtype else self

    @property
    def _as_ref(self) -> DType:
        """The reference to the type."""
        return DType(f"{self.base_dtype.name}_ref")

    @property
    def real_dtype(self) -> DType:
        """The type of the parts of a complex one; else the type itself."""
        if self.dtype.kind != "c":
            return self
        return DType(f"float{self.dtype.itemsize * 4}")

    @property
    def is_bool(self) -> bool:
        """Whether it is bool."""
        return self.dtype.kind == "b"

    @property
    def is_integer(self) -> bool:
        """Whether its values are whole numbers."""
        return self.dtype.kind in "iu" or self.name.startswith(("int", "uint"))

    @property
    def is_floating(self) -> bool:
        """Whether its values are real floats."""
        return self.dtype.kind == "f" or "float" in self.name

    @property
    def is_complex(self) -> bool:
        """Whether its values are complex."""
        return self.dtype.kind == "c"

    @property
    def is_quantized(self) -> bool:
        """Whether it is one of the quantized types."""
        return self.name.startswith(("qint", "quint"))

    @property
    def is_unsigned(self) -> bool:
        """Whether its values are never negative."""
        return self.dtype.kind == "u" or self.name.startswith("uint")

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether numpy has arrays of its values."""
        return self.base_dtype.name not in ("resource", "variant")

    def __int__(self) -> int:
        return self.as_datatype_enum

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def min(self) -> float | np.floating:
        """The lowest value; TypeError where there is none."""
        return self._limits()[0]

    @property
    def max(self) -> float | np.floating:
        """The highest value; TypeError where there is none."""
        return self._limits()[1]

    @property
    def limits(self) -> tuple[int, int]:
        """The range that images of the type have: [0, 1] for floats, all values for integers."""
        if self.is_floating:
            return (0, 1)
        if self.is_bool:
            return (False, True)
        if not self.is_integer:
            raise ValueError(f"{self.name} does not have defined limits.")
        return (0, int(np.iinfo(self.dtype).max))

    def _limits(self) -> tuple[float | np.floating, float | np.floating]:
        if self.is_integer:
            integers = np.iinfo(self.dtype)
            return int(integers.min), int(integers.max)
        if self.dtype.kind == "f":
            floats = np.finfo(self.dtype)
            return floats.min, floats.max
        if self.name.startswith("bfloat16"):  # that of float32, cut to 16 bits
            largest = np.array([0x7F7F0000], np.uint32).view(np.float32)[0]
            return -largest, largest
        raise TypeError(f"Cannot find minimum value of {self} with type {self}.")

    def is_compatible_with(self, other: DTypeLike | None) -> bool:
        """Whether it is the same type, or what the other refers to; TypeError for no type."""
        dtype = as_dtype(cast("DTypeLike", other))
        return self in (dtype, dtype.base_dtype)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None:
            return False
        if isinstance(other, np.dtype):
            return self.dtype == other and not self._is_ref_dtype
        try:
            numpy_dtype = _numpy_dtype(cast("DTypeLike", other))
            return self.dtype == numpy_dtype and self._is_ref_dtype == _names_reference(other)
        except (TypeError, ValueError):
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> tuple[type[DType], tuple[np.dtype | str]]:
        return DType, (self.name if self._is_ref_dtype else self.dtype,)

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"


def as_dtype(type_value: DTypeLike | int | bytes) -> DType:
    """The type that a numpy type, a name, a number of TensorFlow's or what has a dtype stands for.

    Raises TypeError when it stands for none.
    """
    if isinstance(type_value, DType):
        return type_value
    try:
        if isinstance(type_value, (tuple, bytes)) or type_value in (str, bytes):
            raise TypeError("TensorFlow takes it for no type")
        if isinstance(type_value, (np.ndarray, np.generic)):
            return DType(cast("np.ndarray", type_value).dtype)
        dtypes.tf_enum((dtype := DType(type_value)).dtype)
        return dtype
    except (TypeError, ValueError):
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        ) from None


def _names_reference(dtype: object) -> bool:
    """Whether what a type is made of stands for a reference."""
    if isinstance(dtype, DType):
        return dtype._is_ref_dtype
    if isinstance(dtype, str):
        return dtype.endswith("_ref")
    return isinstance(dtype, int) and dtype > dtypes.TF_REFERENCE


def as_numpy(dtype: DTypeLike | bytes | int | None) -> np.dtype:
    """The numpy type of what TensorFlow takes for a type, also its number, or numpy alone.

    Python's float is TensorFlow's float32; TypeError for the types of which TensorFlow takes none.
    """
    name = dtype.decode() if isinstance(dtype, bytes) else dtype
    if isinstance(name, str) and (name in ALIASES or name in NAMES):
        return _numpy_dtype(name)
    try:
        if any(dtype is kind for kind in (None, int, complex)) or isinstance(dtype, (dict, list)):
            raise TypeError("TensorFlow takes it for no type")
        of_a_value = None if isinstance(dtype, type) else getattr(dtype, "dtype", None)
        if of_a_value is not None and not isinstance(of_a_value, np.dtype):
            raise TypeError("numpy before 2.3 takes a tensor for its type")
        if isinstance(dtype, int) and dtype is not True and dtype is not False:
            return dtypes.tf_dtype(dtype)
        return np.dtype(np.float32) if dtype is float else np.dtype(cast("type", name))
    except (TypeError, ValueError, NotImplementedError):
        raise TypeError(
            f"Cannot convert the argument `type_value`: {dtype!r} to a TensorFlow DType."
        ) from None


def _numpy_dtype(dtype: DTypeLike | int | bytes) -> np.dtype:
    if isinstance(dtype, DType):
        return dtype.dtype
    if isinstance(dtype, int):
        return dtypes.tf_dtype(dtype)
    if dtype in ("string", str, bytes):
        return np.dtype(object)
    if isinstance(dtype, str) and dtype.endswith("_ref"):
        dtype = dtype[:-4]
    if isinstance(dtype, str):
        return dtypes.tf_dtype(dtypes.tf_enum_of_name(ALIASES.get(dtype, dtype)))
    return as_numpy(dtype)


NAMES = (
    *("bfloat16", "bool", "complex64", "complex128", "float16", "float32", "float64", "int8"),
    *("int16", "int32", "int64", "qint8", "qint16", "qint32", "quint8", "quint16", "resource"),
    *("string", "uint8", "uint16", "uint32", "uint64", "variant"),
)
"""The types `tf` has by name."""
ALIASES = {"half": "float16", "double": "float64", "float": "float32"}
QUANTIZED_DTYPES = frozenset(DType(name) for name in NAMES if name.startswith(("qint", "quint")))
"""The quantized types."""


def __getattr__(name: str) -> DType:
    full_name = ALIASES.get(name, name)
    if full_name not in NAMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = dtype = DType(full_name)
    return dtype
