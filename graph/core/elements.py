"""Operations and their outputs, under TF1's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NoReturn, cast, overload

import numpy as np

from ...schema.errors import OperatorNotAllowedInGraphError
from .call_stack import Frames, summary_of
from .dtype import DType
from .hooks import implementation
from .reference import Reference
from .shapes import Shape, merge
from .signatures.operands import Operands
from .signatures.signatures import REQUIRED
from .tensor_shape import TensorShape, as_shape

if TYPE_CHECKING:
    from traceback import StackSummary

    import numpy.typing as npt

    from ..format.messages import NodeDef, OpDef
    from ..session.session import Session
    from ..variables.variables import Updated
    from .graph import Graph
    from .protocols import (
        AttrValue,
        BoolAttr,
        DTypeAttr,
        Evaluated,
        FeedDict,
        FloatAttr,
        FunctionRefAttr,
        IntAttr,
        IntsAttr,
        MaybeDType,
        ShapeAttr,
        StringAttr,
        TensorAttr,
        TypeAttr,
    )
    from .signatures.attributes import FunctionRef
    from .typing import DTypeLike, ShapeLike


_NUMPY_NAMES = (
    *("T", "astype", "clip", "data", "max", "mean", "min", "ravel", "reshape", "size"),
    *("tolist", "transpose"),
)
"""What arrays have and tensors lack."""


class Tensor(Operands):
    """One output of an operation; what edges of a graph refer to.

    `dtype` is None when the op type is unknown, `shape` a tuple with None for unknown sizes, or
    None when the rank is unknown. `value` is a small array that is known before anything runs, such
    as a shape or an axis, as objects with None where only some elements are known; None otherwise.
    """

    __slots__ = (
        *("__weakref__", "_consumers", "_shape", "assign", "dtype", "op", "value", "value_index"),
    )
    assign: Callable[..., Updated]  # of a part of a variable alone

    def __init__(self, op: Operation, value_index: int, dtype: DTypeLike | None):
        self.op = op
        self.value_index = value_index
        self.dtype: MaybeDType = DType.of(dtype)
        self.value: np.ndarray | None = None
        self._shape: Shape = None
        self._consumers: list[Operation] = []

    @property
    def name(self) -> str:
        """`op:0`."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self.op.graph

    @property
    def sizes(self) -> Shape:
        """What is known of its shape, as a tuple; None where not even the rank is."""
        return self._shape

    @property
    def shape(self) -> TensorShape:
        """What is known of its shape."""
        return TensorShape.of(self._shape)

    def set_shape(self, shape: ShapeLike | None) -> None:
        """Adds what the caller knows of the shape; raises ValueError when it cannot be."""
        if isinstance(shape, (list, TensorShape)):
            shape = as_shape(shape)
        self._shape = merge(self._shape, cast("Shape", shape))

    def get_shape(self) -> TensorShape:
        """What is known of its shape."""
        return TensorShape.of(self._shape)

    @property
    def ndim(self) -> int | None:
        """How many dimensions it has, None where that is not known."""
        return None if self._shape is None else len(self._shape)

    def ref(self) -> Reference[Tensor]:
        """What stands for the tensor in sets and dicts, and compares by identity."""
        return Reference(self)

    experimental_ref = ref

    @property
    def device(self) -> str:
        """The device of its operation."""
        return self.op.device

    def consumers(self) -> list[Operation]:
        """The operations that read it, once for each time they do."""
        return list(self._consumers)

    def add_consumer(self, op: Operation) -> None:
        """Notes one more input of `op` that reads it."""
        self._consumers.append(op)

    def remove_consumer(self, op: Operation) -> None:
        """Takes back one `add_consumer`."""
        self._consumers.remove(op)

    def eval(self, feed_dict: FeedDict | None = None, session: Session | None = None) -> Evaluated:
        """Its value in `session`, by default the default one; see Session.run."""
        session_for = implementation("session_for")
        return session_for(self.graph, session, "evaluate tensor", "eval").run(self, feed_dict)

    @property
    def is_reference(self) -> bool:
        """Whether it stands for the memory of a variable, as TF1's own variables do."""
        outputs = self.op.signature.outputs if self.op.signature else ()
        return self.value_index < len(outputs) and outputs[self.value_index].is_reference

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not "
            "None:` to test whether there is a tensor, and tf.where for choices by its value."
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). Use tf.size."
        )

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may "
            "indicate that you're trying to pass a Tensor to a NumPy call, which is not supported."
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str):
            words = f"'Tensor' object has no attribute '{name}'"
            if name in _NUMPY_NAMES:
                words = (
                    f"Tensor object has no attribute '{name}'. If you are looking for "
                    "numpy-related methods, evaluate the tensor in a Session first."
                )
            raise AttributeError(words)

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self._type_text}>"

    def __str__(self) -> str:
        shape = "" if self._shape is None else f", shape={self.shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._type_text}{device})'

    @property
    def _type_text(self) -> str:
        return f"{self.dtype.name}_ref" if self.is_reference else f"{self.dtype.name}"


class Operation:
    """A node of a graph. Made by Graph.add.

    `signature` is what is declared of its type, or of the function that its type names; None for an
    unknown type. `frames` are of the code that added it.
    """

    def __init__(
        self,
        graph: Graph,
        kind: str,
        name: str,
        inputs: list[Tensor | None],
        attrs: dict[str, AttrValue],
        control_inputs: Iterable[Operation],
        device: str,
    ):
        self.graph = graph
        self.type = kind
        self.signature = graph.functions.signature_of(kind)
        self.name = name
        self.attrs = attrs
        self.device = device
        self.outputs: list[Tensor] = []
        self._inputs = cast("list[Tensor]", inputs)  # None only until `set_input`
        self._control_inputs: dict[Operation, None] = dict.fromkeys(control_inputs)
        self.frames: Frames = ()

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors it reads, in order, once its loops are closed; see `all_inputs`."""
        return tuple(self._inputs)

    @property
    def all_inputs(self) -> tuple[Tensor | None, ...]:
        """The tensors it reads; None for a loop's back edge that `set_input` is yet to make."""
        return tuple(self._inputs)

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that must have run before it does."""
        return list(self._control_inputs)

    @overload
    def get_attr(self, name: StringAttr) -> bytes: ...
    @overload
    def get_attr(self, name: IntAttr) -> int: ...
    @overload
    def get_attr(self, name: FloatAttr) -> float: ...
    @overload
    def get_attr(self, name: BoolAttr) -> bool: ...
    @overload
    def get_attr(self, name: TypeAttr) -> DTypeAttr: ...
    @overload
    def get_attr(self, name: ShapeAttr) -> Shape: ...
    @overload
    def get_attr(self, name: IntsAttr) -> Sequence[int]: ...
    @overload
    def get_attr(self, name: TensorAttr) -> np.ndarray: ...
    @overload
    def get_attr(self, name: FunctionRefAttr) -> FunctionRef: ...
    @overload
    def get_attr(self, name: Literal["branches"]) -> Sequence[FunctionRef]: ...
    @overload
    def get_attr(self, name: Literal["output_shapes", "Sout"]) -> Sequence[Shape]: ...
    @overload
    def get_attr(self, name: str) -> AttrValue: ...
    def get_attr(self, name: str) -> AttrValue:
        """The value of an attribute, or its default; ValueError when it has neither."""
        if name in self.attrs:
            return self.attrs[name]
        signature = self.signature
        attribute = signature.attrs.get(name) if signature else None
        if attribute is None or attribute.default is REQUIRED:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        return attribute.default

    @property
    def traceback(self) -> StackSummary:
        """The code that added it, outermost first, without that of this package.

        Empty for an operation that was imported.
        """
        return summary_of(self.frames)

    @property
    def node_def(self) -> NodeDef:
        """The NodeDef message that graphs are written with."""
        return implementation("node_def")(self)

    @property
    def op_def(self) -> OpDef:
        """The OpDef message of its type; ValueError where the type is not known."""
        return implementation("op_def")(self)

    def values(self) -> tuple[Tensor, ...]:
        """Its results."""
        return tuple(self.outputs)

    def colocation_groups(self) -> list[bytes]:
        """The groups of operations that it stands with: its own where it was put with no other."""
        named = cast("list[bytes]", self.attrs.get("_class") or [])
        groups = [group for group in named if group.startswith(b"loc:@")]
        return groups or [b"loc:@" + self.name.encode()]

    def run(self, feed_dict: FeedDict | None = None, session: Session | None = None) -> None:
        """Runs it in `session`, by default the default one; see Session.run."""
        session_for = implementation("session_for")
        session_for(self.graph, session, "execute operation", "run").run(self, feed_dict)

    def set_input(self, index: int, tensor: Tensor) -> None:
        """Reads `tensor` as input `index` from now on."""
        old = self.all_inputs[index]
        if old is not None:
            old.remove_consumer(self)
        self._inputs[index] = tensor
        tensor.add_consumer(self)

    def add_input(self, tensor: Tensor) -> None:
        """Reads one more tensor, behind the others."""
        self._inputs.append(tensor)
        tensor.add_consumer(self)

    def add_control_input(self, op: Operation) -> None:
        """Makes it run after `op`."""
        self._control_inputs[op] = None

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)
