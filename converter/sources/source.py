"""What every source becomes: a computation with ordered, named inputs and outputs."""

from __future__ import annotations

import difflib
import logging
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...graph.core.graph import Graph, Tensor
from ...graph.core.shapes import Shape, merge, shown
from ...schema.errors import ConverterError, ModelError, noted
from .state import State, StateVariable

if TYPE_CHECKING:
    from ...graph.core.protocols import MaybeDType
    from ..ir import graph as ir
    from ..tf.flex import SelectOps
    from ..verify.oracle import Oracle

Shapes = Mapping[str, "Sequence[int | None] | None"]
"""Shapes by tensor name; None, in the place of a number or a shape, is unknown."""
LAYER = re.compile(r"\S+ '[^']*': ")
"""How the message of an error begins that names a layer."""
STATED = (
    "flatlite: input '%s' of shape %s is written with the shape that the file states, %s; "
    "flatlite.edit.set_input_shapes (flatlite edit --input-shape) gives it another"
)
STATES_NO_SIZE = (
    "The file states 1 for it, as for every size that its writer did not know; give it a shape by "
    "flatlite.edit.set_input_shapes (flatlite edit --input-shape), then convert."
)
_LOGGER = logging.getLogger("flatlite")
MAX_LISTED = 5  # names listed in an error message before "..."


class EndsError(ValueError):
    """Names of inputs or outputs that the graph does not have, or that are not enough."""


class PlaceholdersError(EndsError):
    """Outputs that need a placeholder that is not among the inputs."""


class Typed(Protocol):
    """A tensor of a source."""

    @property
    def name(self) -> str:
        """Its name in the source."""
        ...

    @property
    def dtype(self) -> MaybeDType:
        """Its element type, None when unknown."""
        ...

    @property
    def sizes(self) -> Shape:
        """Its dimensions, None for what is unknown."""
        ...


@dataclass
class SourceTensor:
    """A tensor of a source that has no object of its own for it.

    Attributes:
        stated: the sizes that the source states beside those it leaves open; None for none.
    """

    name: str
    dtype: np.dtype
    sizes: Shape
    stated: tuple[int, ...] | None = None

    def set_shape(self, shape: Shape) -> None:
        """Makes unknown dimensions known."""
        self.sizes = shape


@dataclass(frozen=True)
class Port:
    """One input or output of a model.

    Attributes:
        key: its name in the signature.
        name: its tensor's name in the source, which the written file keeps.
        tensor: its tensor in the source, such as one of a frozen graph.
        dims: names of its dimensions; unknown ones of one name are equal. None for no names.
    """

    key: str
    name: str
    tensor: Any
    dims: tuple[str | None, ...] | None = None


class Source(Protocol):
    """One computation of a source model, ready to be lowered."""

    @property
    def kind(self) -> str:
        """What the model is, as TensorFlow's metadata calls it."""
        ...

    @property
    def key(self) -> str | None:
        """The signature's key, None when the source has no signatures."""
        ...

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The inputs, in order; their tensors are `Typed`."""
        ...

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The outputs, in order."""
        ...

    def constants(self) -> dict[str, int]:
        """The constants' bytes, by name."""
        ...

    def operation_types(self) -> set[str]:
        """The types of the operations, as the source calls them."""
        ...

    def lower(self, allow_custom_ops: bool = False) -> ir.Graph:
        """The IR of the computation; raises ConverterError or UnsupportedOps."""
        ...

    def oracle(self) -> Oracle:
        """What tells the right answers."""
        ...


@dataclass(frozen=True)
class GraphSource:
    """A frozen graph of TensorFlow's operations.

    Attributes:
        key: the signature's key, None when the source has no signatures.
        graph: only what the outputs need; variables are constants, functions are inlined. Its
            `inputs` and `outputs` are the tensors of the ports, in their order, and then those
            of `state_variables`.
        inputs: the inputs, in order.
        outputs: the outputs, in order.
        model: what the model is, as TensorFlow's metadata calls it.
        state_variables: the variables that are further inputs and outputs of the graph.
        state: what they and tables are at first; shared by the signatures of a model.
        tensorflow: the keys of inputs and outputs at TensorFlow 2.21's positions; None when they
            are these.
        api_version: that of the converter of TensorFlow's which reads such a file.
    """

    key: str | None
    graph: Graph
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    model: str = "graph_def"
    tensorflow: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    state_variables: tuple[StateVariable, ...] = ()
    state: State = field(default_factory=State)
    api_version: int = 2

    @property
    def kind(self) -> str:
        """As TensorFlow's metadata calls it."""
        return self.model

    def operation_types(self) -> set[str]:
        """The types of the graph's operations."""
        return {op.type for op in self.graph.operations}

    def constants(self) -> dict[str, int]:
        """The constants' bytes, by name."""
        operations = [op for op in self.graph.operations if op.type == "Const"]
        return {op.name: op.get_attr("value").nbytes for op in operations}

    def lower(
        self, allow_custom_ops: bool = False, select_ops: SelectOps | None = None
    ) -> ir.Graph:
        """The IR of the graph; functions marked by an OpHint are single operators in it."""
        from ..tf.lower import lower_graph

        return lower_graph(self, allow_custom_ops, select_ops)

    def oracle(self) -> Oracle:
        """graph/'s numpy kernels, which share no code with the engine."""
        from ..verify.oracle import GraphOracle

        inputs = list(self.graph.inputs or ())[len(self.inputs) :]
        first = (self.state.variables[one.name] for one in self.state_variables)
        return GraphOracle(self.graph, dict(zip(inputs, first, strict=True)), len(self.outputs))


def fix_shapes(source: Source) -> None:
    """Makes unknown first dimensions 1, for a converter to which every dimension must be known.

    What else a `.tflite` file leaves open becomes the size that it states, as in a runtime that
    does not resize; a line in the log says so. Writers state 1 where they know no size: it is none.

    Raises ValueError for inputs of unknown rank, or with other unknown dimensions.
    """
    for port in source.inputs:
        if isinstance(port.tensor, SourceTensor):
            _take_stated(port.tensor)
        tensor: Any = port.tensor
        shape = tensor.sizes
        if shape is None:
            raise noted(
                ValueError(f"Provide an input shape for input array '{short_name(port.name)}'."),
                "The source does not say how many dimensions it has; give input_shapes "
                "(--input-shape).",
            )
        if None in shape[1:]:
            raise noted(
                ValueError(
                    "None is only supported in the 1st dimension. "
                    f"Tensor '{short_name(port.name)}' has invalid shape '{list(shape)}'."
                ),
                STATES_NO_SIZE
                if getattr(tensor, "stated", None) is not None
                else "Give its shape in input_shapes (--input-shape).",
            )
        if None in shape:
            tensor.set_shape((1, *shape[1:]))
            if hasattr(tensor, "op"):
                tensor.op.attrs["shape"] = (1, *shape[1:])


def _take_stated(tensor: SourceTensor) -> None:
    """Gives a tensor the sizes that its file states where they are open."""
    if tensor.sizes is None or tensor.stated is None or None not in tensor.sizes:
        return
    pairs = list(zip(tensor.sizes, tensor.stated, strict=True))
    if any(n is None and stated <= 1 for n, stated in pairs[1:]):
        return
    shape = tuple(stated if n is None else n for n, stated in pairs)
    if shape != (1, *tensor.sizes[1:]):
        _LOGGER.warning(STATED, short_name(tensor.name), list(tensor.sizes), list(shape))
    tensor.set_shape(shape)


@contextmanager
def among_signatures(keys: Sequence[str], key: str | None = None) -> Iterator[None]:
    """Adds to an error of one of several signatures how to leave it out; `key` is it, if known."""
    try:
        yield
    except (ConverterError, ValueError) as error:
        others = [other for other in keys if other != key]
        options = " ".join(f"--signature {other}" for other in others)
        text = f"The signatures {some(keys)} can be converted alone: signature_keys=[...] "
        text += "(--signature KEY)"
        if key is not None:
            text = f"This is signature '{key}'; without it: signature_keys={others} ({options})"
        if len(keys) > 1:
            error.args = (f"{error}\n{text}",)
        raise


@contextmanager
def naming(path: str | os.PathLike | None) -> Iterator[None]:
    """Adds the file `path` to the message of an error that does not name it.

    Raises ConverterError for an error of Python's, which is an error of ours: readers check what
    files say.
    """
    try:
        yield
    except (ArithmeticError, LookupError, TypeError) as error:
        where = "the graph" if path is None else f"'{os.fspath(path)}'"
        raise ConverterError(
            f"{where} led to an internal error ({type(error).__name__}: {error}); please report it"
        ) from error
    except (ValueError, ConverterError, RuntimeError) as error:
        text = str(error)
        if path is not None and hasattr(error, "__notes__"):
            text = " ".join([text, *error.__notes__])
            noted(error, f"(in '{os.fspath(path)}'){_fix(text, error)}")
        elif path is not None:
            where = "" if os.fspath(path) in text else f" (in '{os.fspath(path)}')"
            error.args = (f"{text}{where}{_fix(text, error)}",)
        raise


def _fix(text: str, error: Exception) -> str:
    """What to do about an error whose text does not say it."""
    if "; " in text or "\n" in text:
        return ""
    if isinstance(error, ModelError):
        return "; the file is damaged or incomplete, write it again"
    if isinstance(error, ConverterError) and LAYER.match(text):
        return "; change this layer, or cut the model before it (output_arrays, flatlite edit)"
    return ""


def full_name(name: str) -> str:
    """A tensor's name with its number: "x" is "x:0"."""
    return name if ":" in name else f"{name}:0"


def short_name(name: str) -> str:
    """A tensor's name as the converter's interface has it: "x:0" is "x", "x:1" stays."""
    return name.removesuffix(":0")


def op_name(name: str) -> str:
    """The name of the operation a tensor or control input belongs to."""
    return name.removeprefix("^").partition(":")[0]


def some(names: Iterable[str]) -> str:
    """The first few of some names, for a message."""
    names = list(names)
    listed = ", ".join(f"'{name}'" for name in names[:MAX_LISTED])
    return listed + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")


def check_names(names, argument: str) -> None:
    """Raises ValueError unless `names` are different tensor names, of one output at least."""
    if isinstance(names, str) or not isinstance(names, Collection):
        raise ValueError(f"{argument} must be a list of tensor names, got {names!r}")
    full_names = set()
    for name in names:
        if not isinstance(name, str):
            raise noted(
                ValueError(
                    "Invalid type for a tensor name in the provided graph. Expected type for a "
                    f"tensor name is 'str', instead got type '{type(name)}' for tensor name "
                    f"'{name}'"
                )
            )
        if full_name(name) in full_names:
            raise ValueError(f"{argument} must name each tensor once, got '{name}' twice")
        full_names.add(full_name(name))
    if argument == "output_arrays" and not full_names:
        raise ValueError("output_arrays (--outputs) must name at least one tensor, got none")


def find_tensors(graph: Graph, names: Iterable[str], known: Mapping[str, str]) -> list[Tensor]:
    """The tensors of a graph with these names, "x" meaning "x:0".

    Raises ValueError listing all names that the graph does not have, and names that look like the
    first of them, or those of placeholders; `known` are the operations, and their types, that there
    were before the graph was made smaller.
    """
    outputs = {op.name: op.outputs for op in graph.operations}
    matches, missing = [], []
    for name in names:
        op, _, position = full_name(name).rpartition(":")
        tensors = outputs.get(op, [])
        if position.isdecimal() and int(position) < len(tensors):
            matches.append(tensors[int(position)])
        else:
            missing.append(name)
    if missing:
        similar = difflib.get_close_matches(op_name(missing[0]), known, MAX_LISTED)
        placeholders = [name for name, kind in known.items() if kind == "Placeholder"]
        hint = "Similar names in the graph" if similar else "The graph's placeholders"
        hints = (
            [f"{hint} are {some(map(full_name, similar or placeholders))}."]
            if similar or placeholders
            else []
        )
        raise noted(EndsError(f"Invalid tensors '{','.join(missing)}' were found."), *hints)
    return matches


def prune_nodes(graph_def, roots: Iterable[str]) -> None:
    """Drops the nodes of a GraphDef message that the nodes `roots` neither are nor wait for.

    What nobody asked for, such as the training part of a graph, is not even looked at.
    """
    inputs = {node.name: node.input for node in graph_def.node}
    needed: set[str] = set()
    stack = [name for name in roots if name in inputs]
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            stack += [producer for producer in map(op_name, inputs[name]) if producer in inputs]
    for i in reversed(range(len(graph_def.node))):
        if graph_def.node[i].name not in needed:
            del graph_def.node[i]


def set_shapes(inputs: Mapping[str, Tensor], *declared: Shapes) -> dict[str, Shape]:
    """The shape of each input, by name: what its tensor says and what each of `declared` adds.

    Raises ValueError when one of `declared` has a name that `inputs` lacks, or contradicts another.
    """
    names = {full_name(name): name for name in inputs}
    shapes = {name: tensor.sizes for name, tensor in inputs.items()}
    for declaration in declared:
        for tensor_name, shape in declaration.items():
            if full_name(tensor_name) not in names:
                input_names = some(map(short_name, inputs)) or "none"
                raise noted(
                    ValueError(f"Invalid tensor '{tensor_name}' found in tensor shapes map."),
                    f"The inputs are {input_names}.",
                )
            name = names[full_name(tensor_name)]
            shapes[name] = _merged(short_name(name), shapes[name], shape)
    return shapes


def _merged(name: str, shape: Shape, declared: Sequence[int | None] | None) -> Shape:
    """A shape refined by a declared one."""
    if declared is None:
        return shape
    try:
        new_shape = tuple(None if n is None or index(n) < 0 else index(n) for n in declared)
    except TypeError:
        raise ValueError(
            f"The shape of tensor '{name}' must be a list of integers and None, got {declared!r}"
        ) from None
    try:
        return merge(shape, new_shape)
    except ValueError:
        raise noted(
            ValueError(
                f"The shape of tensor '{name}' cannot be changed from {shape} to {declared}. "
                f"{_clash(shape or (), new_shape)}"
            ),
            "Only unknown (None) dimensions may be given.",
        ) from None


def _clash(a: Sequence[int | None], b: Sequence[int | None]) -> str:
    """Why two shapes do not go together, as TensorFlow says it."""
    if len(a) != len(b):
        return f"Shapes must be equal rank, but are {len(a)} and {len(b)}"
    i = next(i for i, (x, y) in enumerate(zip(a, b, strict=True)) if None not in (x, y) and x != y)
    return (
        f"Dimension {i} in both shapes must be equal, but are {a[i]} and {b[i]}. "
        f"Shapes are {shown(tuple(a))} and {shown(tuple(b))}."
    )
