r"""Regular expressions as RE2 understands them, on strings of UTF-8.

RE2 has no backreferences and no looking around, `$` is the end of the text alone, \d, \w and \s
are ASCII, and flags hold to the end of their group. A pattern is written as one of Python's.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable

DIGIT, WORD, SPACE = "0-9", "0-9A-Za-z_", r"\t\n\f\r "
PERL = {"d": DIGIT, "w": WORD, "s": SPACE}
POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": DIGIT,
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": WORD,
    "xdigit": "0-9A-Fa-f",
}
"""Names of classes -> what stands between brackets."""
_REPEAT = re.compile(r"[*+?]|\{\d+(?:,\d*)?\}")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?P<(\w+)>")
_MOST_REPEATS = 1000
_NO_TEXT = r"\udc80-\udcff"
"""What bytes that are no UTF-8 become; no class has them."""


class PatternError(ValueError):
    """What RE2 has against a pattern."""


def encoded(text: str) -> bytes:
    """The bytes of what `decoded` gave."""
    return text.encode("utf-8", "surrogateescape")


def decoded(item: bytes) -> str:
    """The characters of bytes; each byte that is no UTF-8 alone."""
    return item.decode("utf-8", "surrogateescape")


@functools.lru_cache(maxsize=256)
def compiled(pattern: bytes) -> re.Pattern[str]:
    """A pattern of RE2; PatternError when it is none."""
    try:
        return re.compile(_Translation(decoded(pattern)).run())
    except (re.error, OverflowError) as error:
        raise PatternError(str(error)) from None


class _Translation:
    """A pattern on its way into Python's form.

    Attributes:
        flags: Those that hold here, of the groups around, from the outside in.
        opened: How many groups each level has opened for its flags.
    """

    def __init__(self, pattern: str) -> None:
        self._text, self._at = pattern, 0
        self._out: list[str] = []
        self.flags: list[set[str]] = [set()]
        self.opened: list[list[str]] = [[]]

    def run(self) -> str:
        """The pattern for Python."""
        single: dict[str, Callable[[], None]] = {
            "\\": self._escape,
            "[": self._brackets,
            "(": self._group,
            ")": self._close,
            "|": self._alternative,
            "$": self._end,
            ".": self._any,
        }
        while self._at < len(self._text):
            repeat = _REPEAT.match(self._text, self._at)
            if repeat is not None:
                self._repeat(repeat[0])
                continue
            char = self._text[self._at]
            if char in single:
                single[char]()
            else:
                self._out.append(char if char == "^" else re.escape(char))
                self._at += 1
        if len(self.flags) > 1:
            raise PatternError(f"missing ): {self._text}")
        return "".join(self._out) + ")" * len(self.opened[0])

    def _any(self) -> None:
        self._out.append(f"[^{_NO_TEXT}]" if "s" in self.flags[-1] else rf"[^\n{_NO_TEXT}]")
        self._at += 1

    def _end(self) -> None:
        self._out.append("$" if "m" in self.flags[-1] else r"\Z")
        self._at += 1

    def _alternative(self) -> None:
        """Groups of flags end before a bar and begin anew behind it."""
        begun = self.opened[-1]
        self._out.append(")" * len(begun) + "|" + "".join(begun))
        self._at += 1

    def _close(self) -> None:
        if len(self.flags) == 1:
            raise PatternError(f"unexpected ): {self._text}")
        self._out.append(")" * (len(self.opened.pop()) + 1))
        self.flags.pop()
        self._at += 1

    def _group(self) -> None:
        named, flags = (form.match(self._text, self._at) for form in (_NAMED, _FLAGS))
        if named is not None:
            self._open(f"(?P<{named[1]}>", named.end())
        elif flags is not None:
            self._with_flags(flags)
        elif self._text.startswith("(?", self._at):
            raise PatternError(f"invalid perl operator: {self._text[self._at : self._at + 3]}")
        else:
            self._open("(", self._at + 1)

    def _open(self, written: str, end: int) -> None:
        self._out.append(written)
        self.flags.append(set(self.flags[-1]))
        self.opened.append([])
        self._at = end

    def _with_flags(self, match: re.Match[str]) -> None:
        on, off = set(match[1]), set(match[2] or "")
        shown = "".join(sorted(on - {"U"})), "".join(sorted(off - {"U"}))
        begin = f"(?{shown[0]}{'-' + shown[1] if shown[1] else ''}:"
        if match[3] == ":":
            self._open(begin, match.end())
        else:
            self._out.append(begin)
            self.opened[-1].append(begin)
            self._at = match.end()
        self.flags[-1] = (self.flags[-1] | on) - off

    def _repeat(self, written: str) -> None:
        self._at += len(written)
        if any(int(n) > _MOST_REPEATS for n in re.findall(r"\d+", written)):
            raise PatternError(f"invalid repetition size: {written}")
        is_lazy = self._text.startswith("?", self._at)
        self._at += is_lazy
        again = _REPEAT.match(self._text, self._at)
        if again is not None:
            raise PatternError(f"bad repetition operator: {written}{'?' * is_lazy}{again[0]}")
        if not self._out or self._out[-1].endswith(("|", "(", ":")):
            raise PatternError(f"no argument for repetition operator: {written}")
        self._out.append(written + "?" * (is_lazy != ("U" in self.flags[-1])))

    def _escape(self) -> None:
        if self._text.startswith(r"\Q", self._at):
            end = self._text.find(r"\E", self._at)
            end = len(self._text) if end < 0 else end
            self._out.append(re.escape(self._text[self._at + 2 : end]))
            self._at = end + 2
            return
        char = self._text[self._at + 1 : self._at + 2]
        anchors = {"A": r"\A", "z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)", "C": "(?s:.)"}
        if char in anchors and char:
            self._out.append(anchors[char])
            self._at += 2
            return
        inside, is_negative = self._class_escape()
        if inside is not None:
            self._out.append(f"[^{inside}{_NO_TEXT}]" if is_negative else f"[{inside}]")
        else:
            self._out.append(re.escape(self._character()))

    def _class_escape(self) -> tuple[str | None, bool]:
        r"""The class of \d or \pL, what is between its brackets, and whether it is the rest."""
        char = self._text[self._at + 1 : self._at + 2]
        if char.lower() in PERL and char:
            self._at += 2
            return PERL[char.lower()], char.isupper()
        if char not in ("p", "P"):
            return None, False
        match = re.compile(r"\\[pP](?:\{(\^?)(\w+)\}|(\w))").match(self._text, self._at)
        if match is None:
            raise PatternError(f"invalid character class range: {self._text[self._at :]}")
        self._at = match.end()
        return _category(match[2] or match[3], match[0]), (char == "P") != bool(match[1])

    def _character(self) -> str:
        """The character that an escape stands for."""
        tail = self._text[self._at :]
        match = re.match(
            r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]+))", tail
        )
        if match is not None:
            self._at += match.end()
            return chr(int(match[1] or match[2] or match[3], 8 if match[3] else 16))
        char = tail[1:2]
        if not char:
            raise PatternError("trailing \\ at end of pattern")
        known = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
        if char not in known and (char.isalnum() or ord(char) > 127):
            raise PatternError(f"invalid escape sequence: \\{char}")
        self._at += 2
        return known.get(char, char)

    def _brackets(self) -> None:
        begin = self._at
        self._at += 1
        is_negative = self._text.startswith("^", self._at)
        self._at += is_negative
        parts: list[str] = []
        first = self._at
        while not self._text.startswith("]", self._at) or self._at == first:
            if self._at >= len(self._text):
                raise PatternError(f"missing ]: {self._text[begin:]}")
            parts.append(self._bracket_item())
        self._at += 1
        inside = "".join(parts)
        self._out.append(f"[^{inside}{_NO_TEXT}]" if is_negative else f"[{inside}]")

    def _bracket_item(self) -> str:
        """One class, character or range between brackets."""
        posix = re.compile(r"\[:(\^?)(\w+):\]").match(self._text, self._at)
        if posix is not None:
            if posix[2] not in POSIX:
                raise PatternError(f"invalid character class range: {posix[0]}")
            self._at = posix.end()
            return _rest_of(POSIX[posix[2]]) if posix[1] else POSIX[posix[2]]
        if self._text.startswith("\\", self._at):
            inside, is_negative = self._class_escape()
            if inside is not None:
                return _rest_of(inside) if is_negative else inside
        low = self._one()
        is_range = self._text.startswith("-", self._at) and not self._text.startswith(
            "-]", self._at
        )
        if not is_range:
            return re.escape(low)
        self._at += 1
        high = self._one()
        if high < low:
            raise PatternError(f"invalid character class range: {low}-{high}")
        return f"{re.escape(low)}-{re.escape(high)}"

    def _one(self) -> str:
        if self._text.startswith("\\", self._at):
            return self._character()
        self._at += 1
        return self._text[self._at - 1 : self._at]


@functools.lru_cache(maxsize=64)
def _category(name: str, written: str) -> str:
    """The characters of a general category of Unicode, as ranges between brackets."""
    categories = {unicodedata.category(chr(code)) for code in range(0x3000)}
    if name != "Any" and not any(known.startswith(name) for known in categories):
        raise PatternError(f"invalid character class range: {written}; scripts are not known here")
    prefix = "" if name == "Any" else name
    return _ranges(lambda code: unicodedata.category(chr(code)).startswith(prefix))


def _rest_of(inside: str) -> str:
    """The characters that a class does not have, as ranges between brackets."""
    matches = re.compile(f"[{inside}]").match
    return _ranges(lambda code: matches(chr(code)) is None)


def _ranges(holds: Callable[[int], bool]) -> str:
    parts: list[str] = []
    begin: int | None = None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and holds(code)
        if inside and begin is None:
            begin = code
        elif not inside and begin is not None:
            parts.append(f"\\U{begin:08x}-\\U{code - 1:08x}")
            begin = None
    return "".join(parts)


def replaced(pattern: re.Pattern[str], rewrite: bytes, item: bytes, everywhere: bool) -> bytes:
    r"""A string with what matches replaced, \0 to \9 standing for what groups matched.

    A rewrite that refers to a group that there is not leaves the string as it is.
    """
    pieces = re.findall(r"\\(\d)|\\(\\)|(\\)|([^\\]+)", decoded(rewrite))
    numbers = [int(digit) for digit, *_ in pieces if digit]
    if any(wrong for *_, wrong, _ in pieces) or any(n > pattern.groups for n in numbers):
        return item
    text = decoded(item)
    out: list[str] = []
    at, last_end = 0, -1
    for match in pattern.finditer(text):
        if match.start() == match.end() == last_end:
            continue  # nothing right behind a match is no match of its own
        out.append(text[at : match.start()])
        for digit, backslash, _, literal in pieces:
            out.append((match[int(digit)] or "") if digit else backslash or literal)
        at = last_end = match.end()
        if not everywhere:
            break
    return encoded("".join([*out, text[at:]]))
