"""Recipes of Google's ai-edge-quantizer, which are lists of rows, as ours.

[{"regex": ".*", "operation": "FULLY_CONNECTED", "algorithm_key": "min_max_uniform_quantize",
  "op_config": {"weight_tensor_config": {"num_bits": 4, "granularity": "CHANNELWISE"},
                "compute_precision": "INTEGER"}}]

The last row that fits an operator holds there, the first here; what no row fits stays float.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .accuracy.algorithms import algorithms_of
from .recipe import FLOAT32, Layers, Recipe
from .recipe_keys import known_keys
from .scheme import FLOAT16, Scheme
from .statistics import Calibrator

KEYS = ("regex", "operation", "algorithm_key", "op_config")
CONFIG_KEYS = (
    *("activation_tensor_config", "weight_tensor_config", "compute_precision"),
    *("explicit_dequantize", "skip_checks", "min_weight_elements"),
)
TENSOR_KEYS = (
    *("num_bits", "symmetric", "granularity", "dtype", "block_size"),
    *("algorithm_key", "algorithm_params"),
)
EVERY = "*"
ENDS = ("INPUT", "OUTPUT")
KINDS = {"CONV_2D_TRANSPOSE": "TRANSPOSE_CONV", "CUSTOM_OP": "CUSTOM"}
"""Operators that have another name there."""
NO_QUANTIZE, FLOAT_CASTING = "no_quantize", "float_casting"
ALGORITHMS: dict[str, tuple[str, ...]] = {
    "min_max_uniform_quantize": (),
    NO_QUANTIZE: (),
    FLOAT_CASTING: (),
    "dequantized_weight_recovery": ("recovery",),
    "GPTQ": ("gptq",),
}
"""Keys of algorithms, and what does the same here."""
CALIBRATOR = Calibrator("moving_average", (("momentum", 0.95),))
"""How it makes a range of what samples gave."""
WEIGHTS = {2: "i2", 4: "i4", 8: "i8"}
ACTIVATIONS = {8: ("i8", "i32"), 16: ("i16", "i64")}
"""Bits of results -> their type and that of a bias."""
BLOCKWISE = "BLOCKWISE_"
GRANULARITIES = ("TENSORWISE", "CHANNELWISE")


def from_rows(rows: Sequence[Any]) -> Recipe:
    """The Recipe that the rows of ai-edge-quantizer say.

    Raises ValueError for rows that are none of its, and for algorithms that have no counterpart.
    """
    if not rows:
        raise ValueError("quantization_recipe must have at least one row, got an empty list")
    layers, names = [], set()
    ends = [FLOAT32, FLOAT32]
    for row in rows:
        pattern, operation, scheme, algorithms = _parsed(row)
        names.update(algorithms)
        dtype = FLOAT32 if scheme is None or scheme.activations is None else scheme.integers.dtype
        for i, end in enumerate(ENDS):
            if operation in (EVERY, end) and re.search(pattern, ""):
                ends[i] = dtype
        if operation not in ENDS:
            kind = "" if operation == EVERY else KINDS.get(operation, operation)
            layers.append(Layers(pattern, scheme, kind, may_miss=True))
    schemes = [row.scheme for row in reversed(layers) if row.scheme is not None]
    if not schemes:
        raise ValueError("quantization_recipe: no row quantizes anything")
    main = next((one for one in schemes if one.activations is not None), schemes[0])
    float_elsewhere = Layers("", None, may_miss=True)
    return Recipe(
        (main,),
        (*reversed(layers), float_elsewhere),
        warns=True,
        input_type=ends[0],
        output_type=ends[1],
        calibrator=CALIBRATOR,
        algorithms=algorithms_of(sorted(names)),
    )


def _parsed(row: Any) -> tuple[str, str, Scheme | None, tuple[str, ...]]:
    """A row's pattern, operation, scheme (None for float) and algorithms."""
    if not isinstance(row, Mapping):
        raise ValueError(
            "quantization_recipe: the rows of a list must be those of ai-edge-quantizer, got "
            f"{type(row).__name__}"
        )
    known_keys("a row of ai-edge-quantizer", row, KEYS)
    pattern, operation = str(row.get("regex", ".*")), str(row.get("operation", EVERY))
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"'{pattern}' must be a regular expression, got {error}") from None
    key = str(row.get("algorithm_key", "min_max_uniform_quantize"))
    if key not in ALGORITHMS:
        raise ValueError(
            f"algorithm_key must be one of {', '.join(ALGORITHMS)}, got {key!r}; "
            'the keys "calibrator" and "algorithms" of a recipe of flatlite have others'
        )
    config = row.get("op_config") or {}
    known_keys("op_config", config, CONFIG_KEYS)
    if key == NO_QUANTIZE:
        return pattern, operation, None, ()
    scheme = FLOAT16 if key == FLOAT_CASTING else _scheme(config)
    return pattern, operation, scheme, ALGORITHMS[key]


def _scheme(config: Mapping[str, Any]) -> Scheme:
    """What an op_config says."""
    results, weights = config.get("activation_tensor_config"), config.get("weight_tensor_config")
    for tensor in filter(None, (results, weights)):
        known_keys("a tensor's config", tensor, TENSOR_KEYS)
        if tensor.get("dtype", "INT") != "INT":
            raise ValueError(f"dtype of a tensor's config must be INT, got {tensor['dtype']}")
    if weights is None:
        raise ValueError("op_config must have a weight_tensor_config")
    if not weights.get("symmetric", True):
        raise ValueError("weights must be symmetric, as LiteRT has no kernels for others")
    axis, block = _granularity(weights)
    fields: dict[str, Any] = {
        "weights": _of_bits(WEIGHTS, weights, "weights"),
        "axis": axis,
        "block": block,
        "smallest": int(config.get("min_weight_elements", 0)),
    }
    if results is not None:
        fields["activations"], fields["bias"] = _of_bits(ACTIVATIONS, results, "results")
        fields["symmetric"] = bool(results.get("symmetric", fields["activations"] == "i16"))
    else:
        fields["hybrid"] = config.get("compute_precision", "FLOAT") == "INTEGER"
    return Scheme("ai-edge-quantizer", **fields)


def _of_bits(types: Mapping[int, Any], config: Mapping[str, Any], what: str) -> Any:
    """The type of so many bits."""
    bits = config.get("num_bits", 0)
    if bits not in types:
        raise ValueError(f"num_bits of {what} must be one of {[*types]}, got {bits!r}")
    return types[bits]


def _granularity(config: Mapping[str, Any]) -> tuple[bool, int | None]:
    """Whether weights have a scale for each channel, and the size of blocks."""
    text = str(config.get("granularity", "TENSORWISE"))
    if text.startswith(BLOCKWISE) and text.removeprefix(BLOCKWISE).isdigit():
        return True, int(text.removeprefix(BLOCKWISE))
    if text not in GRANULARITIES:
        raise ValueError(
            f"granularity must be one of {', '.join(GRANULARITIES)} or {BLOCKWISE}32 to 256, "
            f"got {text}"
        )
    return text == "CHANNELWISE", None
