"""What the command line prints: tables, JSON, error texts."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

MAX_LINES = 15  # of an error message
MAX_WIDTH = 1000  # characters of a line of one
WIDTH = 120  # of tables that do not go to a terminal


def error_text(error: BaseException | str) -> str:
    """An error's message, short and safe to print whatever names a file has in it."""
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror
        if error.filename is not None:
            text = f"'{error.filename}': {text}"
    if isinstance(error, MemoryError):
        text = f"out of memory: {text}"
    text = "\n".join([text, *getattr(error, "__notes__", ())])
    lines = [
        line if len(line) <= MAX_WIDTH else f"{line[:MAX_WIDTH]}..." for line in text.split("\n")
    ]
    if len(lines) > MAX_LINES:
        lines[MAX_LINES - 1 :] = [f"... {len(lines) - MAX_LINES + 1} more lines"]
    return "\n".join(map(printable, lines))


def printable(text: str) -> str:
    """`text` with a mark in place of every character that is not to be printed."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def show_json(result: Any) -> None:
    """Prints plain data as JSON; what JSON has no number for is a string."""
    print(json.dumps(plain(result), indent=1, allow_nan=False))


def plain(value: Any) -> Any:
    """`value` as JSON can hold it."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def show_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Prints rows as a table; the columns are the keys of all rows, in order of appearance."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(title=Text(title), title_justify="left")
    for column in columns:
        numeric = all(isinstance(row.get(column, 0), int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(column, row.get(column))) for column in columns))
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    with console.capture() as capture:  # printed here, so that a broken pipe is an exception
        console.print(table)
    print(capture.get(), end="")


def cell(column: str, value: Any) -> str:
    """A value as a table shows it."""
    if value is None:
        return ""
    if column == "shape":
        return "x".join("?" if n < 0 else str(n) for n in value) or "scalar"
    if column in ("share", "of limit"):
        return f"{value:.1%}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, dict):
        return printable(", ".join(f"{k}={v}" for k, v in value.items()))
    return f"{value:,}" if isinstance(value, int) and column != "index" else printable(str(value))


def counted(threads: int) -> str:
    """Such as "1 thread" and "2 threads"."""
    return f"{threads} thread{'' if threads == 1 else 's'}"
