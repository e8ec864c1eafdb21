"""What users pass to an interpreter: models, options, delegates, shapes and values, checked."""

from __future__ import annotations

import errno
import operator
import os
import warnings
from collections.abc import Iterable, Sequence
from enum import Enum, unique
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from ..schema.files import map_with_status
from ..schema.named_tuple import TypeVar

if TYPE_CHECKING:
    from typing import TypedDict

    import numpy.typing as npt
    from _typeshed import ReadableBuffer

    from ..engine.run.limits import Limits
    from .delegation.partition import AnyDelegate
    from .plan.scope import Variables
    from .spec import TensorSpec

    class Options(TypedDict, total=False):
        """What `Interpreter` takes beside the model and delegates, by keyword."""

        num_threads: int | None
        experimental_op_resolver_type: OpResolverType
        experimental_preserve_all_tensors: bool
        experimental_disable_delegate_clustering: bool
        experimental_default_delegate_latest_features: bool
        experimental_compress_quantization_zero_points: bool
        experimental_disable_delegate_node_fusion: bool
        experimental_force_delegate_node_profiling: bool
        share_weights: bool
        profile: bool
        limits: Limits | None

    class Arguments(Options, total=False):
        """What `Interpreter` takes, by keyword."""

        model_path: str | os.PathLike[str] | None
        model_content: ReadableBuffer | None
        experimental_delegates: Sequence[AnyDelegate] | None

    class State(TypedDict):
        """A pickled interpreter."""

        content: bytes
        folder: str | None
        options: Options
        delegates: list[AnyDelegate]
        custom_ops: dict[str, type]
        variables: Variables


AnyEnum = TypeVar("AnyEnum", bound=Enum)

MAX_ELEMENTS = 2**31 - 1
_NULL = "The model allocation is null/empty"


@unique
class OpResolverType(Enum):
    """Which kernels LiteRT would choose; flatlite has one set, exact as BUILTIN_REF."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


def as_member(value: object, kind: type[AnyEnum]) -> object:
    """The member of `kind` that another library's enum of that name has; else `value`."""
    if isinstance(value, Enum) and type(value).__name__ == kind.__name__:
        return kind.__members__.get(value.name, value)
    return value


def checked(options: Options) -> Options:
    """The options, when their types and values are allowed; TensorFlow's enum becomes flatlite's.

    Raises ValueError in LiteRT's words, TypeError for limits and switches that are none and for
    threads beyond int32.
    """
    name = options.get("experimental_op_resolver_type")
    resolver, num_threads = as_member(name, OpResolverType), options.get("num_threads")
    if not isinstance(resolver, OpResolverType):
        raise ValueError(f"Unrecognized passed in op resolver type: {resolver}")
    options = {**options, "experimental_op_resolver_type": resolver}
    if num_threads is not None:
        if not isinstance(num_threads, int):
            raise ValueError("type of num_threads should be int")
        if num_threads < 1:
            raise ValueError("num_threads should >= 1")
        as_index(num_threads)
    for switch in "share_weights", "profile":
        value = options.get(switch, False)
        if not isinstance(value, bool):
            raise TypeError(f"{switch} must be True or False, got {value!r}")
    limits = options.get("limits")
    if limits is not None:
        from ..engine.run.limits import Limits  # with dataclasses 2 ms, which few pay for

        if not isinstance(limits, Limits):
            raise TypeError(f"limits must be a Limits, got {type(limits).__name__}")
    return options


def takes_cached_plans(options: Options) -> bool:
    """Whether a plan of the file that was made before will do."""
    limits = options.get("limits")
    counts_elements = limits is not None and limits.elements is not None  # where one is prepared
    return not counts_elements and not options.get("experimental_preserve_all_tensors")


def content_of(
    path: str | os.PathLike[str] | None, content: ReadableBuffer | None
) -> tuple[ReadableBuffer, os.stat_result | None]:
    """The bytes of the model that the constructor was given, and the status of their file."""
    if content is not None and _view(content).nbytes > 0:
        if path:
            raise ValueError("Can't both provide `model_path` and `model_content`")
        return content, None
    if path is None or path == "":
        raise ValueError("`model_path` or `model_content` must be specified.")
    try:
        name = os.fsdecode(path)
    except TypeError as error:
        from ..schema.errors import noted

        hint = "; what a file holds is model_content, as in model_content=file.read()"
        raise noted(error, f"model_path is the path of a model, got {path!r}{hint}") from None
    if "\0" in name:
        failed = f"Could not open a path with a NUL character.{_NULL}"
        raise _refusal(failed, "The bytes of a model are model_content")
    try:
        mapped, status = map_with_status(name)
    except IsADirectoryError as error:
        failed = f"Mmap of '{name}' at offset '0' failed with error '{errno.ENODEV}'.{_NULL}"
        raise _refusal(failed, "It is a folder") from error
    except OSError as error:
        failed = f"Could not open '{name}'.{_NULL}"
        raise _refusal(failed, f"{error.strerror or error}") from error
    if not mapped.nbytes:
        raise _refusal(f"mmap of size 0 requested.{_NULL}", f"'{name}' is empty")
    return mapped, status


def _refusal(message: str, note: str) -> ValueError:
    """The error of a model that cannot be had."""
    from ..schema.errors import noted  # with the family of errors half a millisecond

    return noted(ValueError(message), note)


def as_index(value: SupportsIndex) -> int:
    """An integer of 32 bits, as which LiteRT takes indices; raises TypeError for anything else."""
    index = operator.index(value)
    if not -MAX_ELEMENTS - 1 <= index <= MAX_ELEMENTS:
        raise TypeError(f"incompatible function arguments: {index} is no integer of 32 bits")
    return index


def _view(content: ReadableBuffer) -> memoryview:
    try:
        view = memoryview(content)
    except TypeError:
        kind = type(content).__name__
        raise TypeError(f"model_content must be bytes or have a buffer, got {kind}") from None
    if not view.c_contiguous:
        raise TypeError("model_content must be one piece of memory, got a buffer with gaps")
    return view


def usable_delegates(delegates: Sequence[AnyDelegate] | None) -> list[AnyDelegate]:
    """The delegates as a list; raises ValueError for an object that is none."""
    if isinstance(delegates, str) or not isinstance(delegates or (), Iterable):
        raise ValueError(f"experimental_delegates must be a list of delegates, got {delegates!r}")
    for delegate in delegates or ():
        methods = (getattr(delegate, name, None) for name in ("parts", "compile"))
        named = isinstance(getattr(delegate, "name", None), str)
        if isinstance(delegate, type) or not named or not all(map(callable, methods)):
            raise ValueError(
                "experimental_delegates must hold objects with a name and the methods parts and "
                f"compile, got {delegate!r}; load_delegate makes one"
            )
    return list(delegates or ())


def as_shape(size: npt.ArrayLike) -> tuple[int, ...]:
    """The sizes of a shape, fractions cut off as LiteRT does, of which a RuntimeWarning tells.

    Raises what numpy does where they are no int32, and ValueError where they are no row.
    """
    try:
        sizes = np.array(size, dtype=np.int32)
    except (TypeError, ValueError, OverflowError) as error:
        from ..schema.errors import noted

        raise noted(error, f"A shape is a row of int32, got {size!r}") from None
    if sizes.ndim != 1:
        raise ValueError(f"Shape should be 1D instead of {sizes.ndim}.")
    shape = tuple(sizes.tolist())
    numbers = np.asarray(size)
    if numbers.dtype.kind == "f" and (numbers != sizes).any():
        message = f"The shape {numbers.tolist()} has fractions and is taken as {list(shape)}"
        warnings.warn(message, RuntimeWarning, stacklevel=5)
    return shape


def check_shape(declared: TensorSpec, shape: tuple[int, ...]) -> None:
    """Raises RuntimeError unless a tensor can have `shape`."""
    size = 1
    for n in shape:
        size *= n
    if min(shape, default=0) < 0 or size > MAX_ELEMENTS:
        raise RuntimeError(
            "BytesRequired number of elements overflowed: input "
            f"'{declared.name}' needs dimensions of at least 0 and at most {MAX_ELEMENTS} "
            f"elements, got shape {shape}"
        )


def check_strict(
    tensor: int, declared: TensorSpec, before: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    """Raises RuntimeError when `shape` has another dimension than a known one.

    Those are known that the signature has; of a tensor without one, all it has now.
    """
    rule = "ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1."
    if len(shape) != len(before):
        raise RuntimeError(
            f"Attempting to resize tensor {tensor} of {len(before)} dimensions to {len(shape)}. "
            f"{rule}"
        )
    known = declared.signature + before[len(declared.signature) :]
    for i, (new, size) in enumerate(zip(shape, known, strict=False)):
        if size not in (-1, new):
            raise RuntimeError(
                f"Attempting to resize dimension {i} of tensor {tensor} with value {size} to "
                f"{new}. {rule}"
            )


def check_fits(tensor: int, got: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raises ValueError unless an array of shape `got` fits a tensor of shape `expected`."""
    if len(got) != len(expected):
        raise ValueError(
            f"Cannot set tensor: Dimension mismatch. Got {len(got)} but expected {len(expected)} "
            f"for input {tensor}."
        )
    for i, (n, size) in enumerate(zip(got, expected, strict=True)):
        if n != size:
            raise ValueError(
                f"Cannot set tensor: Dimension mismatch. Got {n} but expected {size} for "
                f"dimension {i} of input {tensor}."
            )


def check_type(declared: TensorSpec, dtype: np.dtype) -> None:
    """Raises ValueError unless an array of `dtype` may be copied into a tensor.

    Integers of less than a byte are given as bytes of their kind or ml_dtypes' own.
    """
    got = _type_name(dtype)
    packed = declared.bits and dtype == declared.byte_type
    if declared.bits and not packed and dtype != declared.dtype:
        raise ValueError(
            f"Cannot set tensor: Expected a numpy array of {np.dtype(declared.byte_type)} for "
            f"{declared.type_name} input {declared.index}, name: {declared.name}, but got {got}"
        )
    if got != declared.type_name and dtype != declared.dtype and not packed:
        raise ValueError(
            f"Cannot set tensor: Got value of type {got} but expected type "
            f"{declared.type_name} for input {declared.index}, name: {declared.name} "
        )


def strings_of(array: np.ndarray) -> np.ndarray:
    """The elements as bytes objects; text is written as UTF-8.

    Of an array of bytes numpy takes zeros at the end for padding; when it has no dimensions, they
    belong to the string, as in LiteRT. Raises ValueError when one is neither str nor bytes.
    """
    is_scalar = array.dtype.kind == "S" and array.ndim == 0
    items = [array.tobytes()] if is_scalar else array.reshape(-1).tolist()
    for item in items:
        if not isinstance(item, (str, bytes)):
            raise ValueError(f"a string tensor takes str or bytes, got {type(item).__name__}")
    strings = np.empty(len(items), object)
    strings[:] = [item.encode() if isinstance(item, str) else bytes(item) for item in items]
    return strings.reshape(array.shape)


def _type_name(dtype: np.dtype) -> str:
    """The TensorType an array of `dtype` would have."""
    if dtype.kind in "OSU":
        return "STRING"
    if dtype.kind in "biufc" or (dtype.kind == "V" and dtype.names is None):
        return dtype.name.upper()
    return "NOTYPE"


def fits_exactly(value: npt.ArrayLike, memory: np.ndarray) -> bool:
    """Whether `value` is an array of the very type and shape of `memory`."""
    return type(value) is np.ndarray and value.dtype is memory.dtype and value.shape == memory.shape
