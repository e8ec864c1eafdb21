"""A graph as a C library sees it: a TfLiteContext with tensors, nodes and functions."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine.plan.arena import address
from ...engine.run.stages import aligned
from ...interpreter.delegation.delegation import grouped, read_outside
from ...interpreter.delegation.partition import Partition
from ...interpreter.delegation.partitioner import in_order, partition_graph
from ...interpreter.plan.node import Node
from ...schema.tables import BUILTIN_OPERATOR
from .builtin_data import ROWS, WITHOUT_ROW
from .memory import Arrays, free, ints_at
from .printf import formatted
from .structures import (
    BUILTIN_CUSTOM,
    COPY_FROM,
    ERROR,
    FREE,
    INIT,
    N_EXTERNAL_CONTEXTS,
    OK,
    POINTER,
    PREPARE,
    SIGNATURES,
    STATUSES,
    Context,
    DelegateParams,
    NodeStructure,
    Registration,
    Structure,
)
from .tensors import Tensors, reason_against_tensor

if TYPE_CHECKING:
    from ...interpreter.delegation.offer import Offer
    from ...interpreter.delegation.partition import AnyDelegate
    from .library import Handle

_GRAPHS: weakref.WeakValueDictionary[int, Graph] = weakref.WeakValueDictionary()
"""Address of a context -> its graph."""


def reason_against(op: Node) -> str | None:
    """Why a library is not shown an operator; None if it is."""
    is_builtin = op.kind in BUILTIN_OPERATOR
    if op.kind in WITHOUT_ROW:
        return f"{op.kind} has options that flatlite does not write in C"
    if is_builtin and op.stateful:
        return f"{op.kind} may keep state, which stays with the CPU"
    operands = [x for x in (*op.inputs, *op.results) if x is not None]
    return next(filter(None, map(reason_against_tensor, operands)), None)


class Kernel(NamedTuple):
    """What a library computes a group of nodes with.

    Attributes:
        partition: the nodes, their inputs and outputs.
        registration: its functions.
        node: the node that stands for all of them.
    """

    partition: Partition
    registration: Structure
    node: Structure


class Graph:
    """What one library is shown of one stage of a model.

    Args:
        delegate: whose partitions they are.
        handle: the library's delegate.
        ops: what runs there.

    Attributes:
        kernels: what the library has taken.
        reasons: why it was not shown the other operators, by index.
    """

    def __init__(self, delegate: AnyDelegate, handle: Handle, ops: Offer) -> None:
        self.kernels: list[Kernel] = []
        self.reasons: dict[int, str] = {}
        self._delegate, self._handle, self._offer = delegate, handle, ops
        self._steps: list[Node | Partition] = list(ops)
        self._arrays, self._context = Arrays(), Context()
        self._errors: list[str] = []
        self._external = [0] * N_EXTERNAL_CONTEXTS
        self._is_choosing = False
        self._tensors = Tensors(self._context, self._arrays)
        self._nodes: dict[int, tuple[Structure, Structure, Node]] = {}
        threads = -1
        for op in ops:
            if isinstance(op, Node):
                reason = reason_against(op)
                if reason is None:
                    self._nodes[op.index] = (*self._node(op), op)
                    threads = threads if op.scope is None else op.scope.n_threads
                else:
                    self.reasons[op.index] = reason
        self._tensors.make()
        self._plan = self._arrays.ints(self._nodes)
        self._context.recommended_num_threads = threads
        for name, function in _FUNCTIONS.items():
            setattr(self._context, name, function)
        _GRAPHS[self._context.address] = self
        self._functions: list[tuple[Structure, Structure]] = []
        weakref.finalize(
            self, _release, self._context, self._tensors, self._arrays, self._functions, handle
        )

    def choose(self) -> None:
        """Lets the library take nodes; raises RuntimeError when it fails."""
        self._is_choosing = True
        try:
            prepare = PREPARE(self._handle.delegate.Prepare)
            self._check("Prepare", prepare(self._context.address, self._handle.address))
        finally:
            self._is_choosing = False

    def compile(self, kernel: Kernel) -> Callable[..., list[np.ndarray]]:
        """Prepares a kernel; gives the function that runs it."""
        partition, registration, node = kernel
        context = self._context.address
        if registration.prepare:
            status = PREPARE(registration.prepare)(context, node.address)
            self._check("prepare", status)
        if not registration.invoke:
            raise RuntimeError("its kernel has no function invoke")
        invoke = PREPARE(registration.invoke)
        tensors = self._tensors
        inputs = [tensors.index(x) for x in partition.inputs]
        outputs = [(tensors.index(x), aligned(x.shape, x.dtype)) for x in partition.outputs]
        for index, array in outputs:
            tensors[index].data = address(array)
        results, node_address = [array for _, array in outputs], node.address

        def run(*arrays: np.ndarray) -> list[np.ndarray]:
            values = [np.ascontiguousarray(array) for array in arrays]
            for index, value in zip(inputs, values, strict=True):
                tensors[index].data = address(value)
            self._errors.clear()
            self._check("invoke", invoke(context, node_address))
            for index, _ in outputs:
                self._fetch(tensors[index])
            return results

        return run

    def _fetch(self, tensor: Structure) -> None:
        """Copies what the library holds in a buffer of its own into the tensor's memory."""
        if tensor.data_is_stale:
            delegate = self._handle.delegate
            if not delegate.CopyFromBufferHandle:
                raise RuntimeError("it left a result in a buffer and cannot copy from it")
            copy = COPY_FROM(delegate.CopyFromBufferHandle)
            handle, address = self._handle.address, tensor.address
            status = copy(self._context.address, handle, tensor.buffer_handle, address)
            self._check("CopyFromBufferHandle", status)
            tensor.data_is_stale = False

    def _node(self, op: Node) -> tuple[Structure, Structure]:
        """The node and the registration of an operator."""
        arrays, tensors = self._arrays, self._tensors
        node = NodeStructure(
            inputs=arrays.ints(map(tensors.index, op.inputs)),
            outputs=arrays.ints(map(tensors.index, op.results)),
            intermediates=arrays.ints(()),
            might_have_side_effect=op.stateful,
        )
        registration = Registration(builtin_code=BUILTIN_CUSTOM, version=op.version)
        if op.kind in BUILTIN_OPERATOR:
            registration.builtin_code = BUILTIN_OPERATOR[op.kind]
            row = ROWS.get(op.kind)
            node.builtin_data = None if row is None else arrays.put(row.data(op.options))
        else:
            registration.custom_name = arrays.text(op.kind)
            node.custom_initial_data = arrays.text(op.custom_options)
            node.custom_initial_data_size = len(op.custom_options)
        arrays.put(node)
        arrays.put(registration)
        return node, registration

    def _check(self, function: str, status: int) -> None:
        """Raises RuntimeError, with what was reported, when a function failed."""
        if status != OK:
            name = STATUSES[status] if 0 <= status < len(STATUSES) else str(status)
            errors = "\n".join(self._errors) or f"{function} gave {name} and reported no error"
            self._errors.clear()
            raise RuntimeError(errors)

    def _partitions(self, indices: Sequence[int]) -> list[Partition]:
        """The partitions that some nodes make."""
        unknown = [i for i in indices if i not in self._nodes]
        if unknown:
            raise IndexError(f"no nodes of the execution plan: {unknown}")
        claimed = [self._nodes[i][2] for i in indices]
        partitions: list[Partition] = []
        for group in partition_graph(self._steps, claimed):
            nodes = [op for op in group if isinstance(op, Node)]
            needed = read_outside(self._steps, nodes, self._offer)
            partitions.append(Partition(self._delegate, 0, nodes, needed))
        return partitions

    def _params(self, partition: Partition) -> Structure:
        arrays, index = self._arrays, self._tensors.index
        inputs = [*partition.inputs, *partition.constants]
        return DelegateParams(
            delegate=self._handle.address,
            nodes_to_replace=arrays.ints(op.index for op in partition.ops),
            input_tensors=arrays.ints(sorted(map(index, inputs))),
            output_tensors=arrays.ints(sorted(map(index, partition.outputs))),
        )

    def _needs_choosing(self) -> None:
        if not self._is_choosing:
            raise RuntimeError("it may be called only while the delegate's Prepare runs")

    # What follows are the functions of the context, under the names they have in C.

    def GetExecutionPlan(self, plan: int) -> None:
        """The nodes in the order they run."""
        self._needs_choosing()
        POINTER.from_address(plan).value = self._plan

    def GetNodeAndRegistration(self, index: int, node: int, registration: int) -> None:
        """A node and what kind it is."""
        self._needs_choosing()
        if index not in self._nodes:
            raise IndexError(f"there is no node {index}")
        POINTER.from_address(node).value = self._nodes[index][0].address
        POINTER.from_address(registration).value = self._nodes[index][1].address

    def PreviewDelegatePartitioning(self, nodes: int, params: int, n: int) -> None:
        """What partitions some nodes would make."""
        self._needs_choosing()
        partitions = [self._params(x) for x in self._partitions(ints_at(nodes))]
        table = (DelegateParams * max(len(partitions), 1))(*partitions)
        POINTER.from_address(params).value = self._arrays.put(table)
        ctypes.c_int.from_address(n).value = len(partitions)

    def ReplaceNodeSubsetsWithDelegateKernels(
        self, registration: Structure, nodes: int, delegate: int
    ) -> None:
        """Puts kernels of the library in the place of nodes."""
        self._needs_choosing()
        if delegate != self._handle.address:
            raise ValueError("the delegate must be the one that is prepared")
        registration = Registration.from_buffer_copy(registration)
        registration.builtin_code = BUILTIN_OPERATOR["DELEGATE"]
        partitions = self._partitions(ints_at(nodes))
        arrays, context = self._arrays, self._context.address
        for partition in partitions:
            params = self._params(partition)
            node = NodeStructure(
                inputs=params.input_tensors,
                outputs=params.output_tensors,
                intermediates=arrays.ints(()),
                builtin_data=arrays.put(params),
                delegate=delegate,
            )
            self.kernels.append(Kernel(partition, registration, node))
            self._functions.append((registration, node))
            for output in partition.outputs:
                self._tensors[self._tensors.index(output)].delegate = delegate
            if registration.init:
                node.user_data = INIT(registration.init)(context, params.address, 0)
        self._steps = in_order(grouped(self._steps, partitions))

    def ResizeTensor(self, tensor: int, shape: int) -> None:
        """Gives a tensor another shape, which is its own from now on."""
        try:
            self._tensors.resize(tensor, ints_at(shape))
        finally:
            free(shape)

    def ResizeTensorExplicit(self, tensor: int, n: int, sizes: int) -> None:
        """Gives a tensor another shape."""
        self._tensors.resize(tensor, list((ctypes.c_int * n).from_address(sizes)))

    def AddTensors(self, n: int, first: int | None) -> None:
        """Adds tensors for the library's own use."""
        index = self._tensors.add(n)
        if first:
            ctypes.c_int.from_address(first).value = index

    def ReportError(self, template: int, *words: float) -> None:
        """Takes a message, for when the function that reports it fails."""
        text = formatted(ctypes.string_at(template), words).strip()
        if text:
            self._errors.append(text)

    def GetExternalContext(self, kind: int) -> int | None:
        """What SetExternalContext was given."""
        return self._external[kind] if 0 <= kind < N_EXTERNAL_CONTEXTS else None

    def SetExternalContext(self, kind: int, context: int | None) -> None:
        """Keeps a context that the library shares among its delegates."""
        if 0 <= kind < N_EXTERNAL_CONTEXTS:
            self._external[kind] = context or 0

    def GetModelMetadata(self, name: int, start: int, n: int) -> None:
        """Fails: what is shown to the library is not the file."""
        raise LookupError(f"there is no metadata {ctypes.string_at(name).decode(errors='replace')}")

    def AcquireSubgraphContext(self, index: int, context: int) -> None:
        """Fails: each subgraph is shown alone."""
        raise LookupError(f"there is no context of subgraph {index}")

    def ReleaseSubgraphContext(self, index: int) -> None:
        """Fails, as nothing was acquired."""
        raise LookupError(f"there is no context of subgraph {index}")

    def report(self, function: str, error: Exception) -> None:
        """Takes the error of a function of the context."""
        self._errors.append(f"{function}: {error}")


def _callback(name: str) -> Any:
    """The C function that calls the method `name` of a context's graph."""
    result, *arguments = SIGNATURES[name]
    fails = ERROR if result is ctypes.c_int else None

    def call(context: int, *values: int) -> int | None:
        graph = _GRAPHS.get(context)
        if graph is None:
            return fails
        try:
            value: int | None = getattr(graph, name)(*values)
        except Exception as error:  # no exception may pass through C
            graph.report(name, error)
            return fails
        return OK if result is ctypes.c_int else value

    return ctypes.CFUNCTYPE(result, *arguments)(call)


_CALLBACKS = {name: _callback(name) for name in SIGNATURES}
_FUNCTIONS = {name: ctypes.cast(function, POINTER).value for name, function in _CALLBACKS.items()}
"""Addresses of the callbacks, which live as long."""


def _release(
    context: Structure,
    tensors: Tensors,
    arrays: Arrays,
    kernels: list[tuple[Structure, Structure]],
    handle: Handle,
) -> None:
    """Frees the kernels of a graph; `arrays` and `handle` live until then."""
    for registration, node in kernels:
        if registration.free:
            FREE(registration.free)(context.address, node.user_data)
        free(node.temporaries)
    tensors.release()
    del arrays, handle
