"""The exceptions flatlite raises; `flatlite.errors` re-exports them.

Argument mistakes are ValueError or TypeError as everywhere in Python, missing files are OSError.
The classes here say more: which part of the product refused, or, for the graph API, which canonical
status an operation ended with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Protocol

    from .proto import Message

    class Operation(Protocol):
        """What an error knows of the operation of a graph that failed."""

        @property
        def name(self) -> str:
            """Its name in the graph."""
            ...

        @property
        def type(self) -> str:
            """The kind of operation, such as "MatMul"."""
            ...


E = TypeVar("E", bound=Exception)

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class ModelError(ValueError):
    """A model file that cannot be read, or a Model that cannot be written."""


class ConverterError(Exception):
    """A source model that cannot be converted."""


class UnsupportedOps(ConverterError):
    """A source model with operations flatlite cannot lower; the message lists all of them.

    Attributes:
        missing: The types of the operations -> the names of their nodes; empty where it is not the
            type that has no form in TFLite.
        flex: Those of the types that TensorFlow's own kernels can run (OpsSet.SELECT_TF_OPS).
    """

    def __init__(
        self,
        message: str,
        missing: Mapping[str, Sequence[str]] | None = None,
        flex: Iterable[str] = (),
    ) -> None:
        super().__init__(message)
        self.missing = {kind: list(names) for kind, names in (missing or {}).items()}
        self.flex = frozenset(flex)


class CalibrationError(ValueError):
    """A representative dataset that cannot calibrate the model."""


def noted(error: E, *notes: str) -> E:
    """The error with notes, which tracebacks and the command line show below its text.

    For errors whose text is to be TensorFlow's and nothing else.
    """
    vars(error)["__notes__"] = [*getattr(error, "__notes__", ()), *notes]
    return error


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor used where Python needs a value at once, as in `if tensor:`."""


class OpError(Exception):
    """An operation of a graph that failed while it ran.

    Args:
        node_def: The NodeDef of the operation, or None.
        op: The operation, or None when it is not part of the graph the user built.
        message: What went wrong.
        error_code: One of the canonical status codes of this module.
    """

    code = UNKNOWN

    def __init__(
        self,
        node_def: Message | None,
        op: Operation | None,
        message: str,
        error_code: int | None = None,
    ) -> None:
        super().__init__(message)
        self.node_def = node_def
        self.op = op
        self.message = message
        self.error_code = self.code if error_code is None else error_code

    def __reduce__(self) -> tuple[type[OpError], tuple[None, None, str, int]]:
        # A live operation belongs to its graph; what crosses a process boundary is the text.
        return type(self), (None, None, self.message, self.error_code)

    def __str__(self) -> str:
        return self.message


class CancelledError(OpError):
    """The operation was stopped before it ended, by its session or its queue."""

    code = CANCELLED


class UnknownError(OpError):
    """An error with no better class."""

    code = UNKNOWN


class InvalidArgumentError(OpError):
    """The operation was given a value it cannot take."""

    code = INVALID_ARGUMENT


class DeadlineExceededError(OpError):
    """The time limit passed before the operation ended."""

    code = DEADLINE_EXCEEDED


class NotFoundError(OpError):
    """Something named, such as a file or a variable, does not exist."""

    code = NOT_FOUND


class AlreadyExistsError(OpError):
    """Something to be created exists."""

    code = ALREADY_EXISTS


class PermissionDeniedError(OpError):
    """The caller may not do this."""

    code = PERMISSION_DENIED


class ResourceExhaustedError(OpError):
    """Memory, disk space or a configured limit ran out."""

    code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    """The system is not in the state the operation needs, such as a variable without a value."""

    code = FAILED_PRECONDITION


class AbortedError(OpError):
    """The operation was given up, usually for a conflict with another one."""

    code = ABORTED


class OutOfRangeError(OpError):
    """The operation went past the end of its input, such as a queue that is closed and empty."""

    code = OUT_OF_RANGE


class UnimplementedError(OpError):
    """The operation, or this form of it, does not exist."""

    code = UNIMPLEMENTED


class InternalError(OpError):
    """Something that must always hold does not."""

    code = INTERNAL


class UnavailableError(OpError):
    """The other side cannot be reached now."""

    code = UNAVAILABLE


class DataLossError(OpError):
    """Data is cut or damaged for good."""

    code = DATA_LOSS


class UnauthenticatedError(OpError):
    """The caller is not known."""

    code = UNAUTHENTICATED


BY_CODE: dict[int, type[OpError]] = {kind.code: kind for kind in OpError.__subclasses__()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of errors of a canonical status; KeyError where there is none."""
    return BY_CODE[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The canonical status of a class of errors; UNKNOWN for others."""
    return next((code for code, kind in BY_CODE.items() if kind is cls), UNKNOWN)
