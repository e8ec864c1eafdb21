"""test_cuda.py in numba's CUDA simulator, and the CUDA delegate where there is no GPU."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from delegated import assert_same, network, prepared, run_random
from numba import cuda

from flatlite.lite import load_delegate

ROOT = Path(__file__).parent.parent.parent


def test_cuda_in_the_simulator(corpus):
    path = Path(__file__).parent / "test_cuda.py"
    command = [sys.executable, "-m", "pytest", str(path), "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-p", "no:xdist", f"--corpus={corpus}"],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 100


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_cpu_runs_everything():
    with pytest.warns(RuntimeWarning, match=r"there is no CUDA device \(.+\); the CPU runs everyt"):
        delegate = load_delegate("cuda")
    content = network("a: ADD x x", "a")
    interpreter = prepared(content, [delegate])
    assert_same(run_random(interpreter), run_random(prepared(content)))
    assert "there is no CUDA device" in interpreter.delegate_report().operators[0].reason


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_loading_fails_if_that_is_asked_for():
    with pytest.raises(ValueError, match=r"^Failed to load delegate from cuda\n.*no CUDA device"):
        load_delegate("cuda", {"fallback": False})
