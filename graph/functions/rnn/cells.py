"""Recurrent cells: `tf.nn.rnn_cell`. A cell maps an input and a state to an output and a state.

A cell makes its variables when it is first called, in a variable scope of its own name, and uses
them again in every later call.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.composite.structure import flatten, map_structure
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...core.graph import Graph, Tensor
from ...core.scopes import get_default_graph, name_scope
from ...core.tensor_shape import TensorShape
from ...format.tensor_values import get_static_value
from ...variables.get_variable import get_variable
from ...variables.initializers import Constant, zeros_initializer
from ...variables.partitioned import PartitionedVariable, fixed_size_partitioner
from ...variables.variable_scope import VariableScope, variable_scope
from ..array import array, creation
from ..nn import activations
from ..nn.configurations import as_config, numbered, snake_case
from ..nn.named_functions import activation_of, initializer_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...core.typing import DTypeLike, ShapeLike, TensorLike
    from ...variables.partitioned import Partitioner
    from ...variables.variable_scope import InitializerLike, Reuse
    from ...variables.variables import Variable
    from ..nn.configurations import Config

State: TypeAlias = "Tensor | Sequence[State] | LSTMStateTuple"
"""A tensor, or a nested structure of them."""
Size: TypeAlias = "int | TensorShape | Sequence[Size] | LSTMStateTuple"
"""The size of a state or output, in its structure."""
Activation: TypeAlias = "Callable[[Tensor], Tensor]"


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: its memory `c` and its output `h`."""

    c: object
    h: object

    @property
    def dtype(self) -> object:
        """That of both."""
        c, h = (getattr(part, "dtype", None) for part in self)
        if c != h:
            raise TypeError(f"Inconsistent dtypes for internal state: {c} vs {h}")
        return c


def shape_of(size: Size) -> list[int]:
    """The dimensions that a size stands for, without the batch."""
    if isinstance(size, TensorShape):
        return cast("list[int]", size.as_list())
    return [int(cast("int", size))]


class RNNCell:
    """Base class of cells.

    A subclass has `state_size` and `output_size`, may make variables in `build(input_shape)`, and
    computes in `call(inputs, state)`.

    Args:
        trainable: Whether its variables are trained.
        name: The variable scope's name, by default that of the class.
        dtype: Of its variables, by default that of the first input.
        reuse: Whether its variables are there already.
    """

    CONFIGURED: ClassVar[tuple[str, ...]] = ()
    """The arguments beside name, `trainable` and `dtype`; attributes of an underscore more."""

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        _reuse: Reuse = None,
    ):
        self.trainable = trainable
        self.built = False
        kind = snake_case(type(self).__name__)
        self._base_name = name or kind
        self._name = name or numbered(kind)
        self._dtype = None if dtype is None else as_numpy(dtype)
        self._reuse = _reuse
        self._scope: VariableScope | None = None
        self._variables: list[Variable] = []
        self._is_entered = False

    @property
    def name(self) -> str:
        """Its name: that of its class with a number where it was left out."""
        return self._name

    def get_config(self) -> Config:
        """The arguments it was made with: numbers, text, and functions by their names."""
        dtype = None if self._dtype is None else self._dtype.name
        config: Config = {"name": self._name, "trainable": self.trainable, "dtype": dtype}
        return config | {name: as_config(getattr(self, f"_{name}")) for name in self.CONFIGURED}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """The cell with the arguments that `get_config` gives."""
        return cast("Callable[..., Self]", cls)(**config)

    @property
    def dtype(self) -> np.dtype | None:
        """Of its variables; None before the first call."""
        return self._dtype

    @property
    def graph(self) -> Graph:
        """That of its variables; without any the default graph."""
        return self._variables[0].graph if self._variables else get_default_graph()

    @property
    def scope_name(self) -> str:
        """The name of its variable scope.

        Raises ValueError before the first call.
        """
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self.name}"'
                " has not been used yet. The scope name is determined the first time"
                " the layer instance is called. You must therefore call the layer"
                " before querying `scope_name`."
            )
        return self._scope.name

    @property
    def variables(self) -> list[Variable]:
        """Its variables."""
        return list(self._variables)

    @property
    def trainable_variables(self) -> list[Variable]:
        """Its variables that are trained."""
        return [v for v in self.variables if v.trainable] if self.trainable else []

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Its variables that are not trained."""
        trained = set(self.trainable_variables)
        return [v for v in self.variables if v not in trained]

    @property
    def weights(self) -> list[Variable]:
        """Its variables."""
        return self.variables

    @property
    def trainable_weights(self) -> list[Variable]:
        """Its variables that are trained."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Its variables that are not trained."""
        return self.non_trainable_variables

    @property
    def state_size(self) -> Size:
        """The size of the state, in its structure."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Size:
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def build(self, inputs_shape: TensorShape) -> None:
        """Makes the variables for inputs of `inputs_shape`, [batch, depth]."""

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Output [batch, output_size] and next state for `inputs` [batch, depth] and a `state`."""
        raise NotImplementedError("Abstract method")

    def __call__(
        self, inputs: TensorLike, state: State, scope: str | VariableScope | None = None
    ) -> tuple[Tensor, State]:
        """Output and next state; the first call makes the variables."""
        tensor = cast("Tensor", map_structure(as_input, inputs))
        with self._entered(scope):
            if not self.built:
                first = flatten(tensor)[0]
                assert isinstance(first, Tensor)
                self._dtype = np.dtype(first.dtype) if self._dtype is None else self._dtype
                self.build(first.get_shape())
                self.built = True
            return self.call(tensor, state)

    @contextlib.contextmanager
    def _entered(self, scope: str | VariableScope | None = None) -> Generator[None]:
        """A block within the cell's variable scope, the one that was entered first."""
        if self._scope is None:
            first = scope if scope is not None else (self._base_name if self._reuse else None)
            block = variable_scope(first, self._base_name, reuse=self._reuse)
        else:
            block = variable_scope(self._scope, reuse=True if self.built else self._reuse)
        outer = self._is_entered
        with block as self._scope:
            self._is_entered = True
            try:
                yield
            finally:
                self._is_entered = outer

    def add_variable(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike | None = None,
        partitioner: Partitioner | None = None,
    ) -> Variable:
        """A variable in the cell's scope, in parts where a partitioner is given."""
        with contextlib.nullcontext() if self._is_entered else self._entered():
            variable = get_variable(
                name,
                shape,
                self._dtype if dtype is None else dtype,
                initializer_of(initializer),
                trainable=self.trainable,
                partitioner=partitioner,
            )
        whole: object = variable
        self._variables += list(whole) if isinstance(whole, PartitionedVariable) else [variable]
        return variable

    add_weight = add_variable

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> State:
        """A state of zeros of `dtype` for `batch_size` rows: [batch_size, n] for each size n."""
        kind = as_numpy(dtype)

        def zeros(size: object) -> Tensor:
            sizes = shape_of(cast("Size", size))
            if isinstance(batch_size, int):
                return creation.zeros([batch_size, *sizes], kind)
            shape = array.stack([batch_size, *(np.int32(n) for n in sizes)])
            state = creation.zeros(shape, kind)
            state.set_shape((None, *sizes))
            return state

        with name_scope(f"{type(self).__name__}ZeroState"):
            return cast("State", _map_sizes(zeros, self.state_size))

    def get_initial_state(
        self,
        inputs: TensorLike | None = None,
        batch_size: TensorLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> State:
        """A state of zeros for `inputs` [batch, ...], or for a `batch_size` and a `dtype`."""
        if inputs is not None:
            tensor = convert_to_tensor(inputs)
            self._require_like(tensor, batch_size, dtype)
            known = tensor.sizes[0] if tensor.sizes else None
            batch_size, dtype = creation.shape(tensor)[0] if known is None else known, tensor.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    @staticmethod
    def _require_like(
        inputs: Tensor, batch_size: TensorLike | None, dtype: DTypeLike | None
    ) -> None:
        """Raises ValueError when a batch size or type is not that of inputs."""
        known = inputs.sizes[0] if inputs.sizes else None
        if batch_size is not None:
            size = get_static_value(convert_to_tensor(batch_size))
            if isinstance(size, np.ndarray | np.generic) and known != size.item():
                raise ValueError(
                    "batch size from input tensor is different from the input param. Input tensor "
                    f"batch: {known}, batch_size: {batch_size}"
                )
        if dtype is not None and inputs.dtype != as_numpy(dtype):
            raise ValueError(
                "dtype from input tensor is different from the input param. Input tensor dtype: "
                f"{inputs.dtype}, dtype: {dtype}"
            )


def as_input(value: object) -> Tensor:
    """What a cell is called with, as a tensor."""
    return convert_to_tensor(cast("TensorLike", value))


def _map_sizes(function: Callable[[object], object], sizes: object) -> object:
    """A function of all sizes of a structure; a TensorShape is one size."""
    if isinstance(sizes, (list, tuple)):
        listed = cast("Sequence[object]", sizes)
        items = [_map_sizes(function, size) for size in listed]
        return LSTMStateTuple(*items) if isinstance(sizes, LSTMStateTuple) else tuple(items)
    return function(sizes)


def depth_of(cell: RNNCell, inputs_shape: TensorShape) -> int:
    """The size of an input of a cell; ValueError when it is not known."""
    depth = inputs_shape.as_list()[-1] if inputs_shape.ndims else None
    if depth is None:
        raise ValueError(
            "Expected inputs.shape[-1] to be known, saw shape: "
            f"{inputs_shape} of cell '{cell.name}'"
        )
    return depth


class Units(RNNCell):
    """A cell of some units."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | str | None = None,
        reuse: Reuse = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: bool,
    ):
        super().__init__(kwargs.pop("trainable", True), name, dtype, reuse)
        if kwargs:
            raise TypeError(f"unknown arguments: {', '.join(kwargs)}")
        self._num_units = num_units
        self._activation = cast("Activation", activation_of(activation or "tanh"))

    def __call__(
        self, inputs: TensorLike, state: State, scope: str | VariableScope | None = None
    ) -> tuple[Tensor, State]:
        """Output and next state; ValueError for inputs or states that are no floats."""
        for leaf in (*flatten(inputs), *flatten(state)):
            dtype = as_input(leaf).dtype
            if dtype is not None and dtype.kind in "iub":
                raise ValueError(
                    f"RNN cell only supports floating point inputs, but saw dtype: {dtype}"
                )
        return super().__call__(inputs, state, scope)

    @property
    def state_size(self) -> Size:
        """The number of units."""
        return self._num_units

    @property
    def output_size(self) -> Size:
        """The number of units."""
        return self._num_units


class BasicRNNCell(Units):
    """output = new state = activation(input @ w + state @ u + bias)."""

    CONFIGURED = "num_units", "activation", "reuse"

    def build(self, inputs_shape: TensorShape) -> None:
        """Makes `kernel` [depth + n, n] and `bias` [n] for an `inputs_shape` [batch, depth]."""
        n = self._num_units
        self._kernel = self.add_variable("kernel", [depth_of(self, inputs_shape) + n, n])
        self._bias = self.add_variable("bias", [n], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """activation([inputs, state] @ kernel + bias), both as output and as next state."""
        both = array.concat([inputs, cast("Tensor", state)], 1)
        product = activations.bias_add(ops.MatMul(both, self._kernel), self._bias)
        output = self._activation(product)
        return output, output


class GRUCell(Units):
    """A gated recurrent unit; its gates' biases start at 1."""

    CONFIGURED = "num_units", "kernel_initializer", "bias_initializer", "activation", "reuse"

    def __init__(
        self,
        num_units: int,
        activation: Activation | str | None = None,
        reuse: Reuse = None,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: bool,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer = initializer_of(kernel_initializer)
        self._bias_initializer = initializer_of(bias_initializer)

    def build(self, inputs_shape: TensorShape) -> None:
        """Makes `gates` and `candidate`, a kernel and a bias each, for an `inputs_shape`."""
        n, depth = self._num_units, depth_of(self, inputs_shape)
        kernel, bias = self._kernel_initializer, self._bias_initializer
        ones = Constant(1.0) if bias is None else bias
        zeros = zeros_initializer() if bias is None else bias
        add = self.add_variable
        self._gates = (
            add("gates/kernel", [depth + n, 2 * n], initializer=kernel),
            add("gates/bias", [2 * n], initializer=ones),
        )
        self._candidate = (
            add("candidate/kernel", [depth + n, n], initializer=kernel),
            add("candidate/bias", [n], initializer=zeros),
        )
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """u state + (1 - u) candidate of the `inputs`, both as output and as next state."""
        before = cast("Tensor", state)
        kernel, bias = self._gates
        product = ops.MatMul(array.concat([inputs, before], 1), kernel)
        gates = ops.Sigmoid(activations.bias_add(product, bias))
        reset, update = array.split(gates, 2, 1)
        kernel, bias = self._candidate
        product = ops.MatMul(array.concat([inputs, ops.Mul(reset, before)], 1), kernel)
        candidate = self._activation(activations.bias_add(product, bias))
        output = update * before + (1 - update) * candidate
        return output, output


class BasicLSTMCell(Units):
    """An LSTM without peepholes, clipping or projection."""

    CONFIGURED = "num_units", "forget_bias", "state_is_tuple", "activation", "reuse"

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | str | None = None,
        reuse: Reuse = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: bool,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Size:
        """A pair of the number of units, or twice that number."""
        n = self._num_units
        return LSTMStateTuple(n, n) if self._state_is_tuple else 2 * n

    def build(self, inputs_shape: TensorShape) -> None:
        """Makes `kernel`, `bias` for an `inputs_shape`: input, candidate, forget, output gates."""
        n = self._num_units
        self._kernel = self.add_variable("kernel", [depth_of(self, inputs_shape) + n, 4 * n])
        self._bias = self.add_variable("bias", [4 * n], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Output and next state for `inputs` [batch, depth] and a state of memory and output."""
        c, h = _pair(state, self._state_is_tuple)
        product = ops.MatMul(array.concat([inputs, h], 1), self._kernel)
        gates = array.split(activations.bias_add(product, self._bias), 4, 1)
        i, candidate, forget, output = gates
        opened = ops.Sigmoid(ops.AddV2(forget, np.asarray(self._forget_bias, forget.dtype)))
        added = ops.Mul(ops.Sigmoid(i), self._activation(candidate))
        new_c = ops.AddV2(ops.Mul(c, opened), added)
        new_h = ops.Mul(self._activation(new_c), ops.Sigmoid(output))
        return new_h, joined_state(new_c, new_h, self._state_is_tuple)


def _pair(state: State, is_tuple: bool) -> tuple[Tensor, Tensor]:
    if is_tuple:
        if not isinstance(state, (list, tuple)) or len(state) != 2:
            raise ValueError(f"Expected state to be a tuple of length 2, but received: {state}")
        c, h = cast("tuple[Tensor, Tensor]", state)
        return c, h
    c, h = array.split(cast("Tensor", state), 2, 1)
    return c, h


def joined_state(c: Tensor, h: Tensor, is_tuple: bool) -> State:
    """Memory and output as a tuple, or beside one another in one tensor."""
    return LSTMStateTuple(c, h) if is_tuple else array.concat([c, h], 1)


class LSTMCell(Units):
    """An LSTM with peepholes, clipping and a projection of its output, as asked for."""

    CONFIGURED = (
        *("num_units", "use_peepholes", "cell_clip", "initializer", "num_proj", "proj_clip"),
        *("num_unit_shards", "num_proj_shards", "forget_bias", "state_is_tuple", "activation"),
        "reuse",
    )

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | str | None = None,
        reuse: Reuse = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: bool,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._use_peepholes, self._cell_clip, self._initializer = (
            use_peepholes,
            cell_clip,
            initializer_of(initializer),
        )
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self) -> Size:
        """The sizes of memory and output, or their sum."""
        n, m = self._num_units, self.output_size
        return LSTMStateTuple(n, m) if self._state_is_tuple else n + cast("int", m)

    @property
    def output_size(self) -> Size:
        """The size of the projection, or the number of units."""
        return self._num_proj or self._num_units

    def build(self, inputs_shape: TensorShape) -> None:
        """Makes `kernel`, `bias`, peepholes and projection for an `inputs_shape`."""
        n, m = self._num_units, cast("int", self.output_size)
        shape = [depth_of(self, inputs_shape) + m, 4 * n]
        add, start = self.add_variable, self._initializer
        shards = partitioner_of(self._num_unit_shards)
        self._kernel = add("kernel", shape, initializer=start, partitioner=shards)
        self._bias = add("bias", [4 * n], initializer=zeros_initializer())
        self._peepholes = [
            add(f"w_{gate}_diag", [n], initializer=start) for gate in "fio" if self._use_peepholes
        ]
        if self._num_proj is not None:
            shape, shards = [n, self._num_proj], partitioner_of(self._num_proj_shards)
            self._projection = add(
                "projection/kernel", shape, initializer=start, partitioner=shards
            )
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Output and next state for `inputs` [batch, depth] and a state of memory and output."""
        n = self._num_units
        if self._state_is_tuple:
            c, h = _pair(state, is_tuple=True)
        else:
            c, h = array.split(cast("Tensor", state), [n, cast("int", self.output_size)], 1)
        product = ops.MatMul(array.concat([inputs, h], 1), self._kernel)
        gates = array.split(activations.bias_add(product, self._bias), 4, 1)
        i, candidate, forget, output = gates
        forget = ops.AddV2(forget, np.asarray(self._forget_bias, forget.dtype))
        if self._peepholes:
            forget_peep, i_peep, _ = self._peepholes
            forget, i = forget + forget_peep * c, i + i_peep * c
        new_c = ops.Sigmoid(forget) * c + ops.Sigmoid(i) * self._activation(candidate)
        new_c = clipped(new_c, self._cell_clip)
        if self._peepholes:
            output = output + self._peepholes[2] * new_c
        new_h = ops.Sigmoid(output) * self._activation(new_c)
        if self._num_proj is not None:
            new_h = clipped(ops.MatMul(new_h, self._projection), self._proj_clip)
        return new_h, joined_state(new_c, new_h, self._state_is_tuple)


def partitioner_of(n_shards: int | None) -> Partitioner | None:
    """Cuts the rows of a kernel into so many parts."""
    return None if n_shards is None else fixed_size_partitioner(n_shards)


def clipped(x: Tensor, limit: float | None) -> Tensor:
    """`x` within -limit and limit."""
    if limit is None:
        return x
    return ops.ClipByValue(x, np.asarray(-limit, x.dtype), np.asarray(limit, x.dtype))
