"""The tables of a report, for the terminal or as markdown."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from contestants import TITLES
from rich.console import Console
from rich.table import Table

NONE = "-"
WRONG = "≠"  # after a figure of a model whose outputs disagree; it is in no mean


@dataclass(frozen=True)
class Sheet:
    """A table: the first column is text, the others figures."""

    title: str
    headings: list[str]
    rows: list[list[str]]


def ratio(one: dict, rival: str) -> float | None:
    """rival / ours for one file and number of threads: the median over the runs."""
    runs = [run for run in one.get("medians", ()) if rival in run]
    return statistics.median(run[rival] / run["ours"] for run in runs) if runs else None


def agrees(one: dict) -> bool:
    """Whether the outputs were those of LiteRT."""
    return one.get("agreement", {}).get("agrees", False)


def mean(ratios: Iterable[float]) -> str:
    """The geometric mean, and of how many."""
    logs = [math.log(one) for one in ratios]
    return f"{math.exp(statistics.fmean(logs)):.2f} ({len(logs)})" if logs else NONE


def text(value: float | None, right: bool) -> str:
    """A figure, marked when the outputs were wrong."""
    return NONE if value is None else f"{value:.2f}{'' if right else WRONG}"


def joined(texts: list[str]) -> str:
    """The figures of one cell."""
    return NONE if set(texts) == {NONE} else " / ".join(texts)


class Report:
    """Figures of a report by model and variant."""

    def __init__(self, report: dict):
        self.machine = report["machine"]
        self.results = {(one["model"], one["variant"]): one for one in report["results"]}
        self.models = list(dict.fromkeys(model for model, _ in self.results))
        self.variants = list(dict.fromkeys(variant for _, variant in self.results))
        threads = [n for one in report["results"] for n in one.get("threads", ())]
        self.threads = list(dict.fromkeys(threads))

    def speed(self, rival: str) -> Sheet:
        """Ratios to one rival: a column per variant, a figure for each number of threads."""

        def figures(model: str, variant: str) -> list[tuple[float | None, bool]]:
            threads = self.results.get((model, variant), {}).get("threads", {})
            ones = [threads.get(n, {}) for n in self.threads]
            return [(ratio(one, rival), agrees(one)) for one in ones]

        title = f"{TITLES[rival]} / flatlite, time per invoke, {' / '.join(self.threads)} threads"
        return self._sheet(title, figures)

    def memory(self) -> Sheet:
        """Resident memory, ours / LiteRT's."""

        def figures(model: str, variant: str) -> list[tuple[float | None, bool]]:
            memory = self.results.get((model, variant), {}).get("memory") or {}
            return [(memory["ours"] / memory["auto"] if "ours" in memory else None, True)]

        title = "flatlite / LiteRT, resident memory after the first invoke (lower is better)"
        return self._sheet(title, figures)

    def _sheet(self, title: str, figures: Callable) -> Sheet:
        rows = [[model] for model in self.models]
        means = ["geometric mean"]
        for variant in self.variants:
            column = [figures(model, variant) for model in self.models]
            for row, cell in zip(rows, column, strict=True):
                row.append(joined([text(value, right) for value, right in cell]))
            threads = list(zip(*column, strict=True))
            means.append(joined([mean(v for v, right in one if v and right) for one in threads]))
        return Sheet(title, ["model", *self.variants], [*rows, means])

    def start(self) -> Sheet | None:
        """From process start to the first result, above `import numpy`."""
        rows = []
        for (model, variant), one in self.results.items():
            if "ours" in (startup := one.get("start") or {}):
                ours, auto, cold = startup["ours"], startup["auto"], startup["cold"]
                seconds = [ours["wall"], auto["wall"], ours["cpu"], auto["cpu"], cold["wall"]]
                cells = [f"{auto[k] / ours[k]:.2f}" for k in ("wall", "cpu")]
                rows.append([f"{model} {variant}", *cells, *(f"{1e3 * s:.1f}" for s in seconds)])
        headings = ["LiteRT / flatlite, wall", "CPU", "flatlite ms", "LiteRT ms"]
        headings += ["flatlite CPU ms", "LiteRT CPU ms", "flatlite ms, kernels not compiled"]
        title = "process start to first result, above `import numpy`"
        return Sheet(title, ["model", *headings], rows) if rows else None

    def notes(self) -> Iterator[str]:
        """What is not in the means, and why; and what was measured in fewer calls."""
        few = []
        for (model, variant), result in self.results.items():
            name = f"{model} {variant}"
            if "absent" in result:
                yield f"{name}: TensorFlow does not write it: {result['absent']}"
            captions, calls = set(), []
            for what in ("memory", "start"):
                if "failed" in (result.get(what) or {}):
                    captions.add(f"{what}: {result[what]['failed']}")
            for threads, one in result.get("threads", {}).items():
                captions.update(self._reasons(one, threads))
                calls += [one["calls"]] if "calls" in one else []
            if calls and min(calls) < 100:
                few.append(f"{name} {' / '.join(map(str, calls))}")
            yield from (f"{name}: {reason}" for reason in sorted(captions))
        if few:
            yield f"fewer than 100 calls of each in a run: {', '.join(few)}"

    @staticmethod
    def _reasons(one: dict, threads: str) -> Iterator[str]:
        people = {"ours": "flatlite", "auto": "LiteRT AUTO", "plain": "LiteRT without delegates"}
        for who, why in one.get("refusals", {}).items():
            yield f"{people[who]} refuses it: {why}"
        if "failed" in one:
            yield f"failed: {one['failed']}"
        if "agreement" in one and not agrees(one):
            yield f"the outputs disagree, {one['agreement']['text']} ({WRONG}, in no mean)"
        if one.get("cpu_elsewhere", 0) > 0.1 and threads == "1":
            yield f"{one['cpu_elsewhere']:.0%} more CPU time on other threads"

    def caption(self) -> str:
        """Machine, date and versions."""
        versions = ", ".join(
            f"{name} {number}" for name, number in self.machine["versions"].items()
        )
        load = " to ".join(map(str, self.machine["load"]))
        return (
            f"{self.machine['cpu']}, load {load}, {self.machine['date']}, "
            f"Python {self.machine['python']}, {versions}; models: {self.machine['models']}"
        )

    def sheets(self) -> list[Sheet]:
        """All tables."""
        sheets = [self.speed("auto"), self.speed("plain"), self.start(), self.memory()]
        return [sheet for sheet in sheets if sheet]


def show(report: dict, markdown: bool) -> None:
    """Prints the tables of a report to standard output."""
    figures = Report(report)
    if markdown:
        sys.stdout.write(as_markdown(figures))
        return
    console = Console(width=None if sys.stdout.isatty() else 150)
    for sheet in figures.sheets():
        table = Table(title=sheet.title)
        for place, heading in enumerate(sheet.headings):
            table.add_column(heading, justify="right" if place else "left")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)
    for note in figures.notes():
        console.print(f"- {note}", markup=False, highlight=False)
    console.print(figures.caption(), markup=False, highlight=False)


def as_markdown(figures: Report) -> str:
    """The tables for a README."""
    lines = []
    for sheet in figures.sheets():
        lines += [f"**{sheet.title}**", "", "| " + " | ".join(sheet.headings) + " |"]
        lines += ["|---|" + "---:|" * (len(sheet.headings) - 1)]
        lines += ["| " + " | ".join(row) + " |" for row in sheet.rows]
        lines += [""]
    lines += [f"- {note}" for note in figures.notes()]
    return "\n".join([*lines, "", figures.caption(), ""])
