"""The interpreters that are compared, behind one name each."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np

OURS, LITERT = "flatlite.lite", "ai_edge_litert.interpreter"
CONTESTANTS = {
    "ours": (OURS, "AUTO"),
    "auto": (LITERT, "AUTO"),
    "plain": (LITERT, "BUILTIN_WITHOUT_DEFAULT_DELEGATES"),
    "reference": (LITERT, "BUILTIN_REF"),
}
TITLES = {
    "auto": "LiteRT with XNNPACK (AUTO)",
    "plain": "LiteRT without delegates (BUILTIN_WITHOUT_DEFAULT_DELEGATES)",
}


class Refusal(Exception):
    """A contestant does not run the model; the text is its first line."""


class Contestant:
    """One interpreter with the model loaded, its inputs set and one invoke done.

    Raises Refusal, when the interpreter raises.
    """

    def __init__(self, name: str, path: Path, threads: int):
        module, resolver = CONTESTANTS[name]
        library = import_module(module)
        try:
            self.interpreter = library.Interpreter(
                model_path=str(path),
                num_threads=threads,
                experimental_op_resolver_type=library.OpResolverType[resolver],
            )
            self.interpreter.allocate_tensors()
            details = self.interpreter.get_input_details()
            for detail, array in zip(details, sample(path), strict=True):
                self.interpreter.set_tensor(detail["index"], array)
            self.invoke = self.interpreter.invoke
            self.invoke()
        except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise Refusal((lines or [type(error).__name__])[0]) from error

    def outputs(self) -> list[np.ndarray]:
        """Copies of the outputs of the last invoke."""
        details = self.interpreter.get_output_details()
        return [np.array(self.interpreter.get_tensor(d["index"])) for d in details]


def sample(path: Path) -> list[np.ndarray]:
    """The inputs beside the model, in order."""
    with np.load(path.with_suffix(".npz")) as arrays:
        return [arrays[name] for name in arrays.files]
