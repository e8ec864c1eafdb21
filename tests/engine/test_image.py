import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flatlite.engine.build import cache, checked_images, compiler, driver, image, target
from flatlite.engine.build.kernel import KERNELS
from flatlite.engine.run import loader

pytestmark = pytest.mark.skipif(
    not target.supports_images(), reason="code images are made for x86-64 Linux"
)

RUN = """
import json, sys, warnings
import numpy as np
warnings.simplefilter("error")
from flatlite.engine.build import cache, driver, image, target
from flatlite.engine.run import loader
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program

def run(dtype=np.float32):
    program, x, out = Program(), bound((1000,), dtype), arena((1000,), dtype)
    program.call("copy.copy", x, out, split=1000)
    program.keep(out)
    values = np.arange(1000).astype(dtype)
    program.close({x: values})
    program.run()
    assert (program.array(out) == values).all()
"""
IMPORTED = 'print("numba" in sys.modules or "llvmlite" in sys.modules)'


def start(code, folder, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", RUN + code],
        env={**os.environ, "FLATLITE_CACHE": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out.strip()


def script(code, folder, **environment):
    """What a fresh process prints that runs `code` with its images in `folder`."""
    return finish(start(code, folder, **environment))


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A cache folder with the images of `copy` and `launch`."""
    folder = tmp_path_factory.mktemp("built") / "cache"
    done = subprocess.run(
        [sys.executable, "-m", "flatlite.engine.build", "copy", "launch"],
        env={**os.environ, "FLATLITE_CACHE": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["copy", "launch"]
    return folder


@pytest.fixture
def folder(built, tmp_path):
    """A copy of it that a test may spoil."""
    return Path(shutil.copytree(built, tmp_path / "cache"))


def images(folder):
    return sorted(path.name.split("-")[0] for path in folder.glob("*.image"))


def test_folder_and_files_belong_to_the_user_alone(built):
    assert stat.S_IMODE(built.stat().st_mode) == 0o700
    assert images(built) == ["copy", "launch"]
    assert not list(built.glob("*.tmp"))


def test_built_images_run_without_the_compiler(built):
    assert script("run();" + IMPORTED, built) == "False"


def test_what_is_missing_is_built_elsewhere(tmp_path):
    code = """
calls = []
driver.ensure(["copy", "launch"], progress=lambda *call: calls.append(call))
print(json.dumps([calls[0], calls[-1]]))
run()
"""
    first, last = json.loads(script(code, tmp_path / "deep" / "cache"))
    assert first == [0, 2, ["copy", "launch"]]
    assert last == [2, 2, []]


def test_concurrent_first_starts_build_once(tmp_path):
    folder = tmp_path / "cache"
    for process in [start("run();" + IMPORTED, folder) for _ in range(2)]:
        assert finish(process) == "False"
    assert images(folder) == ["copy", "launch"]
    assert not list(folder.glob("*.tmp"))


@pytest.mark.parametrize("at", [0, 9, 20, 40, 70, 4096, -1])
def test_damaged_images_are_refused(folder, at):
    path = next(folder.glob("copy-*.image"))
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(image.ImageError, match=r"copy-.*image is"):
        image.read(path)


def test_a_sound_image_is_read_whole_once(folder, monkeypatch):
    """By any process, until it is another file, or one that was changed in place."""
    monkeypatch.setenv("FLATLITE_CACHE", str(folder))
    path, check, read = str(next(folder.glob("copy-*.image"))), image._check, []
    monkeypatch.setattr(image, "_check", lambda path, data: read.append(path) or check(path, data))
    (folder / checked_images.NAME).write_bytes(b"1 2 3\n\xff 2 3 4 5\n\n1 2 3 \xc2\xb2 x\n1 2 3 x")

    def times_read():
        read.clear()
        checked_images._checked_images.cache_clear()  # as another process
        image.read(path)
        return len(read)

    assert times_read() == times_read() == 1  # it was written just now
    monkeypatch.setattr(checked_images, "SETTLED", 0)
    assert [times_read() for _ in range(3)] == [1, 0, 0]
    data = bytearray(Path(path).read_bytes())
    data[-1] ^= 1
    Path(path).write_bytes(data)
    with pytest.raises(image.ImageError):
        times_read()
    monkeypatch.setattr(checked_images, "_MOST_BYTES", 1)
    data[-1] ^= 1
    Path(path).write_bytes(data)
    assert [times_read() for _ in range(2)] == [1, 0]
    assert len((folder / checked_images.NAME).read_bytes().split()) == 5


@pytest.mark.parametrize("size", [0, 10, 64, 4096])
def test_truncated_images_are_refused(folder, size):
    path = next(folder.glob("copy-*.image"))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(image.ImageError):
        image.read(path)


def test_a_damaged_image_is_replaced(folder):
    path = next(folder.glob("copy-*.image"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert script("run();" + IMPORTED, folder) == "False"
    (built,) = folder.glob("copy-*.image")  # of what the program needs, not of all of the module
    assert built != path and image.is_sound(built)
    built.write_bytes(built.read_bytes()[:-1] + b"x")
    assert script("run();" + IMPORTED, folder) == "False"
    assert image.is_sound(built)


def test_sound_images_are_not_removed(folder, monkeypatch):
    monkeypatch.setenv("FLATLITE_CACHE", str(folder))
    path = next(folder.glob("copy-*.image"))
    driver._remove_damaged("copy")
    assert image.is_sound(path)
    path.write_bytes(path.read_bytes()[:-1])
    driver._remove_damaged("launch")
    assert path.exists()
    driver._remove_damaged("copy")
    assert not path.exists()


def compiled(folder, module="copy"):
    """The keys of the code in each image of a module, the images in the order they were built."""
    paths = sorted(folder.glob(f"{module}-*.image"), key=lambda path: path.stat().st_mtime_ns)
    return [sorted(image._check(path, path.read_bytes())[0]["exports"]) for path in paths]


def test_programs_have_compiled_what_they_need(tmp_path):
    folder = tmp_path / "cache"
    assert script("run(); run(np.int32);" + IMPORTED, folder) == "False"
    assert compiled(folder) == [["copy[uint32]"]]
    assert script("run(np.int8); run(); run(bool);" + IMPORTED, folder) == "False"
    assert compiled(folder) == [["copy[uint32]"], ["copy[uint8]"]]
    built = {path: path.stat().st_mtime_ns for path in folder.glob("*.image")}
    assert script("run(np.int8); run();" + IMPORTED, folder) == "False"
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*.image")} == built


def test_a_whole_module_replaces_its_parts(tmp_path):
    folder = tmp_path / "cache"
    script("run(); run(np.int8)", folder)
    script("driver.ensure(['copy'])", folder)
    (keys,) = compiled(folder)
    assert len(keys) > 2 and {"copy[uint8]", "copy[uint32]"} < {*keys}
    assert script("run();" + IMPORTED, folder) == "False"


def test_concurrent_starts_build_what_each_needs(tmp_path):
    folder = tmp_path / "cache"
    kinds = "np.int8", "np.int16", "np.int8"
    for process in [start(f"run({kind});" + IMPORTED, folder) for kind in kinds]:
        assert finish(process) == "False"
    assert sorted(compiled(folder)) == [["copy[uint16]"], ["copy[uint8]"]]
    assert not list(folder.glob("*.tmp"))


STARTS = """
import os, subprocess
starts, start = [], subprocess.Popen
def count(*arguments, **options):
    starts.append(start(*arguments, **options))
    return starts[-1]
subprocess.Popen = count
"""


def test_one_worker_compiles_for_a_process(tmp_path):
    """Whatever is asked for, and however often."""
    code = "run(); run(np.int8); driver.ensure(['layout', 'copy']); print(len(starts));"
    assert script(STARTS + code + IMPORTED, tmp_path / "cache") == "1\nFalse"
    code = "warnings.simplefilter('ignore'); run(); run(np.int8); print(len(starts));"
    assert script(STARTS + code + IMPORTED, "/dev/null/cache") == "1\nFalse"


def test_a_worker_that_has_left_is_replaced(tmp_path):
    code = "run(); starts[0].kill(); starts[0].wait(); run(np.int8); print(len(starts));"
    assert script(STARTS + code + IMPORTED, tmp_path / "cache") == "2\nFalse"


def test_a_worker_does_not_outlive_its_process(tmp_path):
    """Nor does the fork of a process use its worker or wait for it."""
    code = """
run()
if not (child := os.fork()):
    run(np.int8)
    assert starts[0].returncode == 0 and len(starts) == 2
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0 and starts[0].poll() is None
print(starts[0].pid)
"""
    pid = int(script(STARTS + code, tmp_path / "cache"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_crash_of_the_compiler_is_reported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("""
import os
if "FLATLITE_BUILDING" in os.environ:
    from flatlite.engine.build import linker
    linker.link = lambda *arguments: os.abort()
""")
    code = f"""
sys.path.insert(0, {str(tmp_path)!r})
try:
    driver.ensure(["copy"])
except RuntimeError as error:
    print(error)
"""
    assert script(code, tmp_path / "cache") == (
        "compiling the kernels copy was ended by signal 6;"
        " run `python -m flatlite.engine.build copy` to see why"
    )


def test_a_wrong_call_is_refused_where_nothing_is_compiled(tmp_path):
    code = """
program = Program()
program.call("copy.copy", bound((2,), np.float32), arena((2,), np.int8), split=2)
try:
    program.close()
except ValueError as error:
    print(error)
"""
    want = "copy: 'out' must be uint32 like the arguments before, got uint8"
    assert script(code, tmp_path / "cache") == want


def test_links_are_not_followed(folder):
    path = next(folder.glob("copy-*.image"))
    path.rename(folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        image.read(path)
    assert script("run();" + IMPORTED, folder) == "False"
    assert not path.is_symlink()  # it was built anew


def test_a_folder_open_to_others_is_refused(folder, monkeypatch):
    folder.chmod(0o770)
    monkeypatch.setenv("FLATLITE_CACHE", str(folder))
    message = rf"{folder} is open to others \(mode 770\).*do `chmod 700 {folder}`"
    with pytest.raises(RuntimeError, match=message):
        cache.folder()


def test_a_linked_folder_is_refused(folder, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.setenv("FLATLITE_CACHE", str(tmp_path / "link"))
    with pytest.raises(RuntimeError, match=r"is a symbolic link.*name the folder itself in FLATL"):
        cache.folder(create=True)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_somebody_else_is_refused(folder, monkeypatch):
    os.chown(folder, 12345, -1)
    monkeypatch.setenv("FLATLITE_CACHE", str(folder))
    with pytest.raises(RuntimeError, match=r"belongs to user 12345, not to you \(0\)"):
        cache.folder()


def test_the_folder_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("FLATLITE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() is None
    assert cache.folder(create=True) == str(tmp_path / "flatlite")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder(create=True) == str(tmp_path / ".cache" / "flatlite")
    monkeypatch.setenv("FLATLITE_CACHE", "~/kernels")  # as where no shell has read it
    assert cache.folder(create=True) == str(tmp_path / "kernels")


def test_without_a_home_there_is_no_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("FLATLITE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for a user without a name
    monkeypatch.chdir(tmp_path)
    assert cache.folder() is None
    with pytest.raises(FileNotFoundError, match="there is no home folder"):
        cache.folder(create=True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_out_of_reach_is_as_good_as_none(tmp_path, monkeypatch):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.setenv("FLATLITE_CACHE", str(tmp_path / "loop" / "cache"))
    assert cache.folder() is None
    with pytest.raises(OSError):
        cache.folder(create=True)


def test_a_file_is_no_folder(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("FLATLITE_CACHE", str(tmp_path / "file"))
    with pytest.raises(RuntimeError, match="file is a file; name a folder in FLATLITE_CACHE"):
        cache.folder()


def test_without_processes_kernels_are_compiled_here(tmp_path):
    folder = tmp_path / "cache"
    assert script("sys.executable = ''; run();" + IMPORTED, folder) == "True"
    assert images(folder) == ["copy", "launch"]
    assert script("run();" + IMPORTED, folder) == "False"


@pytest.mark.parametrize(("room", "imported"), [("", "False"), ("/missing", "True")])
def test_without_a_folder_each_process_compiles(tmp_path, room, imported):
    """In a folder for a moment, or in the process where there is no room for one, either."""
    code = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    run(), run(np.int8)
print([str(w.message) for w in caught if w.category is RuntimeWarning][0])
"""
    where = "import tempfile; tempfile.tempdir = " + repr(f"{tmp_path}{room}")
    reported, _, last = script(f"{where}\n{code}{IMPORTED}", "/dev/null/cache").rpartition("\n")
    assert reported.startswith("kernels are compiled anew by each process")
    assert ": /dev/null; name a folder that can be written in FLATLITE_CACHE" in reported
    assert last == imported
    assert list(tmp_path.iterdir()) == []


def test_building_all_needs_a_folder():
    code = """
try:
    driver.build_all()
except RuntimeError as error:
    print(error)
"""
    words = "compiled kernels cannot be kept: File exists: /dev/null; name a folder that can be "
    assert script(code, "/dev/null/cache").startswith(words)


def test_numba_is_asked_for_where_it_is_needed(built, tmp_path):
    """Where it is not installed, packaged images run, and the error says what is missing."""
    packaged = tmp_path / "packaged"
    packaged.mkdir()
    for module in ("copy", "launch"):
        name = cache.packaged_name(module, target.runnable()[0])
        shutil.copy(next(built.glob(f"{module}-*.image")), packaged / name)
    code = """
sys.path[:] = [path for path in sys.path if "site-packages" not in path]
try:
    run()
except RuntimeError as error:
    print(error)
"""
    assert script(code, tmp_path / "cache") == (
        "compiling kernels needs numba; install it with pip"
    )
    assert script(f"cache.PACKAGED = {str(packaged)!r}\n" + code, tmp_path / "cache") == ""


def test_no_page_of_code_is_ever_writable(built):
    # PR_SET_MDWE makes the kernel refuse to turn writable memory into executable memory.
    code = """
import ctypes
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):
    print("unsupported")
    sys.exit()
run()
try:
    loader.map_bytes(bytes(4096), {})
except RuntimeError as error:
    print(error)
"""
    got = script(code, built)
    if got == "unsupported":
        pytest.skip("this kernel has no PR_SET_MDWE")
    assert got.startswith("this system refuses executable memory (")


def test_unknown_outside_functions_refuse_the_image(folder):
    flat, kernels, symbols = driver.compile_flat("launch")
    flat.slots["no_such_function"] = len(flat.slots)
    path = folder / "spoilt.image"
    path.write_bytes(image.pack(flat, kernels, symbols))
    with pytest.raises(image.ImageError, match="have no function 'no_such_function'"):
        image.read(path)


def test_every_way_to_compile_gives_the_same_bytes(testing, folder, run_kernel):
    kernels = next(actual for actual in KERNELS.values() if "spin" in actual).values()
    compiled = compiler.compile_kernels("testing", kernels)
    flat = driver.link(compiled)
    (folder / "testing.image").write_bytes(image.pack(*flat))
    image.provide("testing_file", image.read(str(folder / "testing.image")))
    image.provide("testing_jit", driver.just_in_time(compiled))
    x = np.random.default_rng(0).standard_normal(999).astype(np.float32)
    for name, arguments in [
        ("spin", {"out": ((50,), np.float64), "turns": 1000, "split": 50}),
        ("at_least", {"x": x, "out": (x.shape, x.dtype), "low": 0.25, "split": 999}),
    ]:
        inputs = [arguments.pop("x")] if "x" in arguments else []
        results = [
            run_kernel(f"{module}.{name}", *inputs, **arguments).tobytes()
            for module in ("testing", "testing_file", "testing_jit")
        ]
        assert results[0] == results[1] == results[2]


def test_packaging_builds_what_is_new(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cache, "PACKAGED", str(tmp_path / "images"))
    assert driver.main(["--package", "copy"]) == 0
    built = sorted(os.listdir(cache.PACKAGED))
    assert [name.rpartition("-")[0] for name in built] == ["copy-x86-64-v3", "copy-x86-64-v4-vnni"]
    old = tmp_path / "images" / f"copy-x86-64-v3-{'0' * 24}.image"
    other = tmp_path / "images" / f"copying-x86-64-v3-{'0' * 24}.image"
    for path in (old, other):
        path.touch()
    before = (tmp_path / "images" / built[0]).stat().st_mtime_ns
    assert driver.main(["--package", "copy"]) == 0
    assert not old.exists() and other.exists()
    assert (tmp_path / "images" / built[0]).stat().st_mtime_ns == before
    assert capsys.readouterr().out == "copy\ncopy\n"
    assert driver.main(["--package", "no_such"]) == 2


def test_targets_name_modules_that_are_there():
    assert all(aim.modules is None or aim.modules <= {*cache.modules()} for aim in target.SHIPPED)


def test_packaged_images_come_first(tmp_path):
    if target.find("x86-64-v3") not in target.runnable():
        pytest.skip("this processor is older than x86-64-v3")
    packaged = tmp_path / "packaged"
    packaged.mkdir()
    driver.write_packaged(packaged, ["copy", "launch"], [target.find("x86-64-v3")])
    code = f"cache.PACKAGED = {str(packaged)!r}; run();" + IMPORTED
    assert script(code, tmp_path / "cache") == "False"
    assert not (tmp_path / "cache").exists()


def test_the_command_names_unknown_modules(capsys):
    assert driver.main(["nothing"]) == 2
    assert "no kernel module 'nothing'; there are " in capsys.readouterr().err


def test_code_of_another_processor_is_not_run():
    aims = target.runnable()
    assert [aim.name for aim in aims if not aim.needs <= target.flags()] == []
    with pytest.raises(ValueError, match="unknown target 'vax'; known are host, x86-64-v4-vnni"):
        target.find("vax")


def test_the_loader_leaves_memory_executable_only():
    flat, _, _ = driver.compile_flat("launch")
    base = loader.map_bytes(flat.code, flat.slots)
    with open("/proc/self/maps") as file:
        ranges = [line.split()[:2] for line in file]
    rights = {
        kind
        for span, kind in ranges
        for first, last in [[int(x, 16) for x in span.split("-")]]
        if first <= base < last or first <= base + len(flat.code) < last
    }
    assert rights == {"r-xp", "r--p"}


def test_a_long_wait_is_explained_once(capsys, monkeypatch):
    monkeypatch.setattr(driver, "_announced", [])
    driver._Line()(0, 3, ["a", "b", "c"])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(driver, "_PATIENCE", 0)
    for progress in (driver._Line(), driver._Line()):
        for done in range(4):
            progress(done, 3, ["a", "b", "c"][done:])
    words = "flatlite: compiling kernels for this processor, once: 0 of 3"
    assert capsys.readouterr().err == words + "\n"  # one line where no terminal can overwrite it
