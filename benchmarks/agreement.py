"""Whether ours answers as LiteRT does: looked at before anything is timed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from contestants import Contestant

TOLERANCE, ROUNDED = 1e-4, 1e-2  # of the largest output; where activations are rounded to int8
REFERENCE_SECONDS = 240


def judge(path: Path, variant: str, outputs: dict[str, list[np.ndarray]]) -> dict:
    """{"agrees", "text", "steps" or "relative"} for outputs by contestant.

    Integers are those of LiteRT's reference kernels exactly, or, where these do not run, within 1
    of AUTO. Floats compare with AUTO; a dynamic-range model may be half as far again from the
    nearest of LiteRT's two as these are from each other, for they round activations differently.
    """
    ours = outputs["ours"]
    theirs = [outputs[name] for name in ("auto", "plain") if name in outputs]
    if ours[0].dtype.kind == "f":
        errors = [max(map(_relative, ours, other)) for other in theirs]
        error, allowed = errors[0], TOLERANCE
        if variant == "dynamic":
            error, allowed = min(errors), ROUNDED
            if len(theirs) == 2:
                allowed = max(ROUNDED, 1.5 * max(map(_relative, *theirs)))
        text = f"relative error {error:.1e}, allowed {allowed:.1e}"
        return {"agrees": bool(error <= allowed), "text": text, "relative": error}
    steps = {name: max(map(_steps, ours, theirs)) for name, theirs in outputs.items()}
    reference = reference_outputs(path)
    if reference is not None:
        steps["reference"] = max(map(_steps, ours, reference))
    agrees = steps["reference"] == 0 if "reference" in steps else steps.get("auto", 0) <= 1
    text = ", ".join(f"{n} from {name}" for name, n in steps.items() if name != "ours")
    return {"agrees": agrees, "text": f"steps: {text}", "steps": steps}


def _relative(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape != b.shape or not np.isfinite(a).all():
        return float("inf")
    return float(np.abs(a - b).max() / max(float(np.abs(b).max()), 1e-30))


def _steps(a: np.ndarray, b: np.ndarray) -> int:
    if a.shape != b.shape:
        return 1 << 16
    return int(np.abs(a.astype(np.int64) - b.astype(np.int64)).max())


def reference_outputs(path: Path) -> list[np.ndarray] | None:
    """What BUILTIN_REF answers, from a process of its own, which it may abort; None then.

    Reference kernels take up to minutes, so the answers stay beside the model.
    """
    key = hashlib.sha256(path.read_bytes() + version("ai-edge-litert").encode()).hexdigest()[:16]
    target = path.parent / "reference" / f"{path.stem}.{key}.npz"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        command = [sys.executable, __file__, str(path), str(target)]
        try:
            subprocess.run(command, capture_output=True, timeout=REFERENCE_SECONDS, check=True)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            np.savez(target)
    with np.load(target) as arrays:
        return [arrays[name] for name in arrays.files] or None


if __name__ == "__main__":
    np.savez(sys.argv[2], *Contestant("reference", Path(sys.argv[1]), 1).outputs())
