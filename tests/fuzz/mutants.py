"""Model files changed at random: an answer or one clear error, never a crash or a wait.

ran                    the file is still a model: answers, with inputs as they are and resized
refused                ModelError, at load
fails                  another foreseen error, of an operator or an argument
too long               a loop without end, stopped by a signal within its time
no file                the writer could not write such a model
dies                   the process ended, or gave no answer in time
wrong error            an exception that nobody foresees, or a message without an end
accepted               answers of a file that LiteRT's verifier refuses, or broken on purpose
stale                  a cached plan gives something else than the file it comes from
the last four: failures

A job runs in a child with every tensor beside a page that must not be touched (hostile.py). Every
fourth file is opened by its path, too, once to fill a plan cache and once to read it.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from cases import Case, all_cases
from cases import content as content_of
from declared import examples
from stablehlo_programs import file_of, programs

from flatlite.schema.errors import ModelError
from flatlite.schema.flatbuffer import build, parse

from .children import Child, Died
from .mutations import BREAKING, CHANGES, pick
from .verdict import Verdict

__all__ = ["PASSES", "cases", "check", "close", "line", "script", "smaller"]

SHARE = 400  # cases of it in `make test`
LEAST = ("ran", 0.1)
PASSES = {"ran", "refused", "fails", "too long", "no file"}
LARGEST = 60_000  # bytes of a file that is changed
HANGS = 10.0  # seconds
PLANNED = 4  # one of so many is run with a plan cache, too
MEMORY = 3 << 30
ERRORS = (
    *("ValueError", "RuntimeError", "PlanError", "MemoryError", "MemoryLimitError", "NodeError"),
    "Fault",
)
FOLDERS = ("../shared/corpus", "tests/corpus")
ROOT = Path(__file__).parents[2]
WORDS = (0, 1, 2, 4, 8, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF)

Outcome = str | list[bytes]
"""The error that a run ended with, or the bytes of its outputs."""


@dataclass(frozen=True)
class Mutant:
    """A changed file.

    Attributes:
        source: the file or case it comes from.
        words: what was changed.
        content: its bytes; None where it could not be written.
        broken: whether no reader may accept it.
        seed: of the inputs.
    """

    source: str
    words: tuple[str, ...]
    content: bytes | None
    broken: bool
    seed: int


@cache
def sources() -> dict[str, Callable[[], bytes]]:
    """The files of the corpus and of the operators' cases, by name."""
    folder = Path(os.environ.get("FLATLITE_CORPUS", ""))
    if not os.environ.get("FLATLITE_CORPUS"):
        folder = next(path for path in (ROOT / f for f in FOLDERS) if path.is_dir())
    files = [p for p in sorted(folder.rglob("*.tflite")) if p.stat().st_size < LARGEST]
    readers: dict[str, Callable[[], bytes]] = {str(p): p.read_bytes for p in files}
    for case in all_cases():
        if isinstance(case, Case):
            readers[f"case {case.name}"] = lambda case=case: content_of(case)
    for i, content in enumerate(examples()):
        readers[f"declared {i}"] = lambda content=content: content
    for name in programs():
        readers[f"program {name}"] = lambda name=name: file_of(name)
    return readers


def cases(seed: int) -> Iterator[Mutant]:
    """Endless mutants, each from its own generator."""
    return (draw(np.random.default_rng((seed, number)), number) for number in count())


def draw(rng: np.random.Generator, number: int) -> Mutant:
    """A file with one to three changes of its bytes, or of what they say."""
    name = pick(rng, tuple(sources()))
    content, n_changes = sources()[name](), int(rng.integers(1, 4))
    if rng.integers(5) < 2:
        change = pick(rng, (_any_bytes, _offsets, _offsets, _cut))
        mutated = bytearray(content)
        words = [change(mutated, rng) for _ in range(n_changes)]
        return Mutant(name, tuple(words), bytes(mutated), False, number)
    model, broken = parse(content), rng.integers(8) == 0
    words = []
    for change in [pick(rng, CHANGES) for _ in range(0 if broken else n_changes)]:
        if text := change(model, rng):
            words.append(f"{change.__name__}: {text}")
    if broken:
        change = pick(rng, BREAKING)
        text = change(model, rng)
        broken = text is not None
        words.append(f"{change.__name__}: {text}")
    try:
        written = bytes(build(model))
    except (ModelError, ValueError, TypeError, OverflowError, UnicodeError):
        written = None
    return Mutant(name, tuple(words), written, bool(broken), number)


def _any_bytes(content: bytearray, rng: np.random.Generator) -> str:
    """Some bytes anywhere."""
    at = int(rng.integers(len(content)))
    _write(content, at, int(pick(rng, (1, 1, 2, 4, 8))), rng)
    return f"bytes at {at}"


def _offsets(content: bytearray, rng: np.random.Generator) -> str:
    """An offset, the entry of a vtable, or a vector's length."""
    if len(content) < 16:
        return _any_bytes(content, rng)
    words = np.frombuffer(bytes(content[: len(content) // 4 * 4]), np.uint32).astype(np.int64)
    positions = np.arange(len(words)) * 4
    offsets = positions[(words > 3) & (positions + words < len(content) - 4)]
    at = int(pick(rng, offsets)) if len(offsets) else 0
    target = at + int.from_bytes(content[at : at + 4], "little")
    kind = rng.integers(3)
    if kind == 0:
        _write(content, at, 4, rng)
        return f"offset at {at}"
    if kind == 1:
        _write(content, target, 4, rng)
        return f"length or vtable's place at {target}"
    vtable = target - int.from_bytes(content[target : target + 4], "little", signed=True)
    if 0 <= vtable < len(content) - 8:
        entry = vtable + 2 * int(rng.integers(0, 8))
        _write(content, entry, 2, rng)
        return f"vtable entry at {entry}"
    return _any_bytes(content, rng)


def _cut(content: bytearray, rng: np.random.Generator) -> str:
    """Bytes left out, put in or doubled."""
    at, n = int(rng.integers(len(content))), int(pick(rng, (1, 4, 8, 64)))
    kind = rng.integers(3)
    if kind == 0:
        del content[at:]
        content += bytes(max(0, 8 - len(content)))
        return f"cut at {at}"
    if kind == 1:
        content[at:at] = content[at : at + n]
        return f"{n} bytes doubled at {at}"
    del content[at : at + n]
    content += bytes(max(0, 8 - len(content)))
    return f"{n} bytes left out at {at}"


def _write(content: bytearray, at: int, width: int, rng: np.random.Generator) -> None:
    at = max(min(at, len(content) - width), 0)
    before = int.from_bytes(content[at : at + width], "little")
    wild = int.from_bytes(rng.bytes(width), "little")
    near = before + int(rng.integers(-8, 9))
    value = pick(rng, (pick(rng, WORDS), near, wild, before ^ (1 << int(rng.integers(8 * width)))))
    content[at : at + width] = (value % 256**width).to_bytes(width, "little")


def runs(job: tuple[bytes, int, str]) -> str:
    """In a child: what became of a file; a folder, where there is one, is for plans."""
    import hostile

    _prepare()
    try:
        return _ran(*job)
    except hostile.TooLong:  # the signal came while another error was told
        return "too long"


def _ran(content: bytes, seed: int, folder: str) -> str:
    import hostile

    signal.setitimer(signal.ITIMER_REAL, hostile.SECONDS)
    try:
        _look(content)
        if folder and (text := _stale(content, seed, folder)):
            return f"stale: {text}"
        hostile.run(content, np.random.default_rng([seed, 1]))
        return "ran"
    except hostile.TooLong:
        return "too long"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _look(content: bytes) -> None:
    """Everything that is said of a model without running it."""
    from flatlite.lite import Interpreter
    from flatlite.tools.analyzer import analysis

    interpreter = Interpreter(model_content=content)
    for subgraph in range(interpreter.num_subgraphs()):
        interpreter.get_tensor_details(subgraph)
    interpreter._get_ops_details()
    interpreter.get_signature_list()
    repr(interpreter)
    analysis(content, gpu_compatibility=True)


def _stale(content: bytes, seed: int, folder: str) -> str:
    """How a file differs from itself when its plan comes from the cache; "" where it does not."""
    from flatlite.interpreter.plan import pending_plans

    os.environ["FLATLITE_PLANS"] = folder
    path = Path(folder, "model.tflite")
    path.unlink(missing_ok=True)  # an interpreter may still map the one before
    path.write_bytes(content)
    fresh = _outcome(seed, model_content=content)
    first = _outcome(seed, model_path=path)
    pending_plans.store_all()
    second = _outcome(seed, model_path=path)
    return difference(fresh, first, second)


def difference(fresh: Outcome, first: Outcome, second: Outcome) -> str:
    """How a run with a cached plan differs from two without one; "" where that proves nothing."""
    if first == second or fresh != first:  # an operator of random numbers repeats nothing
        return ""
    if "MemoryError" in (first, second) or all(map(_is_of_memory, (first, second))):
        return ""  # how much memory there is changes between the runs
    return f"{first!r:.200} without a cached plan, {second!r:.200} with it"


def _is_of_memory(outcome: Outcome) -> bool:
    return isinstance(outcome, str) and "of the memory left" in outcome


def _outcome(seed: int, **model: Any) -> Outcome:
    """The bytes of the outputs, or the error, of a file that is run once."""
    import hostile

    from flatlite.lite import Interpreter

    try:
        interpreter = Interpreter(**model)
        hostile.use(interpreter, np.random.default_rng([seed, 2]))
        ends = interpreter.get_output_details()
        return [np.asarray(interpreter.get_tensor(end["index"])).tobytes() for end in ends]
    except hostile.TooLong:
        raise
    except MemoryError:  # whose text says how much there is left
        return "MemoryError"
    except hostile.ALLOWED as error:
        return f"{type(error).__name__}: {error}"


@cache
def _prepare() -> None:
    import hostile

    from flatlite.engine.run import disk_cache

    def ring(number: int, frame: Any) -> None:
        raise hostile.TooLong("time is up")

    signal.signal(signal.SIGALRM, ring)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    np.seterr(all="ignore")
    disk_cache.SETTLED = 0  # plans of new files are stored
    hostile.guard_everything("end")


def verifies(content: bytes) -> bool:
    """In a child: whether LiteRT's verifier, which runs nothing, accepts a file."""
    from ai_edge_litert import _pywrap_analyzer_wrapper as wrapper

    return not wrapper.ModelAnalyzer(content, False, False).startswith(
        ("The model is not a valid", "Failed to mmap")
    )


@cache
def plan_folder() -> TemporaryDirectory[str]:
    """Where a file of this process and its plans lie."""
    return TemporaryDirectory(prefix="flatlite-mutants-")


OURS, VERIFIER = Child(__name__, "runs"), Child(__name__, "verifies")


def check(case: Mutant) -> Verdict:
    """Runs a mutant in a child; what gave answers must be a model to LiteRT's verifier, too."""
    if case.content is None:
        return Verdict("no file")
    folder = plan_folder().name if case.seed % PLANNED == 0 else ""
    outcome = OURS.run((case.content, case.seed, folder), HANGS)
    if isinstance(outcome, Died):
        return Verdict("dies", outcome.text)
    name, _, text = outcome.partition(": ")
    if name == "ModelError":
        return Verdict("refused", text)
    if name == "stale":
        return Verdict(name, text)
    if case.broken and outcome != "too long":  # on a busy machine
        return Verdict("accepted", f"{outcome}: {case.words}")
    if name in ERRORS:
        return Verdict("fails", outcome)
    if outcome == "too long":
        return Verdict("too long")
    if outcome != "ran":
        return Verdict("wrong error", outcome)
    if VERIFIER.run(case.content) is False:
        return Verdict("accepted", "LiteRT's verifier refuses the file")
    return Verdict("ran")


def smaller(case: Mutant) -> Iterator[Mutant]:
    """None: a mutant is what its source is, but for what its words say."""
    yield from ()


def line(case: Mutant) -> str:
    """The source and what was changed."""
    return f"{case.source}: {'; '.join(case.words)}"


def script(case: Mutant) -> str:
    """Python text that runs the file."""
    from base64 import b85encode
    from zlib import compress

    content = b85encode(compress(case.content or b"", 9)).decode()
    return (
        "from base64 import b85decode\nfrom zlib import decompress\nimport sys\n"
        "sys.path.insert(0, 'tests/support')\nimport numpy as np\nfrom hostile import run\n"
        f"content = decompress(b85decode({content!r}))\n"
        f"run(content, np.random.default_rng([{case.seed}, 1]))"
    )


def close() -> None:
    """Ends the children."""
    with suppress(OSError):
        OURS.close()
        VERIFIER.close()
    plan_folder().cleanup()
    plan_folder.cache_clear()
