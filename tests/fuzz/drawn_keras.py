"""What random Keras models are made of, what they compute, and how each Keras writes them."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import h5py
import numpy as np

FORMS = {"keras3": "keras", "keras3_h5": "h5", "tf_keras": "keras", "keras2": "h5"}
"""Who writes, and the kind of file."""
WIDTHS = (1, 2, 3, 4)
EPSILON = 1e-3


@dataclass(frozen=True)
class Layer:
    """A layer and its calls; what it reads are (layer, number of the call).

    Attributes:
        kind: the class of it; "+" and its like for operators outside of layers.
        name: its own.
        width: of its result.
        calls: what each call reads; a number stands for a constant operand.
        config: settings.
        weights: in the order of Keras.
        model: of a nested model.
    """

    kind: str
    name: str
    width: int
    calls: tuple[tuple[Any, ...], ...]
    config: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    model: Model | None = None


@dataclass(frozen=True)
class Model:
    """A Functional model, or a Sequential one, of rows of numbers."""

    name: str
    kind: str
    inputs: tuple[tuple[str, int], ...]
    layers: tuple[Layer, ...]
    outputs: tuple[tuple[str, int], ...]

    def __str__(self):
        rows = [f"{one.name}={one.model or one.kind}{list(one.calls)}" for one in self.layers]
        return f"{self.kind}({', '.join(map(str, self.inputs))}; {'; '.join(rows)}; {self.outputs})"

    def shorter(self) -> Iterator[Model]:
        """Fewer outputs, other ones, and what is left without the last layers."""
        for one in self.layers:
            for call in range(len(one.calls)):
                if self.outputs != ((one.name, call),):
                    yield self.pruned(((one.name, call),))

    def pruned(self, outputs) -> Model:
        """With these outputs, and the layers up to them."""
        needed = {name for name, _ in outputs}
        live = []
        for one in reversed(self.layers):
            if one.name in needed:
                live.insert(0, one)
                needed |= {r[0] for call in one.calls for r in call if isinstance(r, tuple)}
        inputs = self.inputs
        return replace(self, inputs=inputs, layers=tuple(live), outputs=outputs)


@dataclass(frozen=True)
class Drawn:
    """A model, its inputs, and the forms in which it is tried."""

    model: Model
    feeds: list[np.ndarray]
    forms: tuple[str, ...] = tuple(FORMS)


def _shares(x):
    return x / x.sum(-1, keepdims=True)


ACTIVATIONS = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: (1 + np.tanh(x / 2)) / 2,
    "softmax": lambda x: _shares(np.exp(x - x.max(-1, keepdims=True))),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
}
MERGES = {
    "Add": sum,
    "Average": lambda xs: sum(xs) / len(xs),
    "Concatenate": lambda xs: np.concatenate(xs, -1),
    "Maximum": lambda xs: np.max(xs, 0),
    "Minimum": lambda xs: np.min(xs, 0),
    "Multiply": lambda xs: np.prod(xs, 0),
    "Subtract": lambda xs: xs[0] - xs[1],
}
OPERATORS = {
    "+": ("Add", "__operators__.add", lambda x, y: x + y),
    "-": ("Subtract", "math.subtract", lambda x, y: x - y),
    "*": ("Multiply", "math.multiply", lambda x, y: x * y),
}


def drawn(rng: np.random.Generator) -> Drawn:
    """A model of up to eight layers, some of them models."""
    model = _model(rng, "model", 0)
    shape = int(rng.integers(1, 4))
    feeds = [rng.normal(size=(shape, width)).astype(np.float32) for _, width in model.inputs]
    return Drawn(model, feeds)


def _model(rng, name: str, depth: int) -> Model:
    kind = "Sequential" if depth and rng.integers(3) == 0 else "Functional"
    n_inputs = 1 if depth else int(rng.integers(1, 3))
    inputs = tuple((f"{name}_x{i}", int(rng.choice(WIDTHS))) for i in range(n_inputs))
    there = [((one, 0), width) for one, width in inputs]
    layers: list[Layer] = []
    for i in range(int(rng.integers(1, 4 if depth else 7))):
        if kind == "Sequential":
            layer = _plain(rng, f"{name}_{i}", there[-1:])
        else:
            layer = _layer(rng, f"{name}_{i}", there, depth)
        layers.append(layer)
        there += [((layer.name, call), layer.width) for call in range(len(layer.calls))]
    last = there[-1][0]
    ends = [last]
    if kind == "Functional" and rng.integers(2):
        ends.append(there[int(rng.integers(n_inputs, len(there)))][0])
    read = {r[0] for one in layers for call in one.calls for r in call if isinstance(r, tuple)}
    if depth == 0:  # every input is read
        layers += [
            Layer("ReLU", f"all_{i}", width, (((one, 0),),))
            for i, (one, width) in enumerate(inputs) if one not in read
        ]  # fmt: skip
        ends += [(one.name, 0) for one in layers if one.name.startswith("all_")]
    outputs = tuple(dict.fromkeys(ends)) if not depth else (last,)
    return Model(name, kind, inputs, tuple(layers), outputs).pruned(outputs)


def _layer(rng, name: str, there, depth: int) -> Layer:
    choice = int(rng.integers(8))
    reference, width = there[int(rng.integers(len(there)))]
    if choice == 0 and depth < 2:
        return _nested(rng, name, there, depth)
    if choice <= 2:
        fitting = [r for r, w in there if w == width]
        kind = str(rng.choice(list(MERGES)))
        n = 2 if kind == "Subtract" else int(rng.integers(2, 4))
        read = tuple(fitting[int(i)] for i in rng.integers(0, len(fitting), n))
        units = width * n if kind == "Concatenate" else width
        config = {"axis": -1} if kind == "Concatenate" else {}
        return Layer(kind, name, units, (read,), config)
    if choice <= 4:
        fitting = [r for r, w in there if w == width]
        other: Any = fitting[int(rng.integers(len(fitting)))]
        operands: tuple = (reference, other)
        if rng.integers(2):
            operands = (reference, round(float(rng.normal()), 3))
            operands = operands[::-1] if rng.integers(2) else operands
        return Layer(str(rng.choice(list(OPERATORS))), name, width, (operands,))
    return _plain(rng, name, there)


def _nested(rng, name: str, there, depth: int) -> Layer:
    inner = _model(rng, name, depth + 1)
    fitting = [r for r, w in there if w == inner.inputs[0][1]]
    if not fitting:
        return _plain(rng, name, there)
    calls = tuple((fitting[int(i)],) for i in rng.integers(0, len(fitting), rng.integers(1, 3)))
    return Layer(inner.kind, name, _width(inner), calls, model=inner)


def _plain(rng, name: str, there) -> Layer:
    """A layer of one input, called once or twice."""
    reference, width = there[int(rng.integers(len(there)))]
    fitting = [r for r, w in there if w == width]
    calls: tuple = ((reference,),)
    if len(there) > 1 and rng.integers(4) == 0:
        calls += ((fitting[int(rng.integers(len(fitting)))],),)
    kind = str(rng.choice(["Dense", "Dense", "BatchNormalization", "Activation", "ReLU"]))
    activation = str(rng.choice(list(ACTIVATIONS)))
    config: dict[str, Any] = {"trainable": bool(rng.integers(4))}
    if kind == "Dense":
        units, bias = int(rng.choice(WIDTHS)), bool(rng.integers(4))
        weights = {"kernel": _normal(rng, width, units)}
        weights |= {"bias": _normal(rng, units)} if bias else {}
        config |= {"units": units, "use_bias": bias, "activation": activation}
        return Layer(kind, name, units, calls, config, weights)
    if kind == "BatchNormalization":
        weights = {part: _normal(rng, width) for part in ("gamma", "beta", "mean", "variance")}
        weights["variance"] = np.abs(weights["variance"]) + 0.5
        config |= {"axis": -1, "epsilon": EPSILON, "center": True, "scale": True}
        return Layer(kind, name, width, calls, config, weights)
    config = {"activation": activation} if kind == "Activation" else {}
    return Layer(kind, name, width, calls, config)


def _normal(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def _width(model: Model) -> int:
    return next(one.width for one in model.layers if one.name == model.outputs[0][0])


def answers(model: Model, feeds) -> list[np.ndarray]:
    """What a model gives."""
    values = {(name, 0): x for (name, _), x in zip(model.inputs, feeds, strict=True)}
    for one in model.layers:
        for call, read in enumerate(one.calls):
            operands = [values[r] if isinstance(r, tuple) else np.float32(r) for r in read]
            values[one.name, call] = np.float32(_result(one, operands))
    return [values[r] for r in model.outputs]


def _result(one: Layer, operands):
    w = one.weights
    if one.model is not None:
        return answers(one.model, operands)[0]
    if one.kind in OPERATORS:
        return OPERATORS[one.kind][2](*operands)
    if one.kind in MERGES:
        return MERGES[one.kind](operands)
    if one.kind == "BatchNormalization":
        factor = w["gamma"] / np.sqrt(w["variance"] + EPSILON)
        return (operands[0] - w["mean"]) * factor + w["beta"]
    x = operands[0] @ w["kernel"] + w.get("bias", 0) if one.kind == "Dense" else operands[0]
    return ACTIVATIONS[one.config.get("activation", "linear" if one.kind == "Dense" else "relu")](x)


def architecture(model: Model, form: str) -> dict:
    """The architecture as a form of Keras writes it."""
    is_keras2 = form in ("keras2", "tf_keras")
    row = _model_row(model, is_keras2)
    return _without_modules(row) if form.endswith("h5") or form == "keras2" else row


def _without_modules(config):
    """As HDF5 files have it."""
    if isinstance(config, dict):
        left = {k: _without_modules(v) for k, v in config.items()}
        return {k: v for k, v in left.items() if k not in ("module", "registered_name")}
    return [_without_modules(item) for item in config] if isinstance(config, list) else config


def _model_row(model: Model, is_keras2: bool) -> dict:
    shape = "batch_input_shape" if is_keras2 else "batch_shape"
    layers = [
        _row("InputLayer", name, {shape: [None, width], "dtype": "float32"}, [], is_keras2)
        for name, width in model.inputs
    ]
    nested = {one.name: one.model.kind for one in model.layers if one.model is not None}
    layers += [_layer_row(one, nested, is_keras2) for one in model.layers]
    config: dict[str, Any] = {"name": model.name, "layers": layers}
    if model.kind == "Functional":
        config["input_layers"] = [[name, 0, 0] for name, _ in model.inputs]
        config["output_layers"] = [
            [name, call + (name in nested and (is_keras2 or nested[name] == "Functional")), 0]
            for name, call in model.outputs
        ]
    module = "keras.src.models.functional" if model.kind == "Functional" else "keras"
    return {"class_name": model.kind, "module": module, "registered_name": None, "config": config}


def _row(kind, name, config, nodes, is_keras2) -> dict:
    row = {"class_name": kind, "config": {"name": name, **config}, "name": name}
    more = {"module": "keras.layers", "registered_name": None, "inbound_nodes": nodes}
    return row | more


def _layer_row(one: Layer, nested, is_keras2: bool) -> dict:
    nodes = [_node(one, call, nested, is_keras2) for call in one.calls]
    if one.model is not None:
        row = _model_row(one.model, is_keras2)
        return row | {"name": one.name, "inbound_nodes": nodes}
    if one.kind not in OPERATORS:
        # Keras writes these of every layer
        config = {"trainable": True, "dtype": "float32", **one.config}
        return _row(one.kind, one.name, config, nodes, is_keras2)
    kind, function, _ = OPERATORS[one.kind]
    if is_keras2:
        config = {"trainable": True, "dtype": "float32", "function": function}
        return _row("TFOpLambda", one.name, config, nodes, is_keras2)
    return _row(kind, one.name, {}, nodes, is_keras2) | {"module": "keras.src.ops.numpy"}


def _node(one: Layer, call, nested, is_keras2: bool):
    def reference(r):
        # to Keras 2, a nested model with an input has been called when it was made
        return [r[0], r[1] + (is_keras2 and r[0] in nested), 0]

    if is_keras2 and one.kind in OPERATORS:
        x, y = call
        y = reference(y) if isinstance(y, tuple) else y
        head = reference(x) if isinstance(x, tuple) else ["_CONSTANT_VALUE", -1, x]
        return [*head, {"y": y, "name": None}]
    if is_keras2:
        return [[*reference(r), {}] for r in call]
    args: list = [
        {"class_name": "__keras_tensor__", "config": {"keras_history": reference(r)}}
        if isinstance(r, tuple) else r
        for r in call
    ]  # fmt: skip
    return {"args": [args] if one.kind in MERGES else args, "kwargs": {}}


def files(model: Model, form: str, path) -> None:
    """Writes a model as a form of Keras does."""
    config = architecture(model, form)
    if FORMS[form] == "h5":
        with h5py.File(path, "w") as file:
            file.attrs["model_config"] = json.dumps(config)
            file.attrs["keras_version"] = "3.15.1" if form == "keras3_h5" else "2.15.0"
            file.attrs["backend"] = "tensorflow"
            weights = file.create_group("model_weights")
            for one in model.layers:
                slots = list(_slots(one, True))
                slots = [s for s in slots if s[2]] + [s for s in slots if not s[2]]
                group = weights.create_group(one.name)
                names = [f"w{i}" for i in range(len(slots))]
                group.attrs["weight_names"] = np.array(names, "S")
                for name, (_, value, _) in zip(names, slots, strict=True):
                    group[name] = value
        return
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        _number(model, file, "")
    with zipfile.ZipFile(path, "w") as archive:
        version = "2.15.0" if form == "tf_keras" else "3.15.1"
        archive.writestr("metadata.json", json.dumps({"keras_version": version}))
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", content.getvalue())


def _slots(one: Layer, trainable: bool):
    """(name, value, whether it is trained) of all weights of a layer."""
    trainable = trainable and one.config.get("trainable", True)
    for inner in one.model.layers if one.model is not None else ():
        yield from _slots(inner, trainable)
    for name, value in one.weights.items():
        yield name, value, trainable and name not in ("mean", "variance")


def _number(model: Model, file, root: str) -> None:
    used: Counter[str] = Counter()
    for one in model.layers:
        kind = OPERATORS[one.kind][0] if one.kind in OPERATORS else one.kind
        folder = re.sub("([a-z])([A-Z])", r"\1_\2", kind).lower()
        number, used[folder] = used[folder], used[folder] + 1
        path = f"{root}layers/{folder}" + (f"_{number}" if number else "")
        file.create_group(f"{path}/vars")
        for i, value in enumerate(one.weights.values()):
            file[f"{path}/vars/{i}"] = value
        if one.model is not None:
            _number(one.model, file, f"{path}/")
