"""Tells LLVM that the turns of a loop do not depend on one another.

Where a kernel's result may lie on what it reads, LLVM would look at the addresses before each loop
and leave vectors to arrays that lie apart. So each access to an array is put into a group, and each
loop says of the group that its accesses are parallel.
"""

from __future__ import annotations

import re

_NAME = r'(%"[^"]*"|%[-\w.$]+)'
_NUMBER = re.compile(r"^!(\d+) = ", re.MULTILINE)
_PLACE = re.compile(rf"  {_NAME} = (?:alloca |getelementptr .*?ptr {_NAME})")
_ACCESS = re.compile(rf"  (?:%.* = load|store) .*ptr {_NAME}, align")
_BLOCK = re.compile(r'("[^"]*"|[-\w.$]+):')
_TARGET = re.compile(r'label %("[^"]*"|[-\w.$]+)')


def independent(text):
    """The LLVM code `text` of one of numba's functions, with all loops parallel.

    Blocks stand in the order of the source, those of inlined functions where they are called: a
    branch to one that stood before closes a loop. On another branch the word means nothing.
    """
    group = max(map(int, _NUMBER.findall(text)), default=-1) + 1
    parallel, loops = group + 1, group + 2
    nodes = [f"!{group} = distinct !{{}}"]
    nodes.append(f'!{parallel} = !{{!"llvm.loop.parallel_accesses", !{group}}}')
    lines, before, own = [], set(), set()
    for line in text.splitlines():
        if line.startswith("define "):
            before, own = set(), set()
        elif found := _BLOCK.match(line):
            before.add(found[1])
        elif (found := _PLACE.match(line)) and (found[2] is None or found[2] in own):
            own.add(found[1])  # no array: room for a variable of the function
        elif (found := _ACCESS.match(line)) and found[1] not in own:
            line += f", !llvm.access.group !{group}"
        elif _closes(line, before):
            line += f", !llvm.loop !{loops}"
            nodes.append(f"!{loops} = distinct !{{!{loops}, !{parallel}}}")
            loops += 1
        lines.append(line)
    return "\n".join([*lines, *nodes, ""])


def _closes(line, before):
    """Whether a line leads to a block `before`, and LLVM knows nothing of the loop yet."""
    if not line.startswith("  br ") or "!llvm.loop" in line:
        return False
    return not before.isdisjoint(_TARGET.findall(line))
