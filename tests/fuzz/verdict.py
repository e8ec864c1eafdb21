"""What a fuzzer says of a case."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """The outcome of one case: its kind, one of a fuzzer's few words, and what was seen."""

    kind: str
    text: str = ""
