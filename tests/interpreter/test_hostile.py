"""Senseless models and data: an exception that is foreseen, never a crash, a wait or an overrun."""

import subprocess
import sys
from pathlib import Path

import pytest

from flatlite.engine.run import guard

HOSTILE = Path(__file__).parents[1] / "support" / "hostile.py"
OUTCOMES = ("ran", "no file", "PlanError: ", "ModelError: ", "ValueError: ", "MemoryError: ")
REFUSED = "RuntimeError: Attempting to resize"
SLOW = "TooLong: "  # a loop that would not end
SIDES = (guard.END, guard.START)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect and limits")


def outcomes(corpus, side, first=None, stop=0):
    """What became of spoilt models, by their numbers; by default, of all files as they are."""
    files = sorted(str(p) for p in corpus.rglob("*.tflite") if p.stat().st_size < 60_000)
    first = -len(files) if first is None else first
    command = [sys.executable, str(HOSTILE), side, str(first), str(stop), *files]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    lines = done.stdout.splitlines() or ["before the first model"]
    assert done.returncode == 0, f"{lines[-1]}\n{done.stderr}"
    assert len(lines) == stop - first
    return [line.rpartition(" | ")[2] for line in lines]


def test_models_keep_to_their_memory(corpus):
    actual = outcomes(corpus, guard.END)
    assert actual.count("ran") > 0.5 * len(actual)


@pytest.mark.parametrize("side", SIDES)
def test_spoilt_models(corpus, side):
    actual = outcomes(corpus, side, *{guard.END: (0, 300), guard.START: (300, 600)}[side])
    assert [text for text in actual if not text.startswith((*OUTCOMES, REFUSED, SLOW))] == []
    assert actual.count("ran") > 50
    assert sum(text.startswith("PlanError") for text in actual) > 50


@pytest.mark.slow
@pytest.mark.parametrize("side", SIDES)
def test_many_spoilt_models(corpus, side):
    outcomes(corpus, side)
    for first in range(1000, 9000, 1000):
        outcomes(corpus, side, first, first + 1000)
