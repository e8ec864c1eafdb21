"""Builds missing code images: in other processes, or here when that cannot be.

What is built is what was asked for: a whole module, or the specialisations a program needs (the
requests of image.py). numba costs a process 0.3 s and 140 MB, so the process that runs a model does
not import it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from . import bitcode, cache, image, target

if TYPE_CHECKING:
    from .compiler import Compiled
    from .linker import Flat

Orders: TypeAlias = "dict[str, list[str] | None]"
"""module -> the requests within it, None for all of it"""
Progress: TypeAlias = "Callable[[int, int, Sequence[str]], object]"
"""Called with (done, total, modules still missing)."""
Linked: TypeAlias = "tuple[Flat, image.Kernels, dict[str, str]]"
"""flat image, kernels, symbols by key"""

try:
    import fcntl
except ImportError:  # no lock then: at worst the same image is built twice
    fcntl = None

PROCESSES = 2  # that build at a time
_PATIENCE = 1.0  # seconds before the first word of progress
_MANY = 1_000_000  # objects that compiling may leave behind, with some 250 MB
_warned: list[str] = []
_announced: list[_Line] = []


class _Line:
    """A line on the standard error that says what is being waited for, after a second.

    One for a process, where no terminal can overwrite it.
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._reported: int | None = None

    def __call__(self, done: int, total: int, missing: Sequence[str]) -> None:
        if time.monotonic() - self._start < _PATIENCE or self._reported == done:
            return
        if not _announced or sys.stderr.isatty():
            _announced.append(self)
            end = "\n" if not missing or not sys.stderr.isatty() else "\r"
            words = f"flatlite: compiling kernels for this processor, once: {done} of {total}"
            print(words, end=end, file=sys.stderr, flush=True)
        self._reported = done


def ensure(requests: Sequence[str], progress: Progress | None = None) -> None:
    """Makes the code for `requests` available, building what is missing.

    `progress(done, total, modules still missing)` is called now and then; by default a line appears
    on the standard error once it takes longer than a second.
    Raises KernelError when a kernel cannot be compiled, RuntimeError when no code can run here.
    """
    image.search_again(requests)
    orders = _by_module(image.missing(requests))
    if not orders:
        return
    folder, reason = _writable_folder()
    if _may_start_processes():
        if folder is not None:
            _build_elsewhere(orders, folder, progress or _Line())
        elif target.supports_images():
            _warn_once(reason)
            _build_in_passing(orders, progress or _Line())
    image.search_again(requests)
    for module, selected in _by_module(image.missing(requests)).items():
        image.provide(module, _build_here(module, selected, folder, reason))


def _by_module(requests: Iterable[str]) -> Orders:
    """What is selected of each module: a list of requests within it, or None for all of it."""
    orders: Orders = {}
    for request in requests:
        module, _, selected = request.partition(".")
        if not selected:
            orders[module] = None
        elif (order := orders.setdefault(module, [])) is not None:
            order.append(selected)
    return orders


def build_all(progress: Progress | None = None) -> None:
    """Builds every image there is not yet; `progress` as for `ensure`.

    Raises RuntimeError when there is no folder to keep them in.
    """
    folder, reason = _writable_folder()
    if folder is None and target.supports_images() and image.missing(cache.modules()):
        raise RuntimeError(
            f"compiled kernels cannot be kept: {reason};"
            " name a folder that can be written in FLATLITE_CACHE"
        )
    ensure(cache.modules(), progress)


def main(arguments: Iterable[str] | None = None) -> int:
    """The command: builds what is asked for (all modules by default), a line for each module done.

    After `--package` it builds modules for the wheel: into the package, for each shipped target.
    After `--bitcode` it writes the package's LLVM code of those that it has of other sources.
    """
    names = sys.argv[1:] if arguments is None else list(arguments)
    option = names.pop(0) if names[:1] in (["--package"], ["--bitcode"]) else ""
    orders = _by_module(names or cache.modules())
    unknown = sorted(set(orders) - set(cache.modules()))
    if unknown:
        known = ", ".join(cache.modules())
        print(f"no kernel module '{unknown[0]}'; there are {known}", file=sys.stderr)
        return 2
    compile_unoptimised()
    if option == "--bitcode":
        write_bitcode(orders, print_line)
        return 0
    if option:
        for module in orders:
            write_packaged(cache.PACKAGED, [module])
            print(module, flush=True)
        return 0
    _build_orders(orders, print_line)
    return 0


def print_line(module: str) -> None:
    """Says that a module's image is built."""
    print(module, flush=True)


def compile_unoptimised() -> None:
    """Leaves optimising to compiler.py, which does it once and for all kernels together.

    To be called before numba is imported.
    """
    os.environ.update(NUMBA_OPT="0", NUMBA_DISABLE_INTEL_SVML="1")


def build_here(requests: Iterable[str]) -> None:
    """Builds what is missing of `requests` into the cache folder."""
    _build_orders(_by_module(requests), lambda module: None)


def _build_orders(orders: Orders, built: Callable[[str], object]) -> None:
    folder = cache.folder(create=True)
    assert folder is not None  # it was made, or refused with an error
    while orders:
        # First what nobody else is building, then wait for the others.
        others = {
            m: o for m, o in orders.items() if not _build_into(folder, m, o, built, wait=False)
        }
        if others == orders:
            _build_into(folder, *others.popitem(), built, wait=True)
        orders = others


def compile_flat(
    module: str, aim: target.Target = target.HOST, selected: Iterable[str] | None = None
) -> Linked:
    """The linked code of a kernel module: (flat image, kernels, symbols). Imports numba."""
    from . import compiler

    return link(compiler.compile_module(module, aim, selected))


def link(compiled: Compiled) -> Linked:
    """The linked code of what the compiler gave: (flat image, kernels, symbols)."""
    from . import compiler, linker

    data = compiled.machine.emit_object(compiled.module)
    try:
        flat = linker.link(data, compiled.symbols.values())
    except linker.LinkError as error:
        keys = {symbol: key for key, symbol in compiled.symbols.items()}
        raise compiler.KernelError(
            f"{compiled.label}.{keys.get(error.where, '?')} {error}"
        ) from None
    return flat, compiled.kernels, compiled.symbols


def write_packaged(
    folder: str,
    modules: Iterable[str] | None = None,
    aims: Sequence[target.Target] = target.SHIPPED,
) -> None:
    """Writes the images a wheel ships to `folder`: by default all modules, for all targets.

    What is there already stays; images of the same modules made from older sources go.
    """
    from ...schema import files

    os.makedirs(folder, exist_ok=True)
    for module in cache.modules() if modules is None else modules:
        shipped = [aim for aim in aims if aim.modules is None or module in aim.modules]
        selected = {cache.packaged_name(module, aim): aim for aim in shipped}
        known = {f"{module}-{aim.name}" for aim in aims}
        for name in os.listdir(folder):
            if name.rpartition("-")[0] in known and selected.pop(name, None) is None:
                os.unlink(os.path.join(folder, name))
        for name, aim in selected.items():
            path = os.path.join(folder, name)
            files.write_atomic(path, image.pack(*compile_flat(module, aim)))


def write_bitcode(modules: Iterable[str], written: Callable[[str], object]) -> None:
    """Writes the LLVM code of modules into the package, where it is not of the present sources.

    That of modules which are no more goes.
    """
    from . import compiler

    for module in modules:
        if not bitcode.is_current(module):
            bitcode.write(module, compiler.lower_module(module), compiler.VERSION)
            written(module)
    for module in bitcode.modules():
        if module not in cache.modules():
            os.unlink(bitcode.path_of(module))


def _writable_folder() -> tuple[str | None, str]:
    """The user's cache folder, or None and the reason."""
    if not target.supports_images():
        return None, "code images need x86-64 Linux"
    try:
        folder = cache.folder(create=True)
    except OSError as error:
        return None, f"{error.strerror}: {error.filename}"
    if folder is None or not os.access(folder, os.W_OK | os.X_OK):
        return None, f"{folder} cannot be written"
    return folder, ""


def _may_start_processes() -> bool:
    may = bool(sys.executable) and not getattr(sys, "frozen", False)
    return may and "FLATLITE_BUILDING" not in os.environ


def _build_elsewhere(orders: Orders, folder: str, progress: Progress) -> None:
    """Lets other processes build; whatever they could not is simply still missing after."""
    from . import worker

    names = {m: os.path.join(folder, cache.cached_name(m, o)) for m, o in orders.items()}

    def look() -> list[str]:
        missing = [m for m, path in names.items() if not os.path.exists(path)]
        progress(len(names) - len(missing), len(names), missing)
        return missing

    ended_by = 0
    look()
    with contextlib.suppress(OSError):  # no process can be started here
        ended_by = worker.build(_partitioned(orders), folder, look)
    missing = look()
    if ended_by and missing:
        raise RuntimeError(
            f"compiling the kernels {', '.join(missing)} was ended by signal {ended_by};"
            f" run `python -m flatlite.engine.build {missing[0]}` to see why"
        )


def _partitioned(orders: Orders) -> list[list[str]]:
    """The requests for each process: all of them, begun from either end."""
    largest = sorted(orders, key=lambda m: -os.path.getsize(f"{cache.ENGINE}/{cache.path_of(m)}"))
    return [
        [f"{m}.{selected}" if selected else m for m in modules for selected in orders[m] or [""]]
        for modules in [largest, largest[::-1]][: min(PROCESSES, len(orders))]
    ]


def _build_in_passing(orders: Orders, progress: Progress) -> None:
    """Lets other processes build for this one alone, where nothing can be kept."""
    try:
        folder = tempfile.mkdtemp(prefix="flatlite-")
    except OSError:
        return
    try:
        _build_elsewhere(orders, folder, progress)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".image"):
                with contextlib.suppress(OSError, image.ImageError):
                    path = os.path.join(folder, name)
                    built = image.read(path)
                    built.files = {}  # which are gone in a moment
                    image.provide(name.split("-")[0], built)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _build_into(
    folder: str,
    module: str,
    selected: Sequence[str] | None,
    built: Callable[[str], object],
    wait: bool,
) -> bool:
    """Builds what is missing of one module; False when another process is at it and not to wait."""
    from ...schema import files

    with _locked(os.path.join(folder, f"{module}.lock"), wait) as is_locked:
        if not is_locked:
            return False
        requests = [module] if selected is None else [f"{module}.{w}" for w in selected]
        image.search_again(requests)
        if image.missing(requests):
            _remove_damaged(module)
            path = os.path.join(folder, cache.cached_name(module, selected))
            files.write_atomic(path, image.pack(*compile_flat(module, selected=selected)))
            cache.prune(module, complete=selected is None)
            built(module)
            if gc.get_count()[0] > _MANY:
                gc.collect()  # which is switched off in a process that does nothing but build
    return True


def _remove_damaged(module: str) -> None:
    """Removes images that cannot be read; nobody is building them while we hold the lock."""
    for path in cache.cached(module):
        if not image.is_sound(path):
            os.unlink(path)


@contextlib.contextmanager
def _locked(path: str, wait: bool) -> Generator[bool, None, None]:
    if fcntl is None:
        yield True
        return
    with open(path, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


def _build_here(
    module: str, selected: Sequence[str] | None, folder: str | None, reason: str
) -> image.Image:
    """Compiles for a module in this process; into the cache folder if there is one."""
    if folder is None:
        _warn_once(reason)
    if not target.supports_images():
        return _just_in_time(module, selected)
    flat, kernels, symbols = compile_flat(module, selected=selected)
    if folder is not None:
        from ...schema import files

        try:
            path = os.path.join(folder, cache.cached_name(module, selected))
            files.write_atomic(path, image.pack(flat, kernels, symbols))
            return image.read(path)
        except OSError as error:
            _warn_once(str(error))
    return image.in_memory(flat, kernels, symbols)


def _warn_once(reason: str) -> None:
    if not _warned:
        _warned.append(reason)
        warnings.warn(
            f"kernels are compiled anew by each process, which takes seconds: {reason};"
            " name a folder that can be written in FLATLITE_CACHE",
            RuntimeWarning,
            stacklevel=2,
        )


def _just_in_time(module: str, selected: Sequence[str] | None) -> image.Image:
    """What `_build_here` gives on systems images are not made for."""
    from . import compiler

    return just_in_time(compiler.compile_module(module, selected=selected))


def just_in_time(compiled: Compiled) -> image.Image:
    """The image of compiled kernels in the memory of LLVM's own compiler."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(compiled.module, compiled.machine)
    engine.finalize_object()
    addresses = {k: engine.get_function_address(s) for k, s in compiled.symbols.items()}
    return image.Image(compiled.kernels, addresses, engine)
