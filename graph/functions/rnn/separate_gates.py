"""Cells whose gates have weights of their own: `tf.lite.experimental.nn`.

TFLite's recurrent operators take the weights of each gate apart, [units, inputs]. A cell of this
module has such variables. The converter finds the operator in the loop that `dynamic_rnn` makes
(converter/passes/recurrent.py), so the cells leave no OpHints in the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ...core.build import ops
from ...core.graph import Tensor
from ...variables.initializers import Constant, zeros_initializer
from ..array import array
from ..nn import activations
from . import networks
from .cells import (
    LSTMStateTuple,
    RNNCell,
    Size,
    State,
    Units,
    clipped,
    depth_of,
    joined_state,
    partitioner_of,
)

if TYPE_CHECKING:
    from ...core.tensor_shape import TensorShape
    from ...core.typing import DTypeLike, TensorLike
    from ...variables.variable_scope import InitializerLike, Reuse, VariableScope
    from ...variables.variables import Variable
    from .cells import Activation


def _linear(x: Tensor, weights: Tensor | Variable) -> Tensor:
    """x @ weights.T"""
    return ops.MatMul(x, weights, transpose_b=True)


class TfLiteRNNCell(Units):
    """output = new state = activation(input @ w.T + state @ u.T + bias).

    Args:
        num_units: The size of output and state.
        activation: Of the sum, or its name in Keras; tanh by default.
        reuse: Whether the variables are there already.
        name: Of the variable scope.
        dtype: Of the variables.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | str | None = None,
        reuse: Reuse = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: bool,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, inputs_shape: TensorShape) -> None:
        """Makes `input_weights`, `recurrent_weights` and `bias` for an `inputs_shape`."""
        n = self._num_units
        self._weights = self.add_variable("input_weights", [n, depth_of(self, inputs_shape)])
        self._recurrent = self.add_variable("recurrent_weights", [n, n])
        self._bias = self.add_variable("bias", [n], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Output for `inputs` [batch, depth] and next state, which are the same."""
        both = array.concat([inputs, cast("Tensor", state)], 1)
        weights = array.concat([self._weights, self._recurrent], 1)
        output = self._activation(activations.bias_add(_linear(both, weights), self._bias))
        return output, output


class TFLiteLSTMCell(Units):
    """An LSTM whose gates have their own weights; peepholes, clipping and projection as asked for.

    Args: as `tf.nn.rnn_cell.LSTMCell`; `activation` also by its name in Keras. `forget_bias` is
        what the bias of the forget gate begins with.
    """

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
    ):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._use_peepholes, self._cell_clip = use_peepholes, cell_clip
        self._initializer, self._forget_bias = initializer, forget_bias
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._state_is_tuple = state_is_tuple

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
        """Makes weights and biases of each gate, peepholes and projection for an `inputs_shape`."""
        n, m = self._num_units, cast("int", self.output_size)
        add, start = self.add_variable, self._initializer
        shards = partitioner_of(self._num_unit_shards)
        gates = ("input", "forget", "cell", "output")
        depths = {"input_to": depth_of(self, inputs_shape), "cell_to": m}
        self._weights, self._recurrent = (
            [add(f"{side}_{gate}_w", [n, depth], None, start, shards) for gate in gates]
            for side, depth in depths.items()
        )
        zeros, ones = zeros_initializer(), Constant(self._forget_bias)
        self._biases = [
            add(f"{gate}_bias", [n], initializer=ones if gate == "forget" else zeros)
            for gate in gates
        ]
        self._peepholes = [
            add(f"w_{gate}_diag", [n], initializer=start) for gate in "fio" if self._use_peepholes
        ]
        if self._num_proj is not None:
            shards = partitioner_of(self._num_proj_shards)
            self._projection = add("projection/kernel", [m, n], None, start, shards)
        self.built = True

    def call(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Output and next state for `inputs` [batch, depth] and a state of memory and output."""
        c, h = self._memory_and_output(state)
        both = array.concat([inputs, h], 1)
        i, forget, candidate, output = (
            activations.bias_add(_linear(both, array.concat([weights, recurrent], 1)), bias)
            for weights, recurrent, bias in zip(
                self._weights, self._recurrent, self._biases, strict=True
            )
        )
        if self._peepholes:
            forget_peephole, input_peephole, _ = self._peepholes
            forget, i = forget + forget_peephole * c, i + input_peephole * c
        new_c = ops.Sigmoid(forget) * c + ops.Sigmoid(i) * self._activation(candidate)
        new_c = clipped(new_c, self._cell_clip)
        if self._peepholes:
            output = output + self._peepholes[2] * new_c
        new_h = ops.Sigmoid(output) * self._activation(new_c)
        if self._num_proj is not None:
            new_h = clipped(_linear(new_h, self._projection), self._proj_clip)
        return new_h, joined_state(new_c, new_h, self._state_is_tuple)

    def _memory_and_output(self, state: State) -> tuple[Tensor, Tensor]:
        if self._state_is_tuple:
            c, h = cast("tuple[Tensor, Tensor]", state)
        else:
            sizes = [self._num_units, cast("int", self.output_size)]
            c, h = array.split(cast("Tensor", state), sizes, 1)
        return c, h


def dynamic_rnn(
    cell: RNNCell,
    inputs: TensorLike,
    sequence_length: TensorLike | None = None,
    initial_state: State | None = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[object, State]:
    """`tf.nn.dynamic_rnn` of `inputs` [time, batch, ...], with time first by default.

    Args:
        cell, initial_state, dtype, parallel_iterations, swap_memory, scope: Of `tf.nn.dynamic_rnn`.
        inputs: [time, batch, ...], or [batch, time, ...] without `time_major`.
        sequence_length: [batch], int32 or int64: how many steps of each row count.
        time_major: Whether time comes first, in the outputs, too.

    Raises what `tf.nn.dynamic_rnn` does.
    """
    return networks.dynamic_rnn(
        cell,
        inputs,
        sequence_length,
        initial_state,
        dtype,
        parallel_iterations,
        swap_memory,
        time_major,
        scope,
    )
