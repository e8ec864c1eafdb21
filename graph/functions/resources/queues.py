"""tf.queue: queues between the threads that run a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor, create
from ...core.dtype import DType
from ...core.scopes import device
from ...core.scopes import name_scope as scoped
from ...core.signatures.attribute_checks import int_value
from ...core.tensor_shape import Dimension, TensorShape
from ..random import get_seed

if TYPE_CHECKING:
    from ...core.graph import Operation, Tensor
    from ...core.protocols import AttrValue
    from ...core.typing import DTypeLike, ShapeLike, TensorLike

    Values: TypeAlias = "TensorLike | Sequence[TensorLike] | Mapping[str, TensorLike]"
    Dequeued: TypeAlias = "Tensor | list[Tensor] | dict[str, Tensor]"
    Shapes: TypeAlias = "Sequence[ShapeLike | None] | ShapeLike | None"

CPU = "/device:CPU:*"


class QueueBase:
    """A queue that a Session keeps: what its operations put in others take out.

    Args:
        dtypes: Those of the components of an element.
        shapes: Those of the components, none where any may come.
        names: Of the components, where elements are dictionaries.
        queue_ref: The tensor that stands for the queue.

    Raises ValueError when there are not as many shapes or names as dtypes.
    """

    def __init__(
        self,
        dtypes: Sequence[DType],
        shapes: Sequence[TensorShape] | None,
        names: Sequence[str] | None,
        queue_ref: Tensor,
    ):
        self._dtypes = list(dtypes)
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError(
                f"Queue shapes must have the same length as dtypes, received len(shapes)="
                f"{len(shapes)}, len(dtypes)={len(dtypes)}"
            )
        self._shapes = [TensorShape(None)] * len(dtypes) if shapes is None else list(shapes)
        self._names = None if names is None else list(names)
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.rpartition("/")[2]

    @property
    def queue_ref(self) -> Tensor:
        """The tensor that stands for the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of its operation."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of the components of an element."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components of an element."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of the components of an element, None where they have none."""
        return self._names

    @staticmethod
    def from_list(index: TensorLike, queues: Sequence[QueueBase]) -> QueueBase:
        """The one of `queues` at `index`, an integer scalar that is known when it runs.

        Raises TypeError for something else than queues, or queues of unequal dtypes or names.
        """
        if not queues or not all(isinstance(queue, QueueBase) for queue in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(queue.dtypes == first.dtypes for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(queue.names == first.names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [_common([queue.shapes[i] for queue in queues]) for i in range(len(first.dtypes))]
        handles = ops.Pack([queue.queue_ref for queue in queues])
        handle = ops.GatherV2(handles, convert_to_tensor(index), np.int32(0))
        return QueueBase(first.dtypes, shapes, first.names, handle)

    def enqueue(self, vals: Values, name: str | None = None) -> Operation:
        """An operation that adds an element, and waits until there is room.

        Raises:
            ValueError: The components have other names, dtypes or shapes.
            CancelledError: When it runs: the queue is closed.
        """
        with scoped(name, f"{self._name}_enqueue") as scope:
            parts = self._converted(vals)
            for part, shape in zip(parts, self._shapes, strict=False):
                part.shape.assert_is_compatible_with(shape)
            return create("QueueEnqueueV2", [self._queue_ref, parts], name=scope)

    def enqueue_many(self, vals: Values, name: str | None = None) -> Operation:
        """An operation that adds elements, one for each row of the components."""
        with scoped(name, f"{self._name}_EnqueueMany") as scope:
            parts = self._converted(vals)
            count = Dimension(None)
            for part, shape in zip(parts, self._shapes, strict=False):
                count = count.merge_with(part.shape.with_rank_at_least(1)[0])
                part.shape[1:].assert_is_compatible_with(shape)
            return create("QueueEnqueueManyV2", [self._queue_ref, parts], name=scope)

    def dequeue(self, name: str | None = None) -> Dequeued:
        """An element, when there is one.

        Raises OutOfRangeError when it runs and the queue is closed and empty.
        """
        name = f"{self._name}_Dequeue" if name is None else name
        tensors = self._taken("QueueDequeueV2", [], name)
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(shape)
        return self._as_values(tensors)

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Dequeued:
        """`n` elements, each a row of every component, when there are as many."""
        name = f"{self._name}_DequeueMany" if name is None else name
        tensors = self._taken("QueueDequeueManyV2", [n], name)
        value = tensors[0].op.inputs[1].value
        count = [None if value is None else int(value)]
        return self._as_rows(tensors, count)

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Dequeued:
        """`n` elements, or as many as are left in a queue that is closed."""
        name = f"{self._name}_DequeueUpTo" if name is None else name
        return self._as_rows(self._taken("QueueDequeueUpToV2", [n], name), [None])

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An operation after which nothing gets in.

        Args:
            cancel_pending_enqueues: Whether what waits for room fails; else it is waited for.
            name: Of the operation.
        """
        attrs = {"cancel_pending_enqueues": cancel_pending_enqueues}
        return self._beside("QueueCloseV2", attrs, name or f"{self._name}_Close")

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether nothing gets in."""
        return self._beside("QueueIsClosedV2", {}, name or f"{self._name}_Is_Closed").outputs[0]

    def size(self, name: str | None = None) -> Tensor:
        """How many elements there are."""
        return self._beside("QueueSizeV2", {}, name or f"{self._name}_Size").outputs[0]

    def _beside(self, kind: str, attrs: Mapping[str, AttrValue], name: str) -> Operation:
        return create(kind, [self._queue_ref], attrs, name)

    def _taken(self, kind: str, inputs: Sequence[TensorLike], name: str) -> list[Tensor]:
        attrs: dict[str, AttrValue] = {"component_types": [x.dtype for x in self._dtypes]}
        return list(create(kind, [self._queue_ref, *inputs], attrs, name).outputs)

    def _as_rows(self, tensors: list[Tensor], count: list[int | None]) -> Dequeued:
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(TensorShape(count).concatenate(shape))
        return self._as_values(tensors)

    def _as_values(self, tensors: list[Tensor]) -> Dequeued:
        """A dictionary where the components have names, the only component, or all."""
        if self._names is not None:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def _parts(self, vals: Values) -> list[TensorLike]:
        """The components in order."""
        if isinstance(vals, Mapping):
            named = vals
            if self._names is None:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(named):
                raise ValueError(
                    f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"{sorted(named)},Queue: {sorted(self._names)}"
                )
            return [named[name] for name in self._names]
        if self._names is not None:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        if isinstance(vals, (list, tuple)):
            return list(cast("Sequence[TensorLike]", vals))
        return [cast("TensorLike", vals)]

    def _converted(self, vals: Values) -> list[Tensor]:
        pairs = zip(self._parts(vals), self._dtypes, strict=False)
        return [
            convert_to_tensor(part, dtype, name=f"component_{i}")
            for i, (part, dtype) in enumerate(pairs)
        ]


def _common(shapes: Sequence[TensorShape]) -> TensorShape:
    common = shapes[0]
    for shape in shapes[1:]:
        common = common.most_specific_compatible_shape(shape)
    return common


def _dtypes(dtypes: DTypeLike | Sequence[DTypeLike]) -> list[DType]:
    listed = dtypes if isinstance(dtypes, (list, tuple)) else [cast("DTypeLike", dtypes)]
    return [cast("DType", DType.of(dtype)) for dtype in listed]


def _shapes(shapes: Shapes, dtypes: Sequence[DType], partial: bool) -> list[TensorShape] | None:
    """The declared shapes; None where there are none.

    Raises ValueError where one is not wholly known, or, for `partial` ones, there are none.
    """
    unknown = "When providing partial shapes, a list of shapes must be provided."
    if shapes is None:
        if partial:
            raise ValueError(unknown)
        return None
    if isinstance(shapes, TensorShape) or not isinstance(shapes, (list, tuple)):
        listed = [TensorShape(cast("ShapeLike", shapes))]
    elif len(dtypes) == 1 and all(n is None or isinstance(n, (int, Dimension)) for n in shapes):
        if partial and (None in shapes or not shapes) and len(shapes) == 1:
            raise ValueError(unknown)
        listed = [TensorShape(cast("ShapeLike", shapes))]
    else:
        listed = [TensorShape(shape) for shape in shapes]
    if not partial and not all(shape.is_fully_defined() for shape in listed):
        raise ValueError(f"All shapes must be fully defined: {listed}")
    return listed


def _names(names: str | Sequence[str] | None, dtypes: Sequence[DType]) -> list[str] | None:
    """The names of components; an empty list is none.

    Raises ValueError when they are not as many as the dtypes.
    """
    if not names:
        return None
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) != len(dtypes):
        raise ValueError(
            "List of names must have the same length as the list of dtypes, received len(names)="
            f"{len(listed)},len(dtypes)={len(dtypes)}"
        )
    return listed


def _handle(
    kind: str,
    dtypes: Sequence[DType],
    shapes: Sequence[TensorShape] | None,
    capacity: int,
    shared_name: str | None,
    name: str,
    **more: AttrValue,
) -> Tensor:
    attrs: dict[str, AttrValue] = {
        "component_types": [dtype.dtype for dtype in dtypes],
        "shapes": [shape.as_shape() for shape in shapes or ()],
        "capacity": int(capacity),
        "container": b"",
        "shared_name": (shared_name or "").encode(),
        **more,
    }
    return create(kind, (), attrs, name).outputs[0]


class FIFOQueue(QueueBase):
    """A queue that gives elements in the order in which they came.

    Args:
        capacity: How many elements there may be.
        dtypes: Those of the components, or of the only one.
        shapes: Those of the components; dequeue_many wants them.
        names: Of the components, where elements are dictionaries.
        shared_name: Queues of one session with the same one are the same queue.
        name: Of the operation.

    Raises ValueError when there are not as many shapes or names as dtypes, or a shape is not known.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Shapes = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ):
        types = _dtypes(dtypes)
        known, named = _shapes(shapes, types, False), _names(names, types)
        with device(CPU):
            room = int_value("capacity", capacity)
            handle = _handle("FIFOQueueV2", types, known, room, shared_name, name)
        super().__init__(types, known, named, handle)


class RandomShuffleQueue(QueueBase):
    """A queue that gives its elements in any order.

    Args:
        capacity: How many elements there may be.
        min_after_dequeue: How many stay in it as long as it is open.
        dtypes: Those of the components.
        shapes: Those of the components; dequeue_many wants them.
        names: Of the components, where elements are dictionaries.
        seed: The same one gives the same order; see set_random_seed.
        shared_name: Queues of one session with the same one are the same queue.
        name: Of the operation.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Shapes = None,
        names: str | Sequence[str] | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ):
        types = _dtypes(dtypes)
        known, named = _shapes(shapes, types, False), _names(names, types)
        first, second = get_seed(seed)
        if first is None and second is None:
            first, second = 0, 0
        elif seed is None and shared_name is not None:
            second = int.from_bytes(shared_name.encode()[-4:], "big") & 0x7FFFFFFF
        handle = _handle(
            "RandomShuffleQueueV2", types, known, capacity, shared_name, name,
            min_after_dequeue=int(min_after_dequeue), seed=first or 0, seed2=second or 0,
        )  # fmt: skip
        super().__init__(types, known, named, handle)


class PaddingFIFOQueue(QueueBase):
    """A queue of elements whose sizes differ: those taken together are filled up with zeros.

    Args:
        capacity: How many elements there may be.
        dtypes: Those of the components.
        shapes: Those of the components, None for each size that differs.
        names: Of the components, where elements are dictionaries.
        shared_name: Queues of one session with the same one are the same queue.
        name: Of the operation.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Shapes,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ):
        types = _dtypes(dtypes)
        known, named = _shapes(shapes, types, True), _names(names, types)
        if known is not None and len(known) != len(types):
            raise ValueError(
                f"Shapes must be provided for all components, but received {len(types)} dtypes "
                f"and {len(known)} shapes."
            )
        for shape in known or ():
            if shape.ndims is None:
                raise ValueError(f"Shape {shape} must have a defined rank")
        handle = _handle("PaddingFIFOQueueV2", types, known, capacity, shared_name, name)
        super().__init__(types, known, named, handle)


class PriorityQueue(QueueBase):
    """A queue that gives the element with the smallest number.

    The number, int64, is the first component, before those of `types`.

    Args:
        capacity: How many elements there may be.
        types: The dtypes of the other components.
        shapes: Those of the other components.
        names: Of all components, where elements are dictionaries.
        shared_name: Queues of one session with the same one are the same queue.
        name: Of the operation.
    """

    def __init__(
        self,
        capacity: int,
        types: DTypeLike | Sequence[DTypeLike] | None,
        shapes: Shapes = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ):
        others = _dtypes(types) if types is not None else []
        known, all_types = _shapes(shapes, others, False), [*_dtypes(np.int64), *others]
        named = _names(names, all_types)
        handle = _handle("PriorityQueueV2", others, known, capacity, shared_name, name)
        super().__init__(all_types, [TensorShape(()), *(known or ())], named, handle)
