"""The memory of several processes that run one model, with and without shared weights.

    python benchmarks/processes.py MODEL.tflite [PROCESSES]

Every process invokes once and waits for the others; then the proportional set size of each (a page
that n processes map counts as 1/n in each) is added up. `base` has imported numpy alone.
"""

import subprocess
import sys
from pathlib import Path

CHILD = """
import sys
import numpy
if sys.argv[1] != "base":
    from importlib import import_module
    library, _, option = sys.argv[1].partition("+")
    options = {option: True} if option else {}
    make = import_module(library).Interpreter
    interpreter = make(model_path=sys.argv[2], num_threads=1, **options)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], numpy.zeros(detail["shape"], detail["dtype"]))
    interpreter.invoke()
print("ready", flush=True)
sys.stdin.read()
"""
CONTESTANTS = (
    "base",
    "ai_edge_litert.interpreter",
    "flatlite.lite",
    "flatlite.lite+share_weights",
)


def proportional(process: int) -> int:
    """The kibibytes of a process, shared pages in proportion."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def measured(contestant: str, model: str, count: int) -> int:
    """The kibibytes of `count` processes together, all of which have run the model."""
    command = [sys.executable, "-c", CHILD, contestant, model]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(command, text=True, **pipes) for _ in range(count)]
    try:
        for process in processes:
            assert process.stdout is not None
            if process.stdout.readline() != "ready\n":
                raise RuntimeError(f"{contestant} does not run {model}")
        return sum(proportional(process.pid) for process in processes)
    finally:
        for process in processes:
            process.communicate()


def main(model: str, count: str = "4") -> None:
    """Prints a line for each library."""
    for contestant in CONTESTANTS:
        for _ in range(2):  # the first process of all stores what others map
            kibibytes = measured(contestant, model, int(count))
        print(f"{contestant:28} {count} processes {kibibytes / 1024:8.1f} MiB")


if __name__ == "__main__":
    main(*sys.argv[1:])
