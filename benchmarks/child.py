"""A process that answers requests, one line of JSON for each."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any


class Child:
    """A process that is asked things; `command` is what starts it."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, do: str, **request: Any) -> Any:
        """The answer; raises RuntimeError when the process has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps({"do": do, **request}) + "\n")
        stdin.flush()
        reply = stdout.readline()
        if not reply:
            raise RuntimeError(f"{do} {request} ended the process: see above")
        return json.loads(reply)

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
