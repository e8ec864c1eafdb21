"""The benchmark runner on one tiny model: the shape of its report, and how it is printed."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flatlite.schema import model as schema

RUN = Path(__file__).parent.parent / "benchmarks/run.py"


def bench(*arguments):
    """Standard output of the runner, which must succeed."""
    command = [sys.executable, str(RUN), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One ADD of two float[8] as models/build.py leaves it, and a variant that was not written."""
    path = tmp_path_factory.mktemp("models")
    operator = schema.Operator("ADD", [0, 1], [2])
    tensors = [schema.Tensor(name, (8,)) for name in "xyz"]
    graph = schema.Subgraph("main", tensors, [0, 1], [2], [operator])
    (path / "add_float32.tflite").write_bytes(schema.save(schema.Model([graph])))
    np.savez(path / "add_float32.npz", np.arange(8, dtype=np.float32), np.ones(8, np.float32))
    built = {"add": {"float32": {"sha256": "0"}, "int8": {"refused": "no int8 today"}}}
    (path / "built.json").write_text(json.dumps({"recipe": "by hand", "models": built}))
    return path


def test_report_of_a_run(folder):
    target = folder / "report.json"
    few = ("--runs", 1, "--calls", 5, "--seconds", 0.1, "--starts", 0)
    printed = bench("--folder", folder, "--variants", "float32,int8", *few, "--json", target)
    report = json.loads(target.read_text())
    speed, absent = report["results"]
    assert (speed["model"], speed["variant"]) == ("add", "float32")
    for threads in ("1", "2"):
        one = speed["threads"][threads]
        assert one["refusals"] == {}
        assert one["agreement"]["agrees"], one["agreement"]
        assert len(one["medians"]) == 1
        assert set(one["medians"][0]) == {"ours", "auto", "plain"}
        assert min(one["medians"][0].values()) > 0
    assert min(speed["memory"].values()) > 1 << 20
    assert absent == {"model": "add", "variant": "int8", "absent": "no int8 today"}
    assert "TensorFlow does not write it: no int8 today" in printed
    assert report["machine"]["models"] == "by hand"


def test_figures_of_the_first_start(folder):
    command = [sys.executable, str(RUN.with_name("first.py")), str(folder / "add_float32.tflite")]
    command += ["--cold", "1", "--opens", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    number = r"[+-]?\d+\.\d+"
    forms = [
        f"first result: CPU {number} s, median {number} s",
        f"first result, nothing kept: CPU {number} s, median {number} s",
        rf"opened: wall {number} ms, LiteRT {number} \({number}\)",
        rf"opened: CPU {number} ms, LiteRT {number} \({number}\)",
    ]
    for line, form in zip(done.stdout.splitlines(), forms, strict=True):
        assert re.fullmatch(f"add_float32.tflite: {form}", line)


def test_steps_of_training(tmp_path):
    """Without TensorFlow: the times of a step, and no ratio."""
    target = tmp_path / "train.json"
    command = [sys.executable, str(RUN.with_name("train.py")), "--programs", "mlp"]
    command += ["--threads", "1", "--seconds", "0.1", "--tensorflow", "", "--json", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    (line,) = json.loads(target.read_text())["results"]
    assert (line["program"], line["threads"], line["losses"]) == ("mlp", 1, "")
    assert min(line["ms"]["flatlite"]) > 0
    assert "MLP of 3 layers" in done.stdout


def test_single_operators(tmp_path):
    """Every row of the table is written under a name of its own; those that match are timed."""
    target = tmp_path / "operators.json"
    command = [sys.executable, str(RUN.with_name("operators.py")), "^ABS f32", "--calls", "3"]
    done = subprocess.run(
        [*command, "--json", str(target)], capture_output=True, text=True, timeout=300, check=True
    )
    ((name, result),) = json.loads(target.read_text()).items()
    assert result["difference"] == 0
    assert min(result["ours"], result["auto"]) > 0
    assert name in done.stdout


def test_names_of_single_operators(monkeypatch):
    monkeypatch.syspath_prepend(RUN.parent)
    rows = list(importlib.import_module("operator_models").rows())
    assert len({row.name for row in rows}) == len(rows)


def test_unknown_model(folder):
    command = [sys.executable, str(RUN), "--folder", str(folder), "--models", "vgg"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "no model vgg" in done.stderr


def result(model, ours, agrees=True, **more):
    """A float32 result at one thread, where LiteRT takes 2 s and ours `ours`."""
    runs = [{"ours": ours, "auto": 2.0}] * 3
    agreement = {"agrees": agrees, "text": "2.0e-01 from auto"}
    one = {"refusals": {}, "agreement": agreement, "calls": 100, "medians": runs, **more}
    return {"model": model, "variant": "float32", "threads": {"1": one}}


def test_markdown(tmp_path):
    """Ratios, their geometric mean without the wrong one, and the reasons by name."""
    machine = {"cpu": "2 x Z80", "date": "1976-07-01", "python": "3.10", "load": [0.1, 0.2]}
    machine |= {"versions": {"numpy": "2"}, "models": "tensorflow 0"}
    refused = {"model": "d", "variant": "float32"}
    refused["threads"] = {"1": {"refusals": {"ours": "no kernel for FROB"}}}
    results = [result("a", 1.0), result("b", 4.0, calls=7), result("c", 0.1, False), refused]
    start = {"ours": {"wall": 0.01, "cpu": 0.02}, "auto": {"wall": 0.02, "cpu": 0.02}}
    results[0]["start"] = start | {"cold": {"wall": 3.0, "cpu": 3.0}}
    results[0]["memory"] = {"ours": 3 << 20, "auto": 4 << 20}
    results[1]["memory"] = {"failed": "exit code 1: gone"}
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"machine": machine, "options": {}, "results": results}))
    lines = bench("--show", path, "--markdown").splitlines()
    for line in (
        "| a | 2.00 |",
        "| b | 0.50 |",
        "| c | 20.00≠ |",
        "| d | - |",
        "| geometric mean | 1.00 (2) |",
        "| a | 0.75 |",
        "| a float32 | 2.00 | 1.00 | 10.0 | 20.0 | 20.0 | 20.0 | 3000.0 |",
        "- b float32: memory: exit code 1: gone",
        "- c float32: the outputs disagree, 2.0e-01 from auto (≠, in no mean)",
        "- d float32: flatlite refuses it: no kernel for FROB",
        "- fewer than 100 calls of each in a run: b float32 7",
    ):
        assert line in lines
