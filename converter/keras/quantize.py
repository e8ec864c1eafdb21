"""Layers in which tensorflow_model_optimization trains a model for integers.

QuantizeWrapper(Conv2D):    x -> Conv2D of FakeQuant(kernel) -> activation -> FakeQuant -> y
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...graph.core.graph import Tensor
from ...schema.errors import ConverterError
from .activation import ACTIVATIONS, activation_name
from .files.architecture import Layer, read_layer
from .files.weights import is_trained
from .functions.operations import operation, tensor
from .registry import ANY, EXPORT, LAYERS, Call, layer

WRAPPERS = ("QuantizeWrapper", "QuantizeWrapperV2")
BEFORE = ("gelu", "sigmoid", "softmax", "tanh")
"""Activations whose input is quantized, and BEHIND those whose result is."""
BEHIND = ("gelu", "linear", "relu", "swish", "silu")
OF_LAYERS = ("gelu", "relu", "relu6", "swish", "silu")
"""Activation layers whose result is quantized."""
CONFIG = re.compile(
    r"(?:.*>)?Default(?:8|N)Bit(|Conv|ConvTranspose|Activation|Output)QuantizeConfig"
)
ATTRIBUTES = {"depthwise_kernel": "kernel"}
"""What attributes of layers are called here."""
NOTHING = "NoOpQuantizeConfig"
PER_CHANNEL = "Conv"
STEP = "optimizer_step"
BITS = 8


class Wrapped:
    """What a QuantizeWrapper does with the layer in it.

    Attributes:
        layer: the wrapper.
        kind: which of the library's configurations it has; None for one that quantizes nothing.
        settings: those of the configuration.
        activation: what the layer in it does last, None where the wrapper does not look at it.
    """

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        config = layer.config.get("quantize_config")
        config = config if isinstance(config, dict) else {}
        name, settings = config.get("class_name"), config.get("config")
        self.settings: dict = settings if isinstance(settings, dict) else {}
        match = CONFIG.fullmatch(str(name))
        self.kind = match.group(1) if match else None
        self.is_known = match is not None or str(name).rpartition(">")[2] == NOTHING
        self.name = name
        spec = layer.config.get("layer")
        inner = spec.get("config") if isinstance(spec, dict) else None
        self.setting = inner.get("activation") if isinstance(inner, dict) else None
        self.activation = self._activation()

    def _activation(self) -> str | None:
        """The activation that the wrapper quantizes around."""
        if not self._listed("activation_attrs"):
            return None
        return activation_name(unwrapped(self.setting)) if unwrapped(self.setting) else None

    def _listed(self, name: str) -> list[str]:
        """Names that the configuration lists."""
        names = self.settings.get(name)
        return [str(item) for item in names] if isinstance(names, list) else []

    def bits(self, of: str) -> int:
        """How many bits weights or activations have."""
        bits = self.settings.get(f"num_bits_{of}", BITS)
        return bits if isinstance(bits, int) else BITS

    @property
    def weights(self) -> list[str]:
        """The weights that are quantized."""
        return self._listed("weight_attrs")

    @property
    def quantizes_result(self) -> bool:
        """Whether the result of the layer is quantized."""
        if self.kind == "Activation":
            is_listed = activation_name(unwrapped(self.setting)) in OF_LAYERS
            return is_listed and self.settings.get("quantize_output", True) is True
        return self.settings.get("quantize_output") is True

    @property
    def ranges(self) -> Iterator[str]:
        """The names of what is quantized, in the order in which ranges are made."""
        yield from self.weights
        if self.activation in BEFORE:
            yield "pre_activation"
        if self.activation in BEHIND:
            yield "post_activation"
        if self.quantizes_result:
            yield "output"

    @property
    def wrapper_weights(self) -> list[str]:
        """The weights of the wrapper itself."""
        return [STEP, *(f"{name}_{end}" for name in self.ranges for end in ("min", "max"))]


def unwrapped(setting: Any) -> Any:
    """An activation without what quantizes around it; None for NoOpActivation, which is none."""
    while isinstance(setting, dict) and setting.get("class_name") in (
        "QuantizeAwareActivation",
        "NoOpActivation",
    ):
        if setting["class_name"] == "NoOpActivation":
            return None
        config = setting.get("config")
        setting = config.get("activation") if isinstance(config, dict) else None
    return setting


def inner_layer(layer: Layer) -> dict[str, Layer]:
    """The wrapped layer, without an activation that the wrapper quantizes around."""
    inner, wrapped = read_layer(layer.config.get("layer")), Wrapped(layer)
    if not wrapped.is_known:
        raise ConverterError(
            f"{layer.title}: quantize_config {str(wrapped.name)[:60]!r} is not supported; {EXPORT}"
        )
    if "activation" in inner.config:
        activation = unwrapped(inner.config["activation"]) or "linear"
        activation = "linear" if wrapped.activation is not None else activation
        inner.config = {**inner.config, "activation": activation}
    names = weight_names(inner)
    names_in_wrapper = [
        name if name in names else ATTRIBUTES.get(name, name) for name in wrapped.weights
    ]
    inner.outer_weights = dict(zip(names_in_wrapper, wrapped.weights, strict=True))
    return {"layer": inner}


def weight_names(layer: Layer) -> list[str]:
    """The weights of a layer."""
    row = LAYERS.get(layer.row_kind)
    return list(row.weights(layer)) if row is not None else []


def in_order(layer: Layer) -> list[tuple[Layer, str]]:
    """All weights of a wrapper and its layer, with who has them, in the order of HDF5 files."""
    inner = layer.parts["layer"]
    names = weight_names(inner)
    if layer.class_name == WRAPPERS[0]:  # whose layer gives away what is quantized
        names = [name for name in names if name not in inner.outer_weights] + list(
            inner.outer_weights
        )
    slots = [(layer if name in inner.outer_weights else inner, name) for name in names]
    return slots + [(layer, name) for name in Wrapped(layer).wrapper_weights]


def archived(layer: Layer) -> list[str]:
    """The weights that lie with a wrapper in an archive, some of them twice."""
    inner = layer.parts["layer"]
    trained = [name for name in weight_names(inner) if is_trained(name)]
    is_second = layer.class_name == WRAPPERS[1] and inner.is_trainable and layer.is_trainable
    return [*(trained if is_second else []), *inner.outer_weights, *Wrapped(layer).wrapper_weights]


@layer(
    *WRAPPERS,
    parts=inner_layer,
    weights=lambda layer: [*layer.parts["layer"].outer_weights, *Wrapped(layer).wrapper_weights],
    archived=archived,
    order=in_order,
    takes=ANY,
)
def quantize_wrapper(call: Call, *args: Any, **kwargs: Any) -> Any:
    """The wrapped layer, with its weights and its result rounded."""
    wrapped, inner = Wrapped(call.layer), call.layer.parts["layer"]
    for name, attribute in inner.outer_weights.items():
        inner.stored_weights[name] = call.layer.stored_weights[name]
        inner.rounding[name] = Rounding(call, attribute, wrapped)
    kwargs.pop("training", None)
    y = call.apply("layer", *args, **kwargs)
    bits = wrapped.bits("activation")
    if wrapped.activation in BEFORE:
        y = fake_quant(call, y, "pre_activation", bits)
    if wrapped.activation is not None:
        y = ACTIVATIONS[wrapped.activation](call, y)
    if wrapped.activation in BEHIND:
        y = fake_quant(call, y, "post_activation", bits)
    return fake_quant(call, y, "output", bits) if wrapped.quantizes_result else y


class Rounding:
    """Rounds one of the weights of a wrapped layer."""

    def __init__(self, call: Call, name: str, wrapped: Wrapped) -> None:
        self._call, self._name, self._wrapped = call, name, wrapped

    def __call__(self, weight: Tensor) -> Tensor:
        """The weight as integers of its ranges hold it."""
        bits = self._wrapped.bits("weight")
        shape = (weight.sizes or ())[-1:] if self._wrapped.kind == PER_CHANNEL else ()
        return fake_quant(self._call, weight, self._name, bits, shape, narrow=True)


def fake_quant(
    call: Call, x: Tensor, name: str, bits: int, shape: Any = (), narrow: bool = False
) -> Tensor:
    """`x` rounded in the range, or the ranges for its last axis, that a layer has learned."""
    kind = "FakeQuantWithMinMaxVars" + ("PerChannel" if shape else "")
    ends = [call.weight(f"{name}_{end}", shape) for end in ("min", "max")]
    return call.op(kind, x, *ends, num_bits=bits, narrow_range=narrow)


def quantizer_of(layer: Layer) -> dict | None:
    """The settings of the quantizer of a QuantizeLayer; None without."""
    quantizer = layer.config.get("quantizer")
    config = quantizer.get("config") if isinstance(quantizer, dict) else None
    return config if isinstance(config, dict) else None


def range_names(layer: Layer) -> list[str]:
    """The weights of a QuantizeLayer."""
    ranges = ["range_min", "range_max"] if quantizer_of(layer) is not None else []
    return [*ranges, STEP]


@layer("QuantizeLayer", weights=range_names)
def quantize_layer(call: Call, x: Tensor) -> Tensor:
    """The input rounded in the range that was learned."""
    config = quantizer_of(call.layer)
    if config is None:
        return x
    bits, narrow = config.get("num_bits", BITS), config.get("narrow_range", False)
    call.require(isinstance(bits, int) and 2 <= bits <= 16, f"num_bits must be 2 to 16, got {bits}")
    return fake_quant(call, x, "range", bits, narrow=bool(narrow))


@layer("QuantizeAnnotate", parts=lambda layer: {"layer": read_layer(layer.config.get("layer"))})
def quantize_annotate(call: Call, x: Tensor) -> Tensor:
    """The wrapped layer, which was to be quantized and never was."""
    return call.apply("layer", x)


@operation("tf.quantization.fake_quant_with_min_max_args", inputs="x")
def fake_quant_with_min_max_args(
    call: Call,
    x: Tensor,
    min: float = -6.0,
    max: float = 6.0,
    num_bits: int = BITS,
    narrow_range: bool = False,
) -> Tensor:
    """Rounded in a range."""
    return call.op(
        "FakeQuantWithMinMaxArgs", x, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range
    )


@operation("tf.quantization.fake_quant_with_min_max_vars", inputs="x")
def fake_quant_with_min_max_vars(
    call: Call, x: Tensor, min: Any, max: Any, num_bits: int = BITS, narrow_range: bool = False
) -> Tensor:
    """Rounded in a range that tensors may hold."""
    ends = tensor(call, min, x), tensor(call, max, x)
    return call.op(
        "FakeQuantWithMinMaxVars", x, *ends, num_bits=num_bits, narrow_range=narrow_range
    )


@operation("tf.quantization.fake_quant_with_min_max_vars_per_channel", inputs="x")
def fake_quant_with_min_max_vars_per_channel(
    call: Call, x: Tensor, min: Any, max: Any, num_bits: int = BITS, narrow_range: bool = False
) -> Tensor:
    """Rounded in a range for each index of the last axis."""
    kind = "FakeQuantWithMinMaxVarsPerChannel"
    ends = tensor(call, min, x), tensor(call, max, x)
    return call.op(kind, x, *ends, num_bits=num_bits, narrow_range=narrow_range)
