"""Models as JSON and back: all that a file says, in words and numbers."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
from typing import Any

import numpy as np

from ...schema import tables
from ...schema.flatbuffer import Record, record, same
from ...schema.model import Model, Operator, Quantization, Signature, Subgraph, Tensor

FORMAT = "flatlite model 1"
SMALL = 64  # elements up to which an array is written as numbers
LISTS = {
    (Model, "subgraphs"): Subgraph,
    (Model, "signatures"): Signature,
    (Subgraph, "tensors"): Tensor,
    (Subgraph, "operators"): Operator,
}
"""Fields that are lists of other parts."""
TUPLES = ("shape", "shape_signature", "variant_tensors")
"""Fields of a tensor that are tuples."""


def dump(model: Model, small: int = SMALL) -> str:
    """A model as JSON; what is not mentioned has its default.

    Args:
        model: any.
        small: elements up to which a constant is a list of numbers; larger ones are its bytes in
            base64.
    """
    content = {"format": FORMAT, **_part(model, small)}
    return json.dumps(content, indent=1, allow_nan=False)


def assemble(text: str | bytes) -> Model:
    """The model that `dump` has written, perhaps edited since.

    Raises ValueError, saying where, for what is no such text.
    """
    if isinstance(text, bytes) and text[4:8] == tables.FILE_IDENTIFIER.encode():
        raise ValueError("the text must be JSON of flatlite dump, this is a .tflite file")
    try:
        content = json.loads(text)
    except UnicodeDecodeError:
        raise ValueError("the text must be JSON of flatlite dump, this is no text") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the text must be JSON of flatlite dump: {error}") from None
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise ValueError(f'the text must be JSON of flatlite dump, with "format": "{FORMAT}"')
    return _parsed(content, Model, "model")


def _part(value: Any, small: int) -> dict[str, Any]:
    """The fields of a part of a model that have not their defaults."""
    cls = type(value)
    defaults = cls([]) if cls is Model else cls(*_REQUIRED.get(cls, ()))
    fields = {}
    for field in dataclasses.fields(value):
        content = getattr(value, field.name)
        is_required = field.default is field.default_factory is dataclasses.MISSING
        if is_required or not same(content, getattr(defaults, field.name)):
            fields[field.name] = _encoded(content, small)
    return fields


_REQUIRED: dict[type, tuple[Any, ...]] = {Operator: ("ADD", [], []), Signature: ("", {}, {})}


def _encoded(value: Any, small: int) -> Any:
    """A value as JSON."""
    if dataclasses.is_dataclass(value):
        return _part(value, small)
    if isinstance(value, Record):
        fields = {
            name: _encoded(getattr(value, name), small)
            for name in value.__slots__
            if not same(getattr(value, name), value.DEFAULTS[name])
        }
        return {"table": type(value).__name__, **fields}
    if isinstance(value, Quantization):
        names = ("scales", "zero_points", "axis", "block_size", "min", "max", "details")
        fields = {name: getattr(value, name) for name in names}
        return {"quantization": {n: _encoded(x, small) for n, x in fields.items() if x is not None}}
    if isinstance(value, np.ndarray):
        return _array(value, small)
    if isinstance(value, bytes | memoryview):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, list | tuple):
        return [_encoded(x, small) for x in value]
    if isinstance(value, dict):
        return {name: _encoded(x, small) for name, x in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return _array(np.array(value), small)
    return value.item() if isinstance(value, np.generic) else value


def _array(array: np.ndarray, small: int) -> dict[str, Any]:
    """An array: numbers where they are few and JSON has them, else its bytes."""
    if array.dtype.hasobject:
        strings = [base64.b64encode(s).decode() for s in array.reshape(-1).tolist()]
        return {"strings": strings, "shape": list(array.shape)}
    content: dict[str, Any] = {"dtype": array.dtype.name, "shape": list(array.shape)}
    is_number = array.dtype.kind in "iub" or array.dtype.kind == "f"
    if is_number and array.size <= small and bool(np.isfinite(array).all()):
        return {**content, "values": array.reshape(-1).tolist()}
    return {**content, "base64": base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()}


def _parsed(content: Any, cls: Any, where: str) -> Any:
    """A part of a model from its JSON."""
    if not isinstance(content, dict):
        raise ValueError(f"{where} must be an object, got {_short(content)}")
    names = {field.name for field in dataclasses.fields(cls)}
    for name in content:
        if name not in names:
            raise ValueError(f"{where} has no '{name}', there are {', '.join(sorted(names))}")
    values = {}
    for name, value in content.items():
        path = f"{where}.{name}"
        part = LISTS.get((cls, name))
        if part is not None:
            if not isinstance(value, list):
                raise ValueError(f"{path} must be a list, got {_short(value)}")
            values[name] = [_parsed(x, part, f"{path}[{i}]") for i, x in enumerate(value)]
            continue
        decoded = _decoded(value, path)
        is_tuple = cls is Tensor and name in TUPLES and isinstance(decoded, list | tuple)
        values[name] = tuple(decoded) if is_tuple else decoded
    try:
        return cls(**values)
    except TypeError as error:
        raise ValueError(f"{where}: {str(error).partition('() ')[2] or error}") from None


def _decoded(value: Any, where: str) -> Any:
    """A value from its JSON."""
    if isinstance(value, list):
        items = [_decoded(x, f"{where}[{i}]") for i, x in enumerate(value)]
        return tuple(items) if any(isinstance(x, Record) for x in items) else items
    if not isinstance(value, dict):
        return value
    try:
        if "table" in value:
            fields = {n: _decoded(x, f"{where}.{n}") for n, x in value.items() if n != "table"}
            if value["table"] not in tables.TABLES:
                raise ValueError(f"the schema has no table '{value['table']}'")
            return record(value["table"])(**fields)
        if "quantization" in value:
            fields = {n: _decoded(x, f"{where}.{n}") for n, x in value["quantization"].items()}
            return Quantization(**fields)
        if "strings" in value or "dtype" in value or "base64" in value:
            return _array_of(value)
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error) as error:
        text = str(error)
        raise ValueError(text if text.startswith("model") else f"{where}: {text}") from None
    return {name: _decoded(x, f"{where}.{name}") for name, x in value.items()}


def _array_of(value: dict[str, Any]) -> np.ndarray | bytes:
    """An array, or bytes, from its JSON."""
    if "strings" in value:
        array = np.empty(len(value["strings"]), object)
        array[:] = [base64.b64decode(s, validate=True) for s in value["strings"]]
        return array.reshape(value["shape"])
    if "dtype" not in value:
        return base64.b64decode(value["base64"], validate=True)
    dtype = _dtype(value["dtype"])
    if "values" in value:
        return np.array(value["values"], dtype).reshape(value["shape"])
    content = base64.b64decode(value["base64"], validate=True)
    return np.frombuffer(content, dtype).reshape(value["shape"])


def _dtype(name: str) -> np.dtype:
    """A numpy dtype, one of ml_dtypes' among them."""
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name, name))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."
