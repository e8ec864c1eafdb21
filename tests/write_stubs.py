"""Writes the `.pyi` file of each module whose names are imported on first use: `make stubs`."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

ROOT = Path(__file__).parents[1]
FACADES = (
    "flatlite",
    "flatlite.compat",
    "flatlite.compat.v1",
    "flatlite.compat.v1.audio",
    "flatlite.compat.v1.bitwise",
    "flatlite.compat.v1.compat",
    "flatlite.compat.v1.config",
    "flatlite.compat.v1.config_experimental",
    "flatlite.compat.v1.data",
    "flatlite.compat.v1.data_experimental",
    "flatlite.compat.v1.config_threading",
    "flatlite.compat.v1.debugging",
    "flatlite.compat.v1.distribute",
    "flatlite.compat.v1.distributions",
    "flatlite.compat.v1.dtypes",
    "flatlite.compat.v1.feature_column",
    "flatlite.compat.v1.gfile",
    "flatlite.compat.v1.graph_util",
    "flatlite.compat.v1.image",
    "flatlite.compat.v1.initializers",
    "flatlite.compat.v1.io",
    "flatlite.compat.v1.io_gfile",
    "flatlite.compat.v1.layers",
    "flatlite.compat.v1.linalg",
    "flatlite.compat.v1.lite",
    "flatlite.compat.v1.lite_experimental_nn",
    "flatlite.compat.v1.lookup",
    "flatlite.compat.v1.lookup_experimental",
    "flatlite.compat.v1.losses",
    "flatlite.compat.v1.manip",
    "flatlite.compat.v1.math",
    "flatlite.compat.v1.math_special",
    "flatlite.compat.v1.metrics",
    "flatlite.compat.v1.mixed_precision",
    "flatlite.compat.v1.nest",
    "flatlite.compat.v1.nn",
    "flatlite.compat.v1.python_io",
    "flatlite.compat.v1.quantization",
    "flatlite.compat.v1.queue",
    "flatlite.compat.v1.ragged",
    "flatlite.compat.v1.random",
    "flatlite.compat.v1.random_experimental",
    "flatlite.compat.v1.rnn_cell",
    "flatlite.compat.v1.saved_model",
    "flatlite.compat.v1.sets",
    "flatlite.compat.v1.signal",
    "flatlite.compat.v1.sparse",
    "flatlite.compat.v1.spectral",
    "flatlite.compat.v1.strings",
    "flatlite.compat.v1.summary",
    "flatlite.compat.v1.test",
    "flatlite.compat.v1.train_experimental",
    "flatlite.compat.v1.tpu",
    "flatlite.compat.v1.types",
    "flatlite.compat.v1.types_experimental",
    "flatlite.compat.v1.user_ops",
    "flatlite.compat.v1.version",
    "flatlite.compat.v2",
    "flatlite.compat.v2.image",
    "flatlite.edit",
    "flatlite.experimental",
    "flatlite.lite",
    "flatlite.litert",
    "flatlite.metadata",
    "flatlite.micro",
    "flatlite.train",
)
RAW_OPS = "flatlite.compat.v1.raw_ops"
HEAD = "# What editors and type checkers see of this module; tests/write_stubs.py writes it.\n"


def stub_of(name: str) -> str:
    """The text of a module's stub: every public name, from where it lives."""
    module = importlib.import_module(name)
    dots = "." * len(Path(module.__file__).resolve().relative_to(ROOT).parts)
    lines = []
    for public in set(module.__all__) - {"__version__"}:
        value = getattr(module, public)
        if inspect.ismodule(value):
            package, _, last = value.__name__.removeprefix("flatlite.").rpartition(".")
            lines.append(f"from {dots}{package} import {last} as {public}")
        else:
            home, attribute = homes(module)[public]
            lines.append(f"from {dots}{home} import {attribute} as {public}")
    version = "\n__version__: str\n" if "__version__" in module.__all__ else ""
    return (
        f'{HEAD}"""{module.__doc__.splitlines()[0]}"""\n\n'
        + "\n".join(sorted(lines))
        + "\n"
        + version
    )


def raw_ops_stub() -> str:
    """The text of the stub of `tf.raw_ops`, whose functions are made of the table of signatures."""
    module = importlib.import_module(RAW_OPS)
    lines = [f"{name}: RawOp" for name in dir(module)]
    head = f'{HEAD}"""{module.__doc__}"""\n\nfrom ...graph.functions.raw import RawOp\n\n'
    return head + "\n".join(lines) + "\n"


def homes(module) -> dict[str, tuple[str, str]]:
    """Where the names of a facade live."""
    return inspect.getclosurevars(module.__getattr__).nonlocals["homes"]


def path_of(name: str) -> Path:
    """Where a module's stub lies."""
    return Path(importlib.import_module(name).__file__).with_suffix(".pyi")


if __name__ == "__main__":
    for facade in FACADES:
        path_of(facade).write_text(stub_of(facade))
    path_of(RAW_OPS).write_text(raw_ops_stub())
