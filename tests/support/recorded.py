"""Rows of the acceptance corpus as cases: inputs, expected outputs, tolerance."""

import json
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

RUNTIMES = ("ref", "nodel", "auto")


def folder() -> Path:
    """The corpus under test."""
    return Path(os.environ["FLATLITE_CORPUS"])


@lru_cache(1)
def rows() -> list[dict]:
    """All rows of the manifest."""
    return json.loads((folder() / "manifest.json").read_text())["rows"]


def load(path: str) -> dict[str, np.ndarray]:
    """The arrays of a corpus .npz, strings as object arrays of bytes."""
    archive = np.load(folder() / path, allow_pickle=False)
    arrays = {}
    for key in archive.files:
        if key.endswith("#len"):
            lengths = archive[key]
            text = archive[key[:-4] + "#bytes"].tobytes()
            ends = np.cumsum(lengths.ravel()).tolist()
            words = [text[e - n : e] for e, n in zip(ends, lengths.ravel().tolist(), strict=True)]
            array = np.empty(lengths.size, object)
            array[:] = words
            arrays[key[:-4]] = array.reshape(lengths.shape)
        elif key.endswith("#bf16"):
            import ml_dtypes

            arrays[key[:-5]] = archive[key].view(ml_dtypes.bfloat16)
        elif not key.endswith("#bytes"):
            arrays[key] = archive[key]
    return arrays


def group(arrays: dict, prefix: str) -> dict:
    """The arrays whose key starts with `prefix:`, by the rest of the key."""
    return {k[len(prefix) + 1 :]: v for k, v in arrays.items() if k.startswith(prefix + ":")}


@dataclass
class Runs:
    """A .tflite of the corpus with its recorded runs.

    `steps` are inputs: a dict by signature name, or a list in subgraph order.
    """

    row: dict
    steps: list
    arrays: dict

    def expected(self, step: int, tag: str) -> dict[str, np.ndarray]:
        """Outputs of a step as runtime `tag` gave them, those equal to the first runtime's too."""
        arrays = {}
        for name in dict.fromkeys((self.tags[0], tag)):
            if self.row["kind"] == "third_party_tflite_sequence":
                arrays = (
                    {"0": self.arrays[f"{name}:seq"][step]}
                    if f"{name}:seq" in self.arrays
                    else arrays
                )
            elif self.row["kind"] == "op_test":
                arrays.update(group(self.arrays, name))
            else:
                arrays.update(group(self.arrays, f"{name}{step}"))
        return arrays

    @property
    def tags(self) -> list[str]:
        """The runtimes that ran this file, the trusted one first."""
        tags = [t for t in RUNTIMES if t in self.row["oracle"]] or ["tf"]
        suspect = {"ref", "auto"} if self.row.get("auto_equals_ref") else {"ref"}
        trusted = [t for t in tags if t not in suspect]
        return trusted if self.row.get("ref_suspect") and trusted else tags


def runs_of(row: dict) -> Runs:
    """The recorded runs of a row with a .tflite."""
    arrays = load(row["files"]["data"])
    kind = row["kind"]
    if kind == "op_test":
        return Runs(row, [group(arrays, "in")], arrays)
    if kind == "third_party_tflite_sequence":
        return Runs(row, [[x] for x in arrays["in:seq"]], arrays)
    sets = sorted({int(m[1]) for k in arrays if (m := re.match(r"in(\d+):", k))}) or [0]
    steps = [group(arrays, f"in{i}") for i in sets]
    if kind != "model_tflite":
        steps = [[step[str(j)] for j in range(len(step))] for step in steps]
    runs = Runs(row, steps, arrays)
    while len(runs.steps) > 1 and not runs.expected(len(runs.steps) - 1, runs.tags[0]):
        runs.steps.pop()
    return runs


def has_runs(row: dict) -> bool:
    """Whether a row holds a .tflite and what a LiteRT runtime answered for it.

    Where LiteRT in Python lacks the operator, it is TensorFlow's answer for the source.
    """
    files = row.get("files", {})
    kinds = ("op_test", "tflite_case", "handmade_tflite", "model_tflite")
    return (
        "tflite" in files
        and "data" in files
        and (any(t in row["oracle"] for t in RUNTIMES) or row["kind"] == "op_test")
        and (row["kind"] in kinds or row["kind"].startswith("third_party_tflite"))
    )


SUM_ROUNDING = 5e-7
"""Share of an output's largest value by which sums in another order may differ; so do LiteRT's."""


def agree(want: np.ndarray, got: np.ndarray, rtol: float, atol: float) -> str:
    """ "" when `got` is as expected, else what differs. Integers, bools and strings are exact."""
    want, got = np.asarray(want), np.asarray(got)
    if want.shape != got.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.dtype.kind not in "fcV" or rtol == atol == 0:
        wrong = np.count_nonzero(want != got)
        return f"{wrong} of {want.size} elements differ" if wrong else ""
    want, got = want.astype(np.complex128), got.astype(np.complex128)
    atol += SUM_ROUNDING * np.abs(want[np.isfinite(want)]).max(initial=0)
    close = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return ""
    gap = np.abs(got - want)
    return f"{np.count_nonzero(~close)} of {want.size} differ, by up to {np.nanmax(gap):.3g}"
