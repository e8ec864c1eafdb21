"""Programs of several threads in processes that fork, end, or are interrupted."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from flatlite.engine.build import driver

FORKS = hasattr(os, "fork")

SCRIPT = """
import os, sys, threading, time, warnings
import numpy as np
from flatlite.engine.plan import instruction
from flatlite.engine.run import plan_runner
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program

warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads that are not ours
instruction.MIN_PARALLEL_BYTES = instruction.MIN_PARALLEL_TIME = 0
plan_runner.MIN_SHARED = plan_runner.MAX_COMPARED = 0
N = 1 << 16

def make(threads=2):
    program, x, last = Program(threads=threads), bound((N,), np.float32), None
    for _ in range(30):
        out = arena((N,), np.float32)
        program.call("copy.copy", last or x, out, split=N)
        last = out
    program.keep(last)
    program.close({x: np.arange(N, dtype=np.float32)})
    return program, last

def works(program, out):
    for _ in range(5):
        program.array(out)[:] = 0
        program.run()
        if not np.array_equal(program.array(out), np.arange(N)):
            return False
    return True

def child_works(*programs):
    pid = os.fork()
    if not pid:
        os._exit(0 if all(works(*p) for p in programs) else 3)
    for _ in range(3000):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return False
"""


def script(text):
    """Runs a script in a process of its own; gives (return code, what it printed)."""
    driver.ensure(["copy", "launch", "threads"])  # or it would say that it compiles them
    code = SCRIPT + textwrap.dedent(text)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(not FORKS, reason="no fork on this system")
def test_fork_while_idle():
    assert script(
        """
        one = make()
        print(works(*one), all(child_works(one, make(3)) for _ in range(20)), works(*one))
        """
    ) == (0, "True True True\n")


@pytest.mark.skipif(not FORKS, reason="no fork on this system")
def test_fork_while_another_thread_runs():
    assert script(
        """
        busy, mine, end = make(), make(), []
        def loop():
            while not end:
                busy[0].run()
        thread = threading.Thread(target=loop)
        thread.start()
        print(works(*mine), all(child_works(mine, make(3)) for _ in range(20)), works(*mine))
        end.append(1)
        thread.join()
        print(works(*busy))
        """
    ) == (0, "True True True\nTrue\n")


@pytest.mark.skipif(not FORKS, reason="no fork on this system")
def test_fork_inside_a_run():
    assert script(
        """
        program, out = make()
        works(program, out)
        pids = []
        program.run(check=lambda: pids.append(os.fork()))
        good = np.array_equal(program.array(out), np.arange(N)) and works(program, out)
        if not pids[0]:
            os._exit(0 if good else 3)
        print(good, os.waitpid(pids[0], 0)[1])
        """
    ) == (0, "True 0\n")


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "program.run = None", "del program, out"])
def test_a_process_ends_cleanly_with_workers(end):
    assert script(f"program, out = make(4)\nprint(works(program, out))\n{end}") == (0, "True\n")


def test_a_process_ends_cleanly_in_the_middle_of_a_run():
    assert script(
        """
        program, out = make(4)
        def loop():
            while True:
                program.run()
        threading.Thread(target=loop, daemon=True).start()
        time.sleep(0.3)
        print("end")
        """
    ) == (0, "end\n")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of POSIX")
def test_ctrl_c_ends_a_process():
    heeded = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)"  # ignored in "&"
    )
    code = f"{heeded}\n{SCRIPT}program, out = make(2)\nprint('go', flush=True)\n"
    code += "while True: program.run()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "go\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
