"""The examples of the documents as programs, with what they print.

tests/document_examples has them: `== NUMBERS SYMBOL`, a program, and under `--` what it prints.
The numbers are places in the list of examples that the programs are those of; a line that was
replaced (a placeholder, a path) stands before that as `# document: LINE`. not_run.txt
has the numbers of the others, with reasons.

    python tests/support/document_examples.py tensorflow.compat.v1

runs them on another module and prints which print something else.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "document_examples"
EXAMPLE = re.compile(r"^== ([\d ]+) (.*)\n((?:(?!== ).*\n)*)", re.MULTILINE)


@dataclass
class Example:
    """A program with what it prints; `path` and `line` say where it stands."""

    numbers: tuple[int, ...]
    symbol: str
    program: str
    printed: str
    path: Path
    line: int

    @property
    def id(self) -> str:
        return f"{self.path.stem}-{self.numbers[0]}"

    def run(self, tf: Any, folder: Path) -> str:
        """What the program prints in a graph and a folder of its own."""
        code = compile("\n" * self.line + self.program, str(self.path), "exec")
        before = os.getcwd()
        os.chdir(folder)
        try:
            with tf.Graph().as_default(), contextlib.redirect_stdout(io.StringIO()) as output:
                exec(code, {"tf": tf, "__name__": "example"})
        finally:
            os.chdir(before)
        return output.getvalue()


def examples() -> list[Example]:
    """All of them, file by file."""
    return [example for path in sorted(FOLDER.glob("*.txt")) for example in read(path)]


def read(path: Path) -> list[Example]:
    """The examples of one file."""
    text, read = path.read_text(), []
    for match in EXAMPLE.finditer(text):
        numbers = tuple(int(word) for word in match[1].split())
        program, _, printed = match[3].strip("\n").partition("\n--\n")
        line = text.count("\n", 0, match.start()) + 1
        printed = printed + "\n" if printed else ""
        read.append(Example(numbers, match[2], program + "\n", printed, path, line))
    return read


def not_run() -> dict[int, str]:
    """Why examples are not among them, by number."""
    reasons = {}
    for line in (FOLDER / "not_run.txt").read_text().splitlines():
        numbers, _, reason = line.partition(": ")
        reasons |= {int(word): reason for word in numbers.split()}
    return reasons


def main(module: str) -> None:
    """Runs all on a module; prints what differs."""
    tf = importlib.import_module(module)
    if hasattr(tf, "disable_v2_behavior"):
        tf.disable_v2_behavior()
    for example in examples():
        with tempfile.TemporaryDirectory() as folder:
            try:
                printed = example.run(tf, Path(folder))
            except Exception:
                printed = traceback.format_exc(limit=-3)
        if printed != example.printed:
            sys.stdout.write(f"{example.id}\n{printed}\nnot\n{example.printed}\n\n")


if __name__ == "__main__":
    main(sys.argv[1])
