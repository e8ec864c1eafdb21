"""Writes TensorFlow Lite Micro's names of operators into tools/micro/methods.py.

    .venv/bin/python tests/schema/record_resolver.py micro_mutable_op_resolver.h

The header is tensorflow/lite/micro/micro_mutable_op_resolver.h of tflite-micro.
"""

import re
import sys
from pathlib import Path

TABLE = Path(__file__).parents[2] / "tools" / "micro" / "methods.py"
HEAD = '''"""Methods of MicroMutableOpResolver; tests/schema/record_resolver.py wrote it.

The header is that of tflite-micro of August 2026. Custom operators go by the name that files have.
"""

METHODS = {
'''
METHOD = re.compile(r"TfLiteStatus (Add\w+)\((.*?)\n  \}", re.DOTALL)
ADDED = re.compile(r'AddBuiltin\(\s*BuiltinOperator_(\w+)|AddCustom\(\s*"([^"]+)"')


def main(header: str) -> None:
    """Writes the table."""
    rows = {}
    for name, body in METHOD.findall(Path(header).read_text()):
        actual = ADDED.search(body)
        if actual:
            rows[actual[1] or actual[2]] = name
    lines = (f'    "{op}": "{name}",\n' for op, name in sorted(rows.items()))
    TABLE.write_text(f"{HEAD}{''.join(lines)}}}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
