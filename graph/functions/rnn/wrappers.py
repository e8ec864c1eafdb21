"""Cells made of other cells: on top of one another, or with dropout, a residual or a device."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from inspect import signature
from typing import TYPE_CHECKING, cast

from ...core.build import ops
from ...core.composite.structure import flatten, map_structure, pack
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...variables.variable_scope import variable_scope
from ..array import array
from ..nn.normalization import dropout
from .cells import LSTMStateTuple, RNNCell, as_input, shape_of

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Self

    from ...core.graph import Tensor
    from ...core.scopes import DeviceSpec
    from ...core.typing import DTypeLike, TensorLike
    from ...variables.variable_scope import VariableScope
    from ...variables.variables import Variable
    from ..nn.configurations import Config
    from .cells import Size, State


def require_cell(name: str, cell: object) -> None:
    """Raises TypeError, with what is missing, unless the argument `name` is like an RNNCell."""
    has_start = hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state")
    parts = {
        "'output_size' property is missing": _has(cell, "output_size"),
        "'state_size' property is missing": _has(cell, "state_size"),
        "either 'zero_state' or 'get_initial_state' method is required": has_start,
        "is not callable": callable(cell),
    }
    missing = ", ".join(words for words, is_there in parts.items() if not is_there)
    if missing:
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {missing}.")


def _has(cell: object, name: str) -> bool:
    """Whether an object has a property, which may refuse to tell its value yet."""
    return hasattr(type(cell), name) or hasattr(cell, name)


class MultiRNNCell(RNNCell):
    """Cells on top of one another: each gets the output of the one before.

    Raises TypeError unless `cells` is a list, ValueError when it is empty.
    """

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True):
        super().__init__()
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"cells must be a list or tuple, but received: {cells}.")
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        self._cells = list(cells)
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(isinstance(c.state_size, (list, tuple)) for c in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set."
            )

    @property
    def state_size(self) -> Size:
        """The sizes of the cells' states, or their sum."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(cast("tuple[int, ...]", sizes))

    @property
    def output_size(self) -> Size:
        """That of the last cell."""
        return self._cells[-1].output_size

    @property
    def variables(self) -> list[Variable]:
        """Those of the cells."""
        return [variable for cell in self._cells for variable in cell.variables]

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> State:
        """The cells' states of zeros of `dtype` for `batch_size` rows, a tuple."""
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Output of the last cell for `inputs` [batch, depth], and the states of all.

        Raises ValueError unless the state is a tuple as long as there are cells.
        """
        if self._state_is_tuple:
            if not isinstance(state, (list, tuple)):
                raise ValueError(
                    f"Expected state to be a tuple of length {len(self._cells)}, but received: "
                    f"{state}"
                )
            states = list(cast("Sequence[State]", state))
        else:
            sizes = [cast("int", cell.state_size) for cell in self._cells]
            states = list(array.split(cast("Tensor", state), sizes, 1))
        after: list[State] = []
        for i, (cell, before) in enumerate(zip(self._cells, states, strict=True)):
            with variable_scope(f"cell_{i}"):
                inputs, new = cell(inputs, before)
            after.append(new)
        if self._state_is_tuple:
            return inputs, tuple(after)
        return inputs, array.concat(cast("list[Tensor]", after), 1)


class _Wrapper(RNNCell, ABC):
    """A cell around another one."""

    def __init__(self, cell: RNNCell):
        super().__init__()
        require_cell("cell", cell)
        self._cell = cell

    def get_config(self) -> Config:
        """The arguments it was made with, the cell inside as its class and configuration."""
        cell = {"class_name": type(self._cell).__name__, "config": self._cell.get_config()}
        return super().get_config() | {"cell": cell}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """The wrapper with the arguments that `get_config` gives, around `config["cell"]`.

        Raises ValueError unless that was replaced by a cell.
        """
        if isinstance(config["cell"], dict):
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell. Please overwrite the cell in "
                "the config with a RNNCell instance."
            )
        arguments = {name: config[name] for name in signature(cls).parameters if name in config}
        wrapper = cast("Callable[..., Self]", cls)(**arguments)
        wrapper._name = str(config.get("name", wrapper._name))
        return wrapper

    @property
    def wrapped_cell(self) -> RNNCell:
        """The cell inside."""
        return self._cell

    @property
    def state_size(self) -> Size:
        """That of the cell inside."""
        return self._cell.state_size

    @property
    def output_size(self) -> Size:
        """That of the cell inside."""
        return self._cell.output_size

    @property
    def variables(self) -> list[Variable]:
        """Those of the cell inside."""
        return self._cell.variables

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> State:
        """That of the cell inside."""
        return self._cell.zero_state(batch_size, dtype)

    def __call__(
        self, inputs: TensorLike, state: State, scope: str | VariableScope | None = None
    ) -> tuple[Tensor, State]:
        """Output and next state, of what is around the cell inside."""
        return self._wrapped(cast("Tensor", map_structure(as_input, inputs)), state, scope)

    @abstractmethod
    def _wrapped(
        self, inputs: Tensor, state: State, scope: str | VariableScope | None
    ) -> tuple[Tensor, State]:
        """Output and next state, for an input that is a tensor."""


class DropoutWrapper(_Wrapper):
    """A cell whose inputs, outputs and states lose elements.

    Args:
        cell: The cell inside.
        input_keep_prob, output_keep_prob, state_keep_prob: The parts that stay.
        variational_recurrent: Whether the same elements go in every step.
        input_size: The depth of the inputs, needed when they lose the same elements every step.
        dtype: Of inputs and states, needed for the same.
        seed: Of the draws.
        dropout_state_filter_visitor: Says which parts of the state lose elements.
    """

    CONFIGURED = (
        *("input_keep_prob", "output_keep_prob", "state_keep_prob", "variational_recurrent"),
        *("input_size", "seed"),
    )

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: TensorLike = 1.0,
        output_keep_prob: TensorLike = 1.0,
        state_keep_prob: TensorLike = 1.0,
        variational_recurrent: bool = False,
        input_size: object = None,
        dtype: DTypeLike | None = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[object], object] | None = None,
    ):
        super().__init__(cell)
        self._keeps = {
            "input": input_keep_prob,
            "state": state_keep_prob,
            "output": output_keep_prob,
        }
        for name, keep in self._keeps.items():
            if isinstance(keep, (int, float)) and not 0 < keep <= 1:
                raise ValueError(
                    f"Parameter {name}_keep_prob must be between 0 and 1. Received {keep}"
                )
        self._input_keep_prob, self._output_keep_prob = input_keep_prob, output_keep_prob
        self._state_keep_prob, self._seed = state_keep_prob, seed
        self._variational_recurrent, self._input_size = variational_recurrent, input_size
        self._dtype = None if dtype is None else as_numpy(dtype)
        self._filter = dropout_state_filter_visitor
        self._noise: dict[str, Tensor] = {}
        if variational_recurrent:
            if dtype is None:
                raise ValueError("When variational_recurrent=True, dtype must be provided")
            self._draw(cast("Size | None", input_size), as_numpy(dtype))

    def get_config(self) -> Config:
        """The arguments it was made with; `dropout_state_filter_visitor` as it is, if any."""
        visitor = {} if self._filter is None else {"dropout_state_filter_visitor": self._filter}
        return super().get_config() | visitor

    def _draw(self, input_size: Size | None, dtype: np.dtype) -> None:
        """The numbers of a run, which every step uses again."""
        from ..random import random_uniform

        sizes = {"output": self._cell.output_size, "state": self._cell.state_size}
        if input_size is not None:
            sizes["input"] = input_size
        for name, size in sizes.items():
            for i, leaf in enumerate(flatten(size)):
                shape = [1, *shape_of(cast("Size", leaf))]
                key = f"{name}_{i}"
                self._noise[key] = random_uniform(shape, seed=_seed(self._seed, key), dtype=dtype)

    def _dropped(self, name: str, index: int, value: Tensor) -> Tensor:
        keep = self._keeps[name]
        if isinstance(keep, (int, float)) and keep == 1:
            return value
        key = f"{name}_{index}"
        noise = self._noise.get(key)
        if noise is None:
            seed = _seed(self._seed, key)
            return dropout(value, keep_prob=cast("float | Tensor", keep), seed=seed)
        part = convert_to_tensor(keep, value.dtype)
        mask = ops.Floor(ops.AddV2(noise, part))
        dropped = ops.Mul(ops.RealDiv(value, part), mask)
        dropped.set_shape(value.sizes)
        return dropped

    def _wrapped(
        self, inputs: Tensor, state: State, scope: str | VariableScope | None
    ) -> tuple[Tensor, State]:
        output, after = self._cell(self._dropped("input", 0, inputs), state, scope)
        leaves = [cast("Tensor", leaf) for leaf in flatten(after)]
        chosen = self._chosen(after, len(leaves))
        leaves = [
            self._dropped("state", i, leaf) if chosen[i] else leaf for i, leaf in enumerate(leaves)
        ]
        return self._dropped("output", 0, output), cast("State", pack(after, leaves))

    def _chosen(self, state: State, n: int) -> list[bool]:
        """Which parts of the state lose elements: of an LSTM its output alone."""
        if self._filter is not None:
            return [bool(yes) for yes in flatten(self._filter(state))]
        return _outputs_of(state) or [True] * n


def _outputs_of(state: object) -> list[bool]:
    if isinstance(state, LSTMStateTuple):
        return [False, True]
    if isinstance(state, (list, tuple)):
        return [yes for part in cast("Sequence[object]", state) for yes in _outputs_of(part)]
    return [True]


def _seed(seed: int | None, salt: str) -> int | None:
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF


class ResidualWrapper(_Wrapper):
    """A cell whose output is added to its input, or what `residual_fn(input, output)` gives."""

    def __init__(
        self, cell: RNNCell, residual_fn: Callable[[Tensor, Tensor], Tensor] | None = None
    ):
        super().__init__(cell)
        self._residual_fn = residual_fn

    def get_config(self) -> Config:
        """The arguments it was made with; `residual_fn` as it is, if any."""
        function = {} if self._residual_fn is None else {"residual_fn": self._residual_fn}
        return super().get_config() | function

    def _wrapped(
        self, inputs: Tensor, state: State, scope: str | VariableScope | None
    ) -> tuple[Tensor, State]:
        output, after = self._cell(inputs, state, scope)
        return (self._residual_fn or ops.AddV2)(inputs, output), after


class DeviceWrapper(_Wrapper):
    """A cell whose operations have a device noted."""

    CONFIGURED = ("device",)

    def __init__(self, cell: RNNCell, device: DeviceSpec):
        super().__init__(cell)
        self._device = device

    def _wrapped(
        self, inputs: Tensor, state: State, scope: str | VariableScope | None
    ) -> tuple[Tensor, State]:
        from ...core.scopes import device

        with device(self._device):
            return self._cell(inputs, state, scope)
