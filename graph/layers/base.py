"""`tf.layers.Layer`: variables of a scope, made at the first call and shared by later ones.

A layer says in `build` which variables it has and in `call` what it computes:

    class Scale(Layer):
        def build(self, input_shape):
            self.factor = self.add_weight("factor", input_shape[-1:])

        def call(self, inputs):
            return inputs * self.factor
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypedDict, cast

import numpy as np

from ...schema.errors import FailedPreconditionError
from ..core.build import ops
from ..core.composite.structure import flatten, map_structure
from ..core.create import convert_to_tensor
from ..core.dtype import DType, as_numpy
from ..core.graph import Graph, Operation, Tensor
from ..core.scopes import GraphKeys, get_collection_ref, get_default_session, name_scope
from ..core.tensor_shape import TensorShape
from ..functions.array import creation
from ..functions.array.slices import get_item
from ..functions.nn.configurations import Config, as_config, from_config, numbered, snake_case
from ..functions.nn.named_functions import constraint_of, initializer_of, regularizer_of
from ..variables.get_variable import get_variable
from ..variables.variable_lists import global_variables
from ..variables.variable_scope import VariableScope, variable_scope
from ..variables.variables import Variable

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self

    from ..core.typing import DTypeLike, ShapeLike, TensorLike
    from ..session.session import Session
    from ..variables.variable_scope import InitializerLike, Regularizer, Reuse
    from ..variables.variables import Constraint

Activation: TypeAlias = "Callable[[Tensor], Tensor]"


class LayerOptions(TypedDict, total=False):
    """What every layer takes beside its own arguments."""

    dtype: DTypeLike | None
    _scope: str | VariableScope | None
    _reuse: Reuse


class ConvOptions(LayerOptions, total=False):
    """Those of a convolution."""

    groups: int


class SpreadOptions(ConvOptions, total=False):
    """Those of a transposed convolution."""

    output_padding: int | Sequence[int] | None
    dilation_rate: int | Sequence[int]


class RegularizedOptions(LayerOptions, total=False):
    """Those of a layer that does not name its regularizer."""

    activity_regularizer: Callable[[Tensor], Tensor] | None


class PlainOptions(RegularizedOptions, total=False):
    """Those of a layer without variables."""

    trainable: bool


class NamedOptions(PlainOptions, total=False):
    """Those of a layer that does not name its name."""

    name: str | VariableScope | None


def without(options: Mapping[str, object], *names: str) -> dict[str, object]:
    """Options but for those of some names."""
    return {key: value for key, value in options.items() if key not in names}


class InputSpec:
    """What a layer demands of an input; None leaves it open.

    Args:
        dtype: Its type.
        shape: Its shape.
        ndim: Its rank.
        max_ndim, min_ndim: Bounds of its rank.
        axes: Sizes by axis.
    """

    def __init__(
        self,
        dtype: DTypeLike | None = None,
        shape: ShapeLike | None = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int | None] | None = None,
    ):
        self.dtype = None if dtype is None else as_numpy(dtype)
        self.shape = None if shape is None else TensorShape(shape)
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = axes or {}

    def require(self, tensor: Tensor, position: int, layer: str) -> None:
        """Raises ValueError unless a tensor is as demanded, or of unknown rank."""
        start = f'Input {position} of layer "{layer}" is incompatible with the layer: '
        shape = tensor.sizes
        if shape is None:
            return
        end = f". Full shape received: {tuple(shape)}"
        rank = len(shape)
        if self.ndim is not None and rank != self.ndim:
            raise ValueError(f"{start}expected ndim={self.ndim}, found ndim={rank}{end}")
        if self.max_ndim is not None and rank > self.max_ndim:
            raise ValueError(f"{start}expected max_ndim={self.max_ndim}, found ndim={rank}")
        if self.min_ndim is not None and rank < self.min_ndim:
            raise ValueError(f"{start}expected min_ndim={self.min_ndim}, found ndim={rank}{end}")
        if self.dtype is not None and tensor.dtype != self.dtype:
            raise ValueError(f"{start}expected dtype={self.dtype}, found dtype={tensor.dtype}")
        for axis, size in self.axes.items():
            if size is not None and shape[axis] not in (size, None):
                raise ValueError(
                    f"{start}expected axis {axis} of input shape to have value {size}, but "
                    f"received input with shape {tuple(shape)}"
                )
        if self.shape is not None and not self.shape.is_compatible_with(TensorShape(shape)):
            raise ValueError(f"{start}expected shape={self.shape}, found shape={tuple(shape)}")


class Layer:
    """Variables of a scope, and a function of tensors that uses them.

    Args:
        trainable: Whether its variables are trained.
        name: Of its scope; made of the class's name when left out, and made unique.
        dtype: Of its variables; by default that of the first input.
        activity_regularizer: A function of what it gives, whose mean over the batch is a loss.
        _scope: The variable scope, or its name, that is opened at once.
        _reuse: Whether it uses variables that are there.
        kwargs: Nothing; a layer has no other arguments.

    Raises:
        TypeError: There is an argument that the layer does not take.
    """

    CONFIGURED: ClassVar[str] = ""
    """The arguments, beside those of all layers, that `get_config` tells."""

    def __init__(
        self,
        trainable: bool = True,
        name: str | VariableScope | None = None,
        dtype: DTypeLike | None = None,
        activity_regularizer: Callable[[Tensor], Tensor] | None = None,
        _scope: str | VariableScope | None = None,
        _reuse: Reuse = None,
        **kwargs: object,
    ):
        for word in kwargs:
            raise TypeError("Keyword argument not understood:", word)
        self.trainable = trainable
        self.built = False
        self.activity_regularizer = activity_regularizer
        self.input_spec: InputSpec | Sequence[InputSpec] | None = None
        self._dtype = None if dtype is None else as_numpy(dtype)
        self._reuse = _reuse
        self._trained: list[Variable] = []
        self._untrained: list[Variable] = []
        self._updates: list[Operation] = []
        self._losses: list[Tensor] = []
        kind = snake_case(type(self).__name__)
        self._base_name = (
            kind if not name else name.name if isinstance(name, VariableScope) else name
        )
        self._name = name if isinstance(name, str) and name else numbered(kind)
        self._scope: VariableScope | None = None
        self._current_scope: VariableScope | None = None
        if _scope:
            with variable_scope(_scope) as captured:
                self._scope = captured

    def get_config(self) -> Config:
        """The arguments it was made with: numbers, text, and functions by their names."""
        dtype = None if self._dtype is None else self._dtype.name
        config: Config = {"name": self._name, "trainable": self.trainable, "dtype": dtype}
        config |= {name: as_config(getattr(self, name)) for name in self.CONFIGURED.split()}
        if config.get("activation", "") is None:
            config["activation"] = "linear"
        return config

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """A layer, with variables of its own, made with the arguments that `get_config` gives.

        Raises:
            TypeError: There is an argument that the layer does not take.
            ValueError: A function or an initializer has another name than TensorFlow's.
        """
        return cast("Callable[..., Self]", cls)(
            **{name: from_config(value) for name, value in config.items()}
        )

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def scope_name(self) -> str:
        """The name of its variable scope; ValueError before its first call."""
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been '
                "used yet. The scope name is determined the first time the layer instance is "
                "called. You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

    @property
    def dtype(self) -> DType | None:
        """The type of its variables; None while it follows the first input's."""
        return None if self._dtype is None else DType(self._dtype)

    @property
    def graph(self) -> Graph | None:
        """None: a layer belongs to no graph."""
        return None

    @property
    def trainable_weights(self) -> list[Variable]:
        """Its variables that are trained."""
        return list(self._trained) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Its variables that are not trained."""
        return list(self._untrained) if self.trainable else self._trained + self._untrained

    @property
    def weights(self) -> list[Variable]:
        """Its variables, those that are trained first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list[Variable]:
        """Its variables that are trained."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Its variables that are not trained."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Variable]:
        """Its variables, those that are trained first."""
        return self.weights

    @property
    def updates(self) -> list[Operation]:
        """What moves its averages; also in UPDATE_OPS."""
        return list(self._updates) if self.trainable else []

    @property
    def losses(self) -> list[Tensor]:
        """What its regularizers give; also in REGULARIZATION_LOSSES."""
        return list(self._losses)

    def get_updates_for(self, inputs: object) -> list[Operation]:
        """Its updates, whatever inputs they come from."""
        return self.updates

    def get_losses_for(self, inputs: object) -> list[Tensor]:
        """Its losses, whatever inputs they come from."""
        return self.losses

    def add_update(self, updates: object, inputs: object = None) -> None:
        """Notes operations that move averages, those of tensors where tensors are given."""
        for update in cast("list[Tensor | Operation]", flatten(updates)):
            self._updates.append(update if isinstance(update, Operation) else update.op)

    def add_loss(self, losses: object, inputs: object = None) -> None:
        """Notes losses, also in REGULARIZATION_LOSSES."""
        added = [cast("Tensor", loss) for loss in flatten(losses) if loss is not None]
        self._losses += added
        _collect(GraphKeys.REGULARIZATION_LOSSES, added)

    def add_weight(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike | None = None,
        regularizer: Regularizer | str | None = None,
        trainable: bool | None = None,
        constraint: Constraint | str | None = None,
        use_resource: bool | None = None,
        synchronization: object = None,
        aggregation: object = None,
        partitioner: object = None,
    ) -> Variable:
        """A variable of the layer: `<scope>/<name>`, made, or found where it may be reused.

        Initializer, regularizer and constraint may be names, such as "he_normal", "l2" and
        "non_neg"; ValueError for one that is not known.
        """
        regularizer = regularizer_of(regularizer)
        dtype = dtype or self._dtype or np.float32
        self._set_scope(None)
        is_trained = (trainable is None or trainable) and self.trainable
        reuse = self.built or self._reuse
        before = set(global_variables())
        with self._inside(reuse) as scope:
            variable = get_variable(
                name,
                shape,
                dtype,
                scope.initializer if initializer is None else initializer_of(initializer),
                None,  # the scope's applies, too
                is_trained,
                partitioner=partitioner,
                use_resource=use_resource or scope.use_resource,
                constraint=constraint_of(constraint),
                synchronization=synchronization,
                aggregation=aggregation,
            )
            parts = cast("list[Variable]", list(variable)) if _is_split(variable) else [variable]
            if regularizer is not None and before.isdisjoint(parts):
                with name_scope(f"{name}/Regularizer"):
                    self.add_loss([regularizer(part) for part in parts])
        known = (
            self._trained
            if all(part.trainable for part in parts) and trainable in (True, None)
            else self._untrained
        )
        known += [part for part in parts if part not in known]
        return variable

    add_variable = add_weight

    def get_weights(self) -> list[np.ndarray]:
        """What its variables hold in the default session, in the order of `weights`.

        Where there are variables without a value, these are initialized there.

        Raises ValueError where there is no default session.

        >>> import flatlite.compat.v1 as tf
        >>> with tf.Graph().as_default(), tf.Session():
        ...     layer = tf.layers.Dense(2, bias_initializer=tf.ones_initializer())
        ...     layer.build(tf.TensorShape([None, 3]))
        ...     print(layer.get_weights()[1])
        [1. 1.]
        """
        variables = self.weights
        if not variables:
            return []
        session = self._session()
        try:
            return cast("list[np.ndarray]", session.run(variables))
        except FailedPreconditionError:
            flags = cast("list[bool]", session.run([v.is_initialized() for v in variables]))
            pairs = zip(variables, flags, strict=True)
            session.run([variable.initializer for variable, is_set in pairs if not is_set])
            return cast("list[np.ndarray]", session.run(variables))

    def set_weights(self, weights: Sequence[npt.ArrayLike]) -> None:
        """Gives its variables values in the default session, in the order of `weights`.

        Raises ValueError for another number of values or other shapes, or where there is no
        default session.
        """
        arrays, variables = [np.asarray(weight) for weight in weights], self.weights
        if len(arrays) != len(variables):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a weight list of '
                f"length {len(arrays)}, but the layer was expecting {len(variables)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for variable, array in zip(variables, arrays, strict=True):
            if variable.sizes != array.shape:
                raise ValueError(
                    f"Layer weight shape {variable.sizes} not compatible with provided weight "
                    f"shape {array.shape}"
                )
        session = self._session()
        for variable, array in zip(variables, arrays, strict=True):
            variable.load(array, session)

    def _session(self) -> Session:
        """The default session; ValueError where there is none."""
        session = get_default_session()
        if session is None:
            raise ValueError(
                f"layer {self.name!r} needs a default session for the values of its variables: "
                "`with session.as_default():`"
            )
        return session

    def build(self, input_shape: TensorShape) -> None:
        """Makes the variables for an `input_shape`; `call` may use them from then on."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:  # pyright: ignore[reportExplicitAny, reportAny] - each layer's own
        """What the layer gives for its inputs."""
        return inputs  # pyright: ignore[reportAny]

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of what it gives for inputs of a shape."""
        raise NotImplementedError(f"{type(self).__name__} does not say the shape of its results")

    def count_params(self) -> int:
        """How many numbers its variables have; ValueError before they are made."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You "
                f"can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(prod(cast("tuple[int, ...]", variable.sizes)) for variable in self.weights)

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:  # pyright: ignore[reportExplicitAny, reportAny] - as `call`
        """The same as calling it."""
        return self(inputs, *args, **kwargs)  # pyright: ignore[reportAny]

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:  # pyright: ignore[reportExplicitAny, reportAny] - as `call`
        """What it gives for `inputs`, a tensor or a nest of them; the first call makes variables.

        Args:
            inputs: Of any form that `call` takes.
            *args: Further arguments of `call`.
            **kwargs: Those, and `scope`: the variable scope of the first call.
        """
        scope = cast("str | VariableScope | None", kwargs.pop("scope", None))
        self._set_scope(scope)
        with self._inside(True if self.built else self._reuse) as current:
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = current
            tensors = map_structure(_as_tensor, inputs)
            flat = cast("list[Tensor]", flatten(tensors))
            self._require(flat)
            if not self.built:
                if self._dtype is None and flat:
                    self._dtype = np.dtype(flat[0].dtype)
                self.build(map_structure(_shape, tensors))  # pyright: ignore[reportArgumentType]
                self.built = True
            outputs = self.call(tensors, *args, **kwargs)  # pyright: ignore[reportAny]
            self._regularize(outputs)
        _collect(GraphKeys.UPDATE_OPS, self.updates)
        return outputs  # pyright: ignore[reportAny]

    @contextlib.contextmanager
    def _inside(self, reuse: Reuse) -> Generator[VariableScope]:
        """Opens its variable scope, and the name scope that was made with that."""
        before = self._current_scope
        assert self._scope is not None  # _set_scope was called
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            try:
                with name_scope(scope.original_name_scope or None):
                    yield scope
            finally:
                self._current_scope = before

    def _set_scope(self, scope: str | VariableScope | None) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope(self._base_name if scope is None else scope)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def _require(self, tensors: Sequence[Tensor]) -> None:
        specs = self.input_spec
        specs = [specs] if isinstance(specs, InputSpec) else list(specs or ())
        for position, (tensor, spec) in enumerate(zip(tensors, specs, strict=False)):
            spec.require(tensor, position, self.name)

    def _regularize(self, outputs: object) -> None:
        if self.activity_regularizer is None:
            return
        for output in cast("list[Tensor]", flatten(outputs)):
            with name_scope(None, "ActivityRegularizer", [output]):
                batch = ops.Cast(get_item(creation.shape(output), 0), DstT=output.dtype)
                self.add_loss(ops.RealDiv(self.activity_regularizer(output), batch))

    def __deepcopy__(self, memo: dict[int, object]) -> Layer:
        copied = copy.copy(self)
        memo[id(self)] = copied
        for name, value in cast("dict[str, object]", vars(self)).items():
            is_private = isinstance(value, VariableScope | list)
            setattr(copied, name, copy.copy(cast("object", value)) if is_private else value)
        return copied


def _collect(key: str, items: Sequence[object]) -> None:
    collection = get_collection_ref(key)
    known = {id(item) for item in collection}
    collection.extend(item for item in items if id(item) not in known)


def _is_split(variable: object) -> bool:
    return not isinstance(variable, Variable)


def _as_tensor(value: object) -> Tensor:
    return value if isinstance(value, Tensor) else convert_to_tensor(cast("TensorLike", value))


def _shape(tensor: Tensor) -> TensorShape:
    return tensor.get_shape()
