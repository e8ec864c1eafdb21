"""Sources and arenas for TensorFlow Lite Micro, beside those of its wheel."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from flatlite import edit, micro
from flatlite.schema.model import Operator, Subgraph, Tensor
from flatlite.schema.targets import types as target_types
from flatlite.tools.micro.arena import RECORDER
from flatlite.tools.micro.methods import METHODS

FOLDER = Path(__file__).parent / "schema"
CORPUS = Path(__file__).parent / "corpus"
ARENAS = json.loads((FOLDER / "arenas.json").read_text())
LENET = CORPUS / "C" / "lenet_k3" / "int8.tflite"
MICRO = Path(__file__).parents[1] / ".venv-micro" / "bin" / "python"


def path_of(name):
    return CORPUS / (name.replace("+", "/") + ".tflite")


def test_activations_are_planned_as_micro_plans_them():
    """The head of the arena is the same, to the byte; the whole is at least what suffices."""
    planned = {n: micro.arena_of(edit.load(path_of(n).read_bytes())) for n in ARENAS}
    assert len(planned) > 250
    assert {n: arena.activations for n, arena in planned.items()} == {
        n: arena["head"] for n, arena in ARENAS.items()
    }
    for name, arena in planned.items():
        least = ARENAS[name]["least"] - RECORDER  # of a program
        assert least <= arena.size <= least + (720 if least < 4000 else 0.05 * least), name


@pytest.mark.skipif(not MICRO.exists(), reason="no .venv-micro; `make arenas` makes it")
def test_arenas_suffice(tmp_path):
    sizes = {}
    for name in list(ARENAS)[::5]:
        content = path_of(name).read_bytes()
        (tmp_path / f"{name}.tflite").write_bytes(content)
        sizes[name] = micro.arena_of(edit.load(content)).size + RECORDER
    command = [MICRO, FOLDER / "arena_child.py", tmp_path, json.dumps(sizes)]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert len(printed) == len(sizes)
    assert [name for name, numbers in printed.items() if not numbers["fits"]] == []
    assert {n: x["tail"] for n, x in printed.items()} == {n: ARENAS[n]["tail"] for n in printed}


def test_methods_are_those_of_operators():
    builtins = {op: name for op, name in METHODS.items() if op == op.upper()}
    rows = {row.split()[0] for row in target_types.MICRO.splitlines() if row}
    assert rows <= builtins.keys()
    custom = {"CIRCULAR_BUFFER", "TFLM_DECODE"}  # custom operators in capitals
    for op in builtins.keys() - custom:
        assert builtins[op].upper() == "ADD" + op.replace("_", ""), op


def test_bytes_are_those_of_xxd(tmp_path):
    """`xxd -i`, as recorded, but for its declaration."""
    content = bytes(range(40))
    xxd = (
        "  0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,\n"
        "  0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,\n"
        "  0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23,\n"
        "  0x24, 0x25, 0x26, 0x27\n"
    )
    text = micro.c_array(content, "digits")
    assert f"alignas(16) const unsigned char digits[] = {{\n{xxd}}};\n" in text
    assert text.endswith("const unsigned int digits_len = 40;\n")


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_sources_compile(tmp_path):
    """The program prints the model's bytes, and calls the methods in a class that counts them."""
    content = LENET.read_bytes()
    for name, text in micro.sources(content, "lenet").items():
        (tmp_path / name).write_text(text)
    header = tmp_path / "tensorflow/lite/micro/micro_mutable_op_resolver.h"
    header.parent.mkdir(parents=True)
    methods = "".join(f"  void {name}() {{ ++n; }}\n" for name in METHODS.values())
    header.write_text(
        "#pragma once\nnamespace tflite {\ntemplate <unsigned int size>\n"
        f"struct MicroMutableOpResolver {{\n  unsigned int n = 0;\n{methods}}};\n}}\n"
    )
    (tmp_path / "main.cc").write_text(
        '#include <cstdio>\n#include <cstdint>\n#include "lenet.h"\n#include "lenet_ops.h"\n'
        "alignas(16) static unsigned char arena[lenet_arena_size];\n"
        "int main() {\n"
        "  if (lenet_resolver().n != lenet_n_operators) return 1;\n"
        "  if (reinterpret_cast<std::uintptr_t>(lenet) % 16) return 2;\n"
        "  if (sizeof(arena) != lenet_arena_size) return 3;\n"
        "  return std::fwrite(lenet, 1, lenet_len, stdout) != lenet_len;\n}\n"
    )
    program = tmp_path / "program"
    command = ["g++", "-std=c++11", "-Wall", "-Werror", "-I", tmp_path]
    subprocess.run(
        [*command, tmp_path / "main.cc", tmp_path / "lenet.cc", "-o", program], check=True
    )
    assert subprocess.run([program], capture_output=True, check=True).stdout == content


def test_the_resolver_has_exactly_the_model_s_operators():
    text = micro.op_resolver(edit.load(LENET.read_bytes()), "lenet")
    assert re.findall(r"resolver\.(\w+)\(", text) == [
        *("AddAveragePool2D", "AddConv2D", "AddFullyConnected", "AddPack", "AddReshape"),
        *("AddShape", "AddSoftmax", "AddStridedSlice", "AddTanh"),
    ]
    assert "constexpr unsigned int lenet_n_operators = 9;\n" in text


def custom(code):
    """A model of one custom operator."""
    tensors = [Tensor("x", (4,)), Tensor("y", (4,))]
    operators = [Operator("CUSTOM", [0], [1], custom_code=code)]
    return edit.Model([Subgraph("main", tensors, [0], [1], operators)])


def test_custom_operators():
    text = micro.op_resolver(custom("Blur"))
    assert "\nTFLMRegistration* Register_Blur();\n" in text
    assert '  resolver.AddCustom("Blur", Register_Blur());\n' in text
    assert "AddRfft()" in micro.op_resolver(custom("SignalRfft"))
    with pytest.raises(ValueError, match="as a function of C\\+\\+ can be, got 'a\\(\\);'"):
        micro.op_resolver(custom("a();"))


def test_what_micro_lacks_is_refused():
    model = custom("X")
    model.subgraphs[0].operators[0].op = "RANK"
    model.subgraphs[0].operators[0].custom_code = None
    with pytest.raises(ValueError, match="has no operator RANK; flatlite convert --target tflm"):
        micro.op_resolver(model)
    for name in ("", "1st", "a-b", "é"):
        with pytest.raises(ValueError, match=f"must be an identifier of C\\+\\+, got '{name}'"):
            micro.sources(b"", name)


def test_the_command(cli, tmp_path):
    status, out, err = cli("micro", LENET, "-o", tmp_path / "out", "--name", "lenet")
    assert (status, err) == (0, "")
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["lenet.cc", "lenet.h", "lenet_ops.h"]
    size = micro.arena_of(LENET.read_bytes()).size
    assert f"arena {size:,} bytes: 9,408 of activations" in out
    assert f"lenet_arena_size = {size};" in (tmp_path / "out" / "lenet.h").read_text()
    shown = json.loads(cli("micro", LENET, "--json")[1])
    assert (shown["arena"], shown["activations"], shown["files"]) == (size, 9408, [])
    digits = tmp_path / "1-digit.tflite"
    digits.write_bytes(LENET.read_bytes())
    assert cli("micro", digits, "-o", tmp_path)[0] == 0
    assert (tmp_path / "_1_digit.cc").exists()
