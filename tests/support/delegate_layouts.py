"""Records where LiteRT's headers put the fields of the structures of delegates/external.

    python tests/support/delegate_layouts.py INCLUDE

INCLUDE: a folder with LiteRT's tflite/core/c, tflite/converter/core/c and tflite/builtin_ops.h.
Needs g++ on a 64-bit Linux; writes tests/delegates/layouts.json, name of a structure -> its size
(under "") and the offset of each field.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from flatlite.delegates.external import builtin_data, structures

LAYOUTS = Path(__file__).parents[1] / "delegates" / "layouts.json"


def classes():
    """The structures by name."""
    every = [x for x in vars(structures).values() if isinstance(x, type)]
    every += [row.cls for row in builtin_data.ROWS.values()]
    return {
        cls.__name__: cls
        for cls in every
        if issubclass(cls, structures.Structure) and cls is not structures.Structure
    }


def c_name(field):
    """A field as C writes it: the four numbers of a pool's padding are within one."""
    parts = ("width", "height", "width_offset", "height_offset")
    return f"computed.padding.{parts[int(field[-1])]}" if field.startswith("computed_") else field


def main(include):
    """Compiles and runs a program that prints the layouts."""
    lines = []
    for name, cls in classes().items():
        lines.append(f'p("{name}", "", sizeof({name}));')
        lines += [f'p("{name}", "{f[0]}", offsetof({name}, {c_name(f[0])}));' for f in cls._fields_]
    body = "\n".join(lines)
    program = f"""#include <cstddef>
#include <cstdio>
#include "tflite/core/c/common.h"
#include "tflite/converter/core/c/builtin_op_data.h"
static void p(const char* name, const char* field, size_t n) {{
  printf("%s %s %zu\\n", name, *field ? field : "-", n);
}}
int main() {{ {body} }}
"""
    layouts = {}
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "layouts.cc"), Path(folder, "layouts")
        source.write_text(program)
        subprocess.run(["g++", "-w", "-I", include, source, "-o", binary], check=True)
        for line in subprocess.check_output([binary], text=True).splitlines():
            name, field, n = line.split()
            layouts.setdefault(name, {})["" if field == "-" else field] = int(n)
    rows = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(layouts.items()))
    LAYOUTS.write_text(f"{{\n{rows}\n}}\n")


if __name__ == "__main__":
    main(sys.argv[1])
