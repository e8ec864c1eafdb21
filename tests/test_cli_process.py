"""The command line as a process: usage, pipes, Ctrl-C, progress."""

import json
import os
import pty
import subprocess
import sys
import threading

import pytest

import flatlite.cli
from flatlite.converter.api.progress import Progress
from flatlite.engine.build import cache, image, target
from flatlite.tools.terminal import MAX_LINES, error_text

LENET = "C/lenet_k3"
MODULE = [sys.executable, "-m", "flatlite"]


def test_warmup(cli):
    status, out, err = cli("warmup", "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert "launch" in result["modules"]
    assert set(result["compiled"]) <= set(result["modules"])


@pytest.mark.skipif(not target.supports_images(), reason="nothing is kept on such systems")
def test_warmup_needs_a_folder(cli, monkeypatch):
    monkeypatch.setenv("FLATLITE_CACHE", "/dev/null/cache")
    monkeypatch.setattr(cache, "PACKAGED", "/dev/null/images")
    monkeypatch.setattr(image, "_images", {})
    status, out, err = cli("warmup")
    assert (status, out) == (1, "")
    assert err.startswith("flatlite: error: compiled kernels cannot be kept")


def test_usage_errors_exit_with_2(cli):
    assert cli("benchmark", "x", "--runs", "0")[0] == 2
    assert cli("frobnicate")[0] == 2
    assert cli()[0] == 2
    assert cli("convert", "x")[0] == 2


def test_installed_command():
    done = subprocess.run([*MODULE, "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("flatlite ")


def test_a_closed_pipe_is_no_error(lenet):
    command = [*MODULE, "inspect", str(lenet)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == flatlite.cli.BROKEN_PIPE


def test_an_interrupt_ends_with_130(lenet):
    """Ctrl-C after half a second of work, however long that takes on a busy machine."""
    code = (
        "import os, signal, sys; from flatlite import cli\n"
        "signal.signal(signal.SIGPROF, lambda *_: os.kill(os.getpid(), signal.SIGINT))\n"
        "signal.setitimer(signal.ITIMER_PROF, 0.5)\n"
        f"sys.exit(cli.main(['benchmark', {str(lenet)!r}, '--runs', '100000000']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300)
    assert done.returncode == flatlite.cli.INTERRUPTED
    assert (done.stdout, done.stderr) == (b"", b"flatlite: interrupted\n")


def test_plain_text_where_the_terminal_has_no_lines(lenet):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*MODULE, "inspect", str(lenet)], capture_output=True, env=environment)
    assert done.returncode == 0
    assert done.stdout.isascii()


def shown(seconds, **options):
    """What a progress bar of so many seconds writes to a terminal."""
    ours, theirs = pty.openpty()
    code = (
        "import sys, time; from flatlite.converter.api import progress; progress.PATIENCE = 0.2\n"
        f"with progress.Progress('working', **{options!r}) as bar:\n"
        f"    bar.advance(); time.sleep({seconds})"
    )
    collected = []

    def read():
        try:
            while part := os.read(ours, 4096):
                collected.append(part)
        except OSError:
            pass  # how a terminal says that it was closed

    process = subprocess.Popen([sys.executable, "-c", code], stderr=theirs)
    os.close(theirs)
    reader = threading.Thread(target=read)
    reader.start()
    assert process.wait(30) == 0
    reader.join(30)
    os.close(ours)
    return b"".join(collected)


def test_progress_is_shown_when_it_takes_long():
    assert b"working" in shown(1.5, total=3)
    assert shown(0, total=3) == b""
    assert shown(0.6, quiet=True) == b""


def test_progress_is_silent_without_a_terminal(capsys):
    with Progress("working", total=2) as bar:
        bar.advance()
    assert capsys.readouterr() == ("", "")


def test_error_texts_are_short_and_printable():
    assert error_text(OSError(2, "No such file", "x")) == "'x': No such file"
    assert error_text(MemoryError("8 GiB")) == "out of memory: 8 GiB"
    assert error_text(ValueError("a\x1b[31mb\udcff")) == "a\ufffd[31mb\ufffd"
    long = error_text(ValueError("\n".join(str(i) for i in range(40))))
    assert len(long.splitlines()) == MAX_LINES
    assert long.endswith("... 26 more lines")
    assert len(error_text(ValueError("x" * 10**6))) < 1100
