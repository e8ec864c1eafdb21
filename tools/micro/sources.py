"""C++ sources of a model for TensorFlow Lite Micro: its bytes, its operators, its arena.

sources(content, "wake_word")     wake_word.h, wake_word.cc and wake_word_ops.h
"""

from __future__ import annotations

import re

from ...schema.model import Model, load
from .arena import ALIGNMENT, arena_of, operators_of
from .methods import METHODS

PER_LINE = 12  # bytes, as xxd writes them
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)

HEADER = """\
// {title}
#ifndef {guard}_H_
#define {guard}_H_

// {title_of_bytes}
extern const unsigned char {name}[];
extern const unsigned int {name}_len;

// Bytes that suffice for the tensor arena, with reference kernels on processors of 64 bits or less:
//   alignas({alignment}) static unsigned char arena[{name}_arena_size];
constexpr unsigned int {name}_arena_size = {arena};

#endif  // {guard}_H_
"""
SOURCE = """\
// {title}
#include "{name}.h"

alignas({alignment}) const unsigned char {name}[] = {{
{values}
}};
const unsigned int {name}_len = {size};
"""
RESOLVER = """\
// {title}
#ifndef {guard}_OPS_H_
#define {guard}_OPS_H_

#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
{registrations}
constexpr unsigned int {name}_n_operators = {count};

inline tflite::MicroMutableOpResolver<{name}_n_operators> {name}_resolver() {{
  tflite::MicroMutableOpResolver<{name}_n_operators> resolver;
{calls}
  return resolver;
}}

#endif  // {guard}_OPS_H_
"""
TITLE = "A model for TensorFlow Lite Micro, written by flatlite."


def sources(content: bytes, name: str = "g_model") -> dict[str, str]:
    """File name -> text of the sources of a model.

    Args:
        content: the bytes of a `.tflite` file.
        name: of the array; the files are called so, too.

    Raises:
        ValueError: the name is no identifier of C++, or TensorFlow Lite Micro has no such operator.
        ModelError: `content` is no `.tflite` file.
    """
    _check_name(name)
    model = load(content)
    fields = {"title": TITLE, "guard": name.upper(), "name": name, "alignment": ALIGNMENT}
    size = f"{len(content):,} bytes; {len(operators_of(model)):,} operators."
    return {
        f"{name}.h": HEADER.format(**fields, arena=arena_of(model).size, title_of_bytes=size),
        f"{name}.cc": c_array(content, name),
        f"{name}_ops.h": op_resolver(model, name),
    }


def c_array(content: bytes, name: str = "g_model") -> str:
    """The bytes of a file as an aligned C++ array, lines as `xxd -i` writes them.

    >>> print(c_array(b"abc", "x").splitlines()[4])
      0x61, 0x62, 0x63
    """
    _check_name(name)
    lines = (content[i : i + PER_LINE] for i in range(0, len(content), PER_LINE))
    values = ",\n".join("  " + ", ".join(f"0x{byte:02x}" for byte in line) for line in lines)
    return SOURCE.format(
        title=TITLE, name=name, alignment=ALIGNMENT, values=values, size=len(content)
    )


def op_resolver(model: Model, name: str = "g_model") -> str:
    """A function that gives a MicroMutableOpResolver of exactly a model's operators.

    Custom operators of your own come from `Register_NAME()`, which the program has to define.

    Raises ValueError, naming all of them, when TensorFlow Lite Micro lacks operators.
    """
    _check_name(name)
    custom = {op.custom_code for graph in model.subgraphs for op in graph.operators} - {None}
    kinds = sorted(set(operators_of(model)))
    lacking = [kind for kind in kinds if kind not in METHODS and kind not in custom]
    if lacking:
        raise ValueError(
            f"TensorFlow Lite Micro has no operator {', '.join(lacking)}; flatlite convert "
            "--target tflm writes the model in others, or says why not"
        )
    custom_kinds = [kind for kind in kinds if kind not in METHODS]
    bad = [kind for kind in custom_kinds if not NAME.fullmatch(kind)]
    if bad:
        raise ValueError(
            f"a custom operator must be called as a function of C++ can be, got {bad[0]!r:.99}"
        )
    calls = [
        f"  resolver.{METHODS[kind]}();"
        if kind in METHODS
        else f'  resolver.AddCustom("{kind}", Register_{kind}());'
        for kind in kinds
    ]
    registrations = [f"\nTFLMRegistration* Register_{kind}();" for kind in custom_kinds]
    return RESOLVER.format(
        title=TITLE,
        guard=name.upper(),
        name=name,
        count=max(len(kinds), 1),
        calls="\n".join(calls),
        registrations="".join(registrations) + "\n" * bool(registrations),
    )


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(f"the name must be an identifier of C++, got '{name}'")
