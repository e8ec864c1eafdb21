"""Two models as one: what the first gives, the second takes."""

from __future__ import annotations

from collections.abc import Mapping

from ...schema.model import Model, Signature, Subgraph, Tensor
from .described import SIDES, describe_ends
from .subgraphs import (
    SIGNATURE,
    compact,
    copied,
    end_index,
    end_names,
    listed,
    renumber_calls,
    renumber_tensors,
    signature_of,
    update_release,
    with_fields,
    with_subgraphs,
)


def merge(first: Model, second: Model, connections: Mapping[str, str] | None = None) -> Model:
    """One model that runs the first subgraph of two models, one after the other.

        x -> first -> t        t -> second -> y        becomes        x -> first -> second -> y

    Its inputs are those of the first and what the second takes besides; its outputs those of the
    first that are not taken, and those of the second. Variables and tables stay apart. Metadata
    have the name and description of the first, and say of every input and output what they said.

    Args:
        first: any.
        second: any.
        connections: {output of the first: input of the second}; None connects those of equal names,
            or, where there are none, all in order.

    Raises ValueError when a name is unknown, when shape, type or scale of an output are not those
    of its input, or nothing is connected.
    """
    left, right = copied(first), with_subgraphs(second, [0])
    pairs = _pairs(left, right, connections)
    for output, input_ in pairs.items():
        _check_fits(left.subgraphs[0].tensors[output], right.subgraphs[0].tensors[input_])
    input_names, output_names = (
        [end_names(model, 0, side) for model in (left, right)] for side in ("inputs", "outputs")
    )
    _separate_state(left, right)
    offset = len(left.subgraphs) - 1
    numbers = {i: i + offset for i in range(1, len(right.subgraphs))}
    renumber_calls(right.subgraphs, {0: 0, **numbers})
    main, appended = left.subgraphs[0], right.subgraphs[0]
    taken = {input_: output for output, input_ in pairs.items()}
    shift = len(main.tensors)
    renumbered = {i: taken.get(i, i + shift) for i in range(len(appended.tensors))}
    _separate_names(main, appended)
    renumber_tensors(appended, renumbered)
    main.tensors += appended.tensors
    main.operators += appended.operators
    main.inputs += [i for i in appended.inputs if i not in main.inputs and i >= shift]
    main.outputs = [i for i in main.outputs if i not in pairs] + appended.outputs
    left.subgraphs += right.subgraphs[1:]
    signature = signature_of(left, 0) or signature_of(right, 0)
    left.signatures = [s for s in left.signatures if s.subgraph != 0]
    if signature is not None:
        inputs, outputs = (
            _named(ends, names[0], {renumbered[i]: name for i, name in names[1].items()})
            for ends, names in ((main.inputs, input_names), (main.outputs, output_names))
        )
        left.signatures.insert(0, Signature(signature.key or SIGNATURE, inputs, outputs))
    left.metadata = {**right.metadata, **left.metadata}
    before = [(m.inputs, m.outputs) for m in (first.subgraphs[0], second.subgraphs[0])]
    described = {
        side: [
            (0, before[0][k].index(i))
            if i in before[0][k]
            else (1, [renumbered[j] for j in before[1][k]].index(i))
            for i in (main.inputs, main.outputs)[k]
        ]
        for k, side in enumerate(SIDES)
    }
    describe_ends(left, [first, second], described)
    compact(left, 0)
    update_release(left)
    return left


def _pairs(left: Model, right: Model, connections: Mapping[str, str] | None) -> dict[int, int]:
    """Output of the first model -> input of the second."""
    if connections is not None:
        pairs = {
            end_index(left, 0, "outputs", output): end_index(right, 0, "inputs", input_)
            for output, input_ in connections.items()
        }
    else:
        outputs, inputs = end_names(left, 0, "outputs"), end_names(right, 0, "inputs")
        by_name = {name: i for i, name in inputs.items()}
        pairs = {i: by_name[name] for i, name in outputs.items() if name in by_name}
        if not pairs:
            n_outputs, n_inputs = len(outputs), len(inputs)
            if n_outputs != n_inputs:
                raise ValueError(
                    f"the first model has {n_outputs} outputs ({listed([*outputs.values()])}), the "
                    f"second {n_inputs} inputs ({listed([*inputs.values()])}); say which are "
                    "connected"
                )
            pairs = dict(zip(outputs, inputs, strict=True))
    if not pairs:
        raise ValueError("at least one output must be connected with an input")
    if len(set(pairs.values())) < len(pairs):
        raise ValueError("an input of the second model must be connected with one output only")
    return pairs


def _check_fits(output: Tensor, input_: Tensor) -> None:
    """Raises ValueError unless an output can be taken as an input."""
    shapes = [tensor.shape_signature or tensor.shape for tensor in (output, input_)]
    fits = len(shapes[0]) == len(shapes[1]) and all(
        m == n or -1 in (m, n) for m, n in zip(*shapes, strict=True)
    )
    same_scale = (output.quantization is None) == (input_.quantization is None) and (
        output.quantization is None
        or input_.quantization is None
        or (
            output.quantization.scales.tolist() == input_.quantization.scales.tolist()
            and output.quantization.zero_points.tolist() == input_.quantization.zero_points.tolist()
        )
    )
    if output.dtype != input_.dtype or not fits or not (same_scale or "FLOAT" in output.dtype):
        raise ValueError(
            f"output '{output.name}' ({_described(output)}) must have the type, shape and scale of "
            f"input '{input_.name}' ({_described(input_)})"
        )


def _described(tensor: Tensor) -> str:
    shape = "x".join(str(n) for n in tensor.shape_signature or tensor.shape) or "scalar"
    scale = "" if tensor.quantization is None else f" {tensor.quantization}"
    return f"{tensor.dtype.lower()} {shape}{scale}"


def _named(ends: list[int], *names: Mapping[int, str]) -> dict[str, int]:
    """Public names of inputs or outputs, each once."""
    result: dict[str, int] = {}
    for index in ends:
        name = next(by_index[index] for by_index in names if index in by_index)
        result[_free(name, result)] = index
    return result


def _separate_names(main: Subgraph, appended: Subgraph) -> None:
    """Gives tensors of the second subgraph names that the first does not have, in place."""
    used = {tensor.name: 0 for tensor in main.tensors}
    for tensor in appended.tensors:
        if tensor.name:
            tensor.name = _free(tensor.name, used)
            used[tensor.name] = 0


def _free(name: str, used: Mapping[str, int]) -> str:
    """A name that is not used: this one, or with a number."""
    if name not in used:
        return name
    return next(free for i in range(1, len(used) + 2) if (free := f"{name}_{i}") not in used)


def _separate_state(left: Model, right: Model) -> None:
    """Gives variables and tables of the second model names that the first lacks, in place."""
    operators = [[op for graph in m.subgraphs for op in graph.operators] for m in (left, right)]
    names = [
        {op.options.shared_name: 0 for op in ops if op.op == "VAR_HANDLE" and op.options}
        for ops in operators
    ]
    free = {name: _free(name, names[0] | names[1]) for name in names[1] if name in names[0]}
    tables = [op.options.table_id for op in operators[0] if op.op == "HASHTABLE" and op.options]
    shift = max(tables, default=-1) + 1
    for op in operators[1]:
        if op.op == "VAR_HANDLE" and op.options is not None:
            name = op.options.shared_name
            op.options = with_fields(op.options, {"shared_name": free.get(name, name)})
        elif op.op == "HASHTABLE" and op.options is not None:
            op.options = with_fields(op.options, {"table_id": op.options.table_id + shift})
