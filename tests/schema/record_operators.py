"""Writes what LiteRT's kernels accept into schema/operator_types.py: `make operators`.

    .venv/bin/python tests/schema/record_operators.py                all rows, about ten minutes
    .venv/bin/python tests/schema/record_operators.py ADD GATHER     these rows

Models of one operator run in child processes, as some abort, on the reference kernels and on the
default ones. Each case of tests/cases that LiteRT runs is a start; from every combination of types
that it runs, one type is changed, or all that are equal, until nothing new runs. A combination
counts when the operator is prepared and run, the result has the type that the file states, and
the values are those of our kernels: some kernels of LiteRT look at the type of one operand only.
Where ours refuse the types, it counts if LiteRT refuses a result of another type.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import ai_edge_litert.interpreter  # children inherit it
import numpy as np

from flatlite.lite import Interpreter
from flatlite.schema import model, operators
from flatlite.schema.dtypes import TENSOR_TYPES
from flatlite.schema.targets.versions import update_versions

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "support"))

import operator_starts  # noqa: E402 - from the folder above
from operator_starts import Start, retyped  # noqa: E402

TABLE = TESTS.parent / "schema" / "operator_types.py"
PLAIN = ("f32", "f16", "bf16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
CODES = (*PLAIN, "i4", "bool", "str", "c64", "c128", "qi2", "qi4", "qi8", "qu8", "qi16")
ORDER = (*CODES, "qi32", "qi64", "-", "->")
FEW = 6  # positions up to which each is changed by itself
SECONDS = 1  # that LiteRT may take over a model; some types send it into an endless loop


class Child:
    """LiteRT in a forked process, forked again when a model ends it."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def run(self, content: bytes, feeds: list, oracle: str) -> list | str:
        """[(dtype, value)] of the results, or why there are none."""
        try:
            self._pipe.send((content, feeds, oracle))
        except BrokenPipeError:  # what the last model wrote where it must not has ended it since
            self._restart()
            self._pipe.send((content, feeds, oracle))
        try:
            if self._pipe.poll(SECONDS):
                return self._pipe.recv()
        except EOFError:
            pass
        self._restart()
        return "LiteRT died"

    def _restart(self) -> None:
        self._process.kill()
        self._process.join()
        self._start()


def serve(pipe) -> None:
    """The child: answers models with results or a message."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    while True:
        try:
            request = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(results(*request))
        except Exception as error:  # whatever it is, the model did not run
            pipe.send(f"{type(error).__name__}: {error}")


def results(content: bytes, feeds: list, oracle: str) -> list:
    """(dtype, value or None) of each result of the kernels `oracle`.

    The default ones must run the model, too, and the reference ones where they have the operator.
    """
    try:
        run(content, feeds, "BUILTIN_REF")
    except ValueError as error:
        if "Didn't find op" not in str(error):
            raise
        oracle = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
    run(content, feeds, "AUTO")
    return run(content, feeds, oracle)


def run(content: bytes, feeds: list, resolver: str) -> list:
    """(dtype, value or None) of each result."""
    litert = ai_edge_litert.interpreter
    runner = litert.Interpreter(
        model_content=content,
        num_threads=1,
        experimental_op_resolver_type=litert.OpResolverType[resolver],
    )
    runner.allocate_tensors()
    for detail, array in zip(runner.get_input_details(), feeds, strict=True):
        if array.dtype == object:  # LiteRT reads pointers out of a scalar of objects
            array = np.array(array.tolist(), np.bytes_)
        try:
            runner.set_tensor(detail["index"], array)
        except ValueError:  # Python cannot hand over every type that kernels take
            break
    runner.invoke()
    details = runner.get_output_details()
    return [(np.dtype(d["dtype"]).name, value_of(runner, d["index"])) for d in details]


def value_of(runner, index: int):
    """A result, None when Python cannot read its type."""
    try:
        return runner.get_tensor(index)
    except (ValueError, TypeError):
        return None


def quantization(start: Start, place: int, code: str) -> model.Quantization | None:
    """The start's own scales where it has some, else one that any operator takes."""
    if not code.startswith("q"):
        return None
    scales, zero, axis, of = start.scales.get(place, ([0.05], 0, 0, "qi8"))
    if "qu8" in (of, code) and of != code:
        zero += 128 if code == "qu8" else -128
    zeros = np.full(len(scales), 0 if code in ("qi16", "qi32", "qi64") else zero, np.int64)
    return model.Quantization(np.asarray(scales, np.float32), zeros, axis)


def built(start: Start, codes: tuple[str, ...]) -> tuple[bytes, list[np.ndarray]]:
    """The model of a start with other types, and what to feed it."""
    tensors, positions, input_indices, feeds = [], [], [], []
    for place, (array, code) in enumerate(zip(start.inputs, codes, strict=False)):
        if code == "-":
            positions.append(-1)
            continue
        values = retyped(array, code)
        positions.append(len(tensors))
        fixed = place in start.constants or code.endswith(
            ("i2", "i4")
        )  # which Python cannot hand over
        if not fixed:
            input_indices.append(len(tensors))
            feeds.append(values)
        tensors.append(
            model.Tensor(
                f"in{place}",
                array.shape,
                operators.TYPES[code.removeprefix("q")],
                values if fixed else None,
                quantization=quantization(start, place, code),
            )
        )
    while positions and positions[-1] == -1:
        positions.pop()
    outputs = []
    for place, code in enumerate(codes[len(start.inputs) :], len(start.inputs)):
        outputs.append(len(tensors))
        kind = operators.TYPES[code.removeprefix("q")]
        scales = quantization(start, place, code)
        tensors.append(model.Tensor(f"out{place}", (), kind, quantization=scales))
    step = model.Operator(start.kind, positions, outputs, start.options(codes))
    graph = model.Subgraph("main", tensors, input_indices, outputs, [step])
    file = model.Model([graph])
    update_versions(file)
    return model.save(file), feeds


class Probe:
    """What LiteRT runs of one operator."""

    def __init__(self, child: Child, kind: str) -> None:
        self.child, self.kind = child, kind
        self.row = operators.known(kind)
        self.starts = operator_starts.starts(kind)
        self.indices = operator_starts.indices(self.starts)
        self.accepted: set[tuple[str, ...]] = set()
        self.theirs: set[tuple[str, ...]] = set()
        self.wrong: set[tuple[str, ...]] = set()

    def search(self) -> None:
        """Finds the combinations that are reached from the starts.

        An index whose type LiteRT takes for another is right by luck only.
        """
        for start in self.starts:
            self._search(start)
        plain = {one for one in self.wrong if not any(code.startswith("q") for code in one)}
        luck = {(i, one[i]) for one in plain for i in self.indices}
        luck -= {(i, start.codes[i]) for start in self.starts for i in self.indices}
        for accepted_set in (self.accepted, self.theirs):
            accepted_set -= {one for one in accepted_set if any(one[i] == code for i, code in luck)}
        self.theirs -= self.accepted

    def _search(self, start: Start) -> None:
        seen = {start.codes}
        todo = [start.codes]
        n = len(start.inputs)
        while todo:
            codes = todo.pop()
            outcome = self.runs(start, codes)
            single = one_each(self.row, codes[:n], codes[n:])
            if outcome is not None and single is not None:
                outcome.add(single)
            if outcome is not self.accepted and codes != start.codes:
                continue
            for other in (*neighbours(codes, self.indices), *self.shortened(codes, n)):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)

    def shortened(self, codes: tuple[str, ...], n: int) -> Iterator[tuple[str, ...]]:
        """The types with an optional operand, of `n`, left out."""
        for i, place in enumerate(self.row.operands[:n]):
            if place.is_optional:
                yield (*codes[:i], "-", *codes[i + 1 :])

    def runs(self, start: Start, codes: tuple[str, ...]) -> set | None:
        """Where a combination belongs that LiteRT runs, None when it refuses it."""
        content, feeds = built(start, codes)
        outcome = self.litert_runs(content, feeds, start, codes)
        if outcome is None:
            return None
        steps = 2 if any(code.startswith("q") for code in codes) else 0
        right = agrees(content, feeds, [value for _, value in outcome], steps)
        if right is None:
            return self.theirs if self.minds_result(start, codes) else None
        return self.accepted if right else self.wrong

    def litert_runs(self, content: bytes, feeds: list, start: Start, codes: tuple) -> list | None:
        """The results, None when LiteRT refuses the model or gives other types than it states."""
        outcome = self.child.run(content, feeds, start.oracle)
        stated = codes[len(start.inputs) :]
        if isinstance(outcome, str):
            return None
        right = all(
            states(code, name, codes) for code, (name, _) in zip(stated, outcome, strict=True)
        )
        return outcome if right else None

    def minds_result(self, start: Start, codes: tuple[str, ...]) -> bool:
        """Whether LiteRT looks at the types at all: it refuses a result of another."""
        for other in ("c128", "f32"):
            if codes[-1] != other:
                content, feeds = built(start, (*codes[:-1], other))
                if self.litert_runs(content, feeds, start, (*codes[:-1], other)) is not None:
                    return False
        return True


def one_each(row: operators.Operator, *codes: tuple[str, ...]) -> tuple[str, ...] | None:
    """One type for each place of a row; None when those of a variadic one differ."""
    operands, results = map(operators.types_of_arguments, (row.operands, row.results), codes)
    return None if operands is None or results is None else (*operands, "->", *results)


def states(code: str, name: str, codes: tuple[str, ...]) -> bool:
    """Whether a result has the type that the file states; Python sees four bits as eight."""
    code = code.removeprefix("q")
    if code in ("i2", "i4"):
        return name == "int8" and any(one.endswith(code) for one in codes[:-1])
    dtype = TENSOR_TYPES[operators.TYPES[code]]
    return name.startswith("bytes") if dtype.hasobject else name == dtype.name


def neighbours(codes: tuple[str, ...], indices: frozenset[int]) -> Iterator[tuple[str, ...]]:
    """Combinations in which one type is another, or all that are equal.

    Scales come to floats, and to integers with scales; they go from all at once. Indices and sizes
    stay integers: LiteRT reads some as int32 without a look at their type.
    """
    positions = [i for i, code in enumerate(codes) if code != "-" and i not in indices]
    groups = [[i for i in positions if codes[i] == code] for code in dict.fromkeys(codes)]
    alone = [[i] for i in positions] if len(positions) <= FEW else []
    results = [[i for i in group if i != 0] for group in groups if len(group) > 1]
    for group, code in product([*groups, *alone, *results], CODES):
        old = codes[group[0]] if group else ""
        if code.startswith("q"):
            fits = old.startswith("q") or old == "f32"
        else:
            fits = len(group) > 1 or not old.startswith("q") or code == "f32"
        if group and fits:
            yield tuple(code if i in group else one for i, one in enumerate(codes))
    for i, code in product(indices, operator_starts.INDICES):
        if codes[i] != "-":
            yield (*codes[:i], code, *codes[i + 1 :])


def agrees(content: bytes, feeds: list, theirs: list, steps: int) -> bool | None:
    """Whether our kernels give the same values; None when they refuse.

    With scales, integers may differ by a few steps.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = Interpreter(model_content=content)
            ours.allocate_tensors()
            for detail, array in zip(ours.get_input_details(), feeds, strict=True):
                ours.set_tensor(detail["index"], array)
            ours.invoke()
            values = [ours.get_tensor(d["index"]) for d in ours.get_output_details()]
    except (RuntimeError, ValueError, TypeError, NotImplementedError):
        return None
    return all(same(one, two, steps) for one, two in zip(values, theirs, strict=True))


def same(one, two, steps: int) -> bool:
    """Equal, floats but for rounding, integers but for `steps`."""
    if two is None or one.dtype.name == "int4":  # Python cannot read it
        return True
    if one.shape != two.shape:
        return False
    if one.dtype.kind in "fc" or one.dtype.name == "bfloat16":
        one, two = one.astype(np.complex128), two.astype(np.complex128)
        return bool(np.allclose(one, two, rtol=2e-2, atol=2e-2, equal_nan=True))
    if steps and one.dtype.kind in "iu":
        return bool(np.all(np.abs(one.astype(np.int64) - two.astype(np.int64)) <= steps))
    return bool(np.array_equal(one, two))


def tied(combinations: set[tuple[str, ...]]) -> dict[int, int]:
    """Place -> an earlier place whose type it has in half of the combinations or more.

    Operands that have one type only are not tied, but a result is to the first operand.
    """
    some = next(iter(combinations))
    positions = [i for i, code in enumerate(some) if code != "->"]
    groups: dict[int, int] = {}
    for place, earlier in product(positions, positions):
        if earlier < place and not {earlier, place} & groups.keys():
            equal = [one for one in combinations if one[place] == one[earlier]]
            several = len({one[place] for one in equal}) > 1
            is_result = place > some.index("->") and earlier == 0
            if 2 * len(equal) >= len(combinations) and (several or is_result):
                groups[place] = earlier
    return groups


def described(combinations: set[tuple[str, ...]]) -> str:
    """The combinations as a row has them: sets of types at each place, equal places as `=n`."""
    parts = []
    uncovered = combinations
    while uncovered:
        ties = tied(uncovered)
        chosen = {one for one in uncovered if all(one[i] == one[k] for i, k in ties.items())}
        parts += _parts(chosen, ties)
        uncovered = uncovered - chosen
    return " | ".join(parts)


def _parts(combinations: set[tuple[str, ...]], ties: dict[int, int]) -> list[str]:
    free = sorted({tuple(c for i, c in enumerate(one) if i not in ties) for one in combinations})
    some = next(iter(combinations))
    parts = []
    for sets in merged([tuple(frozenset([code]) for code in one) for one in free]):
        values = iter(sets)
        words = [
            f"={operand_number(some, ties[i])}"
            if i in ties
            else ",".join(sorted(next(values), key=order))
            for i in range(len(some))
        ]
        parts.append(" ".join(words))
    return parts


def operand_number(codes: tuple[str, ...], place: int) -> int:
    """The place without counting the arrow."""
    return place - (place > codes.index("->"))


def order(code: str) -> int:
    """The place of a type in a row."""
    return ORDER.index(code)


def merged(rows: list[tuple[frozenset, ...]]) -> list[tuple[frozenset, ...]]:
    """Fewer rows for the same combinations: two that differ in one place become one."""
    while True:
        for place in reversed(range(len(rows[0]))):
            groups: dict[tuple, frozenset] = {}
            for row in rows:
                other_columns = (*row[:place], *row[place + 1 :])
                groups[other_columns] = groups.get(other_columns, frozenset()) | row[place]
            if len(groups) < len(rows):
                rows = [
                    (*other_columns[:place], sets, *other_columns[place:])
                    for other_columns, sets in groups.items()
                ]
                break
        else:
            return rows


def recorded(child: Child, kind: str) -> tuple[str, set]:
    """The types of one operator, and the combinations that LiteRT runs wrongly."""
    probe = Probe(child, kind)
    probe.search()
    types = f"{described(probe.accepted)} || {described(probe.theirs)}".strip()
    return types.removesuffix("||").strip(), probe.wrong - probe.accepted


def main(kinds: list[str]) -> None:
    """Records the rows of `kinds`, all by default."""
    text = TABLE.read_text()
    np.seterr(all="ignore")  # values that a type does not hold are as good as others
    child = Child()
    for kind in kinds or operators.kinds():
        types, wrong = recorded(child, kind)
        text = with_types(text, kind, types)
        TABLE.write_text(text)
        print(kind, types, f"wrong: {sorted(wrong)}" if wrong else "", flush=True)


def with_types(text: str, kind: str, types: str) -> str:
    """The table with other types in the row of `kind`, which is left out when there are none."""
    *head, rows, tail = text.split('"""')
    lines = {line.split(" ", 1)[0]: line for line in rows.strip().splitlines()}
    lines[kind] = f"{kind} {types}"
    if not types.strip("| "):
        del lines[kind]
    return '"""'.join((*head, "\n" + "\n".join(lines[one] for one in sorted(lines)) + "\n", tail))


if __name__ == "__main__":
    main(sys.argv[1:])
