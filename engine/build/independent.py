"""Tells LLVM that the turns of a loop do not depend on one another.

Where a kernel's result may lie on what it reads, LLVM would look at the addresses before each loop
and leave vectors to arrays that lie apart. So each access to an array is put into a group, and each
loop says of the group that its accesses are parallel.
"""

from __future__ import annotations

import re

_NAME = r'(%"[^"]*"|%[-\w.$]+)'
_NUMBER = re.compile(r"^!(\d+) = ", re.MULTILINE)
_POINTER = re.compile(rf"  {_NAME} = (?:alloca |getelementptr .*?ptr {_NAME})")
_ACCESS = re.compile(rf"  (?:%.* = load|store) .*ptr {_NAME}, align")
_BLOCK = re.compile(r'("[^"]*"|[-\w.$]+):')
_TARGET = re.compile(r'label %("[^"]*"|[-\w.$]+)')


def independent(text: str) -> str:
    """The LLVM code `text` of one of numba's functions, with all loops parallel.

    Blocks stand in the order of the source, those of inlined functions where they are called: a
    branch to one that stood before closes a loop. On another branch the word means nothing.
    """
    group = max(map(int, _NUMBER.findall(text)), default=-1) + 1
    parallel, loops = group + 1, group + 2
    nodes = [f"!{group} = distinct !{{}}"]
    nodes.append(f'!{parallel} = !{{!"llvm.loop.parallel_accesses", !{group}}}')
    lines: list[str] = []
    before: set[str] = set()
    variables: set[str] = set()
    for line in text.splitlines():
        if line.startswith("define "):
            before, variables = set(), set()
        elif match := _BLOCK.match(line):
            before.add(match[1])
        elif (match := _POINTER.match(line)) and (match[2] is None or match[2] in variables):
            variables.add(match[1])  # no array: on the stack
        elif (match := _ACCESS.match(line)) and match[1] not in variables:
            line += f", !llvm.access.group !{group}"
        elif _closes(line, before):
            line += f", !llvm.loop !{loops}"
            nodes.append(f"!{loops} = distinct !{{!{loops}, !{parallel}}}")
            loops += 1
        lines.append(line)
    return "\n".join([*lines, *nodes, ""])


def _closes(line: str, before: set[str]) -> bool:
    """Whether a line leads to a block `before`, and LLVM knows nothing of the loop yet."""
    if not line.startswith("  br ") or "!llvm.loop" in line:
        return False
    return not before.isdisjoint(_TARGET.findall(line))
