"""What this version refuses, and that nothing else is refused."""

import re
from pathlib import Path

import pytest

NOT_YET = set((Path(__file__).parents[1] / "not_yet.txt").read_text().splitlines())
REFUSED = re.compile(
    r"(?P<op>\w+)(?: '[^']*')?: (?P<dtype>\w+) is not supported yet"
    r"|operator (?P<kind>\w+) is not supported"
    r"|unresolved custom op: (?P<custom>\w+)"
    r"|^ +(?P<tf>\w+) x \d+, first at node"
    r"|(?P<computed>\w+) '[^']*': input \d+ \('[^']*'\) must be constant",
    re.MULTILINE,
)
WORDS = {"computed": "{} by a computed value"}


def entries(text: str) -> list[str]:
    """What an error refuses, as the lines of not_yet.txt say it."""
    rows = []
    for match in REFUSED.finditer(text):
        ((name, value),) = ((k, v) for k, v in match.groupdict().items() if v and k != "dtype")
        value = f"{value} {match['dtype']}" if name == "op" else value
        rows.append(WORDS.get(name, "{}").format(value))
    return rows


def not_yet(room: str, error: Exception, record_property) -> None:
    """Ends the test as expected failure when all that the error refuses is in the list."""
    refused = [f"{room} {entry}" for entry in entries(str(error))]
    if not refused:
        raise error
    for entry in refused:
        assert entry in NOT_YET, f"'{entry}' is refused but not in not_yet.txt: {error}"
        record_property("not_yet", entry)
    pytest.xfail(", ".join(refused))
