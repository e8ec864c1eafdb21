"""Fixtures of all tests, and the acceptance corpus' own options and summary."""

import os
import sys
from collections import Counter
from pathlib import Path

# BLAS reads it as numpy is imported: the processes of `-n` have all cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # the package fuzz
sys.path.insert(0, str(Path(__file__).with_name("support")))  # litert, recorded ...

from litert import LiteRT

CORPUS = Path(__file__).parent / "corpus"

# Hypothesis draws the same examples in every run; --hypothesis-profile=explore draws others.
UNHURRIED = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("same", derandomize=True, **UNHURRIED)
settings.register_profile("explore", derandomize=False, print_blob=True, **UNHURRIED)
settings.load_profile("same")


def pytest_addoption(parser):
    parser.addoption("--corpus", default=str(CORPUS), help="the folder of recorded cases to run")
    parser.addoption("--without-litert", action="store_true", help="skip what compares with LiteRT")


def pytest_configure(config):
    os.environ["FLATLITE_CORPUS"] = str(Path(config.getoption("--corpus")).resolve())
    os.environ["FLATLITE_PLANS"] = ""  # every test prepares its models itself


@pytest.fixture(scope="session")
def litert(request):
    """LiteRT in a child process: litert.run(content, steps, resolver, signature)."""
    if request.config.getoption("--without-litert"):
        pytest.skip("run without LiteRT, as --without-litert asks")
    oracle = LiteRT()
    yield oracle
    oracle.close()


@pytest.fixture
def session():
    """A session of an empty graph, both default ones."""
    import flatlite.compat.v1 as tf

    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


@pytest.fixture
def control_flow_v1():
    """Graphs are written with Switch, Merge and frames."""
    import flatlite.compat.v1 as tf

    tf.disable_control_flow_v2()
    yield
    tf.enable_control_flow_v2()


@pytest.fixture
def runs_in_litert(litert, monkeypatch):
    """Every file that the test converts runs in LiteRT, too, on the inputs of its verification."""
    from written import Written

    written = Written(monkeypatch)
    yield
    assert not list(written.problems(litert))


@pytest.fixture(scope="session")
def corpus():
    """The folder of recorded cases."""
    return Path(os.environ["FLATLITE_CORPUS"])


def pytest_terminal_summary(terminalreporter):
    """Counts the corpus' cases by kind."""
    counts = Counter()
    for outcome in ("passed", "failed", "xfailed", "xpassed"):
        for report in terminalreporter.stats.get(outcome, []):
            for key, value in getattr(report, "user_properties", ()):
                if key == "corpus" and report.when == "call":
                    counts[value, outcome] += 1
    used = {
        value
        for report in terminalreporter.stats.get("xfailed", [])
        for key, value in getattr(report, "user_properties", ())
        if key == "not_yet"
    }
    kinds = sorted({kind for kind, _ in counts})
    if kinds:
        terminalreporter.section("corpus")
    words = {"passed": "passed", "failed": "failed", "xfailed": "not yet supported"}
    for kind in kinds:
        parts = [f"{counts[kind, o]} {word}" for o, word in words.items() if counts[kind, o]]
        terminalreporter.write_line(f"{kind}: {', '.join(parts)}")
    if kinds:
        listed = (Path(__file__).parent / "not_yet.txt").read_text().splitlines()
        terminalreporter.write_line(f"{len(used)} of {len(listed)} lines of not_yet.txt were met")


@pytest.fixture
def cli(capsys):
    """cli(*arguments) -> (exit status, standard output, standard error)."""

    import flatlite.cli

    def run(*arguments):
        try:
            status = flatlite.cli.main([str(a) for a in arguments])
        except SystemExit as stop:
            status = stop.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def lenet(corpus, tmp_path_factory):
    """LeNet converted from its SavedModel."""
    import flatlite.cli

    path = tmp_path_factory.mktemp("cli") / "lenet.tflite"
    source = corpus / "C/lenet_k3" / "saved_model"
    assert flatlite.cli.main(["convert", str(source), "-o", str(path), "--no-verify"]) == 0
    return path


@pytest.fixture(scope="session")
def two_signatures(request, tmp_path_factory):
    """A file with the signatures `skips` and `nested`."""
    import flatlite.cli

    path = tmp_path_factory.mktemp("cli") / "two.tflite"
    source = request.config.rootpath / "tests/converter/tf/saved_models/orders"
    options = ["--signature", "skips", "--signature", "nested"]
    assert flatlite.cli.main(["convert", str(source), "-o", str(path), *options]) == 0
    return path
