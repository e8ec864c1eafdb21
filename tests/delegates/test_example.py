"""examples/delegate.py and what docs/delegates.md says, run."""

import doctest
import re
import runpy
from pathlib import Path

import pytest
from delegated import corpus_model

import flatlite
from flatlite.delegates.cuda.launches import LAUNCHES

ROOT = Path(flatlite.__file__).parent
EXAMPLE = ROOT / "examples" / "delegate.py"
PAGE = ROOT / "docs" / "delegates.md"


def show_example(path):
    """Runs the example as a program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["delegate.py", str(path)])
        runpy.run_path(str(EXAMPLE), run_name="__main__")


@pytest.fixture
def lenet(tmp_path):
    """The file of a LeNet."""
    path = tmp_path / "lenet.tflite"
    path.write_bytes(corpus_model("C/lenet_tfk/tflite_float"))
    return path


def test_the_example(lenet, capsys):
    show_example(lenet)
    printed = capsys.readouterr().out
    report, difference = printed.split("largest difference: ")
    assert report in PAGE.read_text()
    assert float(difference) < 1e-6


@pytest.mark.filterwarnings("ignore:the converted model was verified only")  # on a loaded machine
def test_the_page(monkeypatch):
    pytest.importorskip("jax", reason="the page uses the xla delegate")
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 8
    assert result.failed == 0


def test_the_page_shows_the_example():
    code = EXAMPLE.read_text()
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        indented = "".join(
            f"    {line}" if line.strip() else line for line in block.splitlines(True)
        )
        assert indented in code


def test_the_table_of_operators_is_complete():
    from importlib.util import find_spec

    matches = re.findall(
        r"^\| ([A-Z0-9_, ]+?)(?:, with .*?)? \| (yes|no) \| (yes|no) \|$",
        PAGE.read_text(),
        re.MULTILINE,
    )
    table = {kind: (xla, cuda) for kinds, xla, cuda in matches for kind in kinds.split(", ")}
    assert {kind for kind, (_, cuda) in table.items() if cuda == "yes"} == set(LAUNCHES.names())
    if find_spec("jax"):
        from flatlite.delegates.xla.lowerings import LOWERINGS

        assert {kind for kind, (xla, _) in table.items() if xla == "yes"} == set(LOWERINGS.names())
