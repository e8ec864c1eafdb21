"""The files that a test writes, loaded and run in LiteRT when it is over."""

from weakref import WeakSet

import numpy as np

from flatlite.converter.api.conversion import Conversion
from flatlite.converter.verify.verification import Function
from flatlite.schema.model import load

KERNELS, REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "BUILTIN_REF"
TOLERANCE = 1e-3  # of an output's largest value; sums are in another order there
LARGEST = 64 << 20  # bytes of a file that is run; a larger one would take seconds
EXCEPTIONS = {
    "Invalid tensor size": "LiteRT hands out no empty tensors",
    "link the Flex delegate": "LiteRT's wheel comes without TensorFlow's operators",
    "unresolved custom op": "LiteRT has no such custom operator, the user's program brings it",
}
"""Part of LiteRT's message -> why the file is right all the same."""


class Written:
    """What a test has written: files, and inputs and results of those that were verified.

    The two functions are watched that every file passes; what they do is as without.
    """

    def __init__(self, monkeypatch):
        self.files = set()
        self.runs = {}
        self.begun = WeakSet()
        write, run = Conversion._write, Function.run

        def recorded_write(*arguments):
            written, functions = write(*arguments)
            self.files.add(functions[0].content)
            return written, functions

        def recorded_run(function, interpreter, arrays):
            results = run(function, interpreter, arrays)
            goes_on = function.has_state and interpreter in self.begun
            self.begun.add(interpreter)
            if len(function.content) <= LARGEST and not goes_on:
                quantized = any(d["quantization"][0] for d in interpreter.get_tensor_details())
                quantized |= has_blocks(function.content)  # LiteRT rounds the inputs, too
                self.runs[function.content, function.signature] = arrays, results, quantized
            return results

        monkeypatch.setattr(Conversion, "_write", recorded_write)
        monkeypatch.setattr(Function, "run", recorded_run)

    def problems(self, litert):
        """What LiteRT says of the files, and where its answers are others."""
        for content in self.files - {content for content, _ in self.runs}:
            if not has_unknown_sizes(content):
                yield from problem_of(litert.run(content, None, KERNELS))
        for (content, signature), (arrays, results, quantized) in self.runs.items():
            feeds = list(arrays)
            if signature is not None:
                feeds = dict(zip(signature.inputs, arrays, strict=True))
            key = None if signature is None else signature.key
            theirs = litert.run(content, [feeds], KERNELS, key)
            yield from problem_of(theirs)
            if isinstance(theirs, str) or quantized or fills_with_strings(content):
                continue
            names = range(len(results)) if signature is None else signature.outputs
            texts = list(differences(names, results, theirs[0]))
            if texts:  # its own kernels disagree on filters of 4 bits; the reference is right
                reference = litert.run(content, [feeds], REFERENCE, key)
                if not isinstance(reference, str):
                    texts = differences(names, results, reference[0])
            yield from texts


def differences(names, results, theirs):
    """Where two runs give other results."""
    for name, ours in zip(names, results, strict=True):
        if not close(ours, np.asarray(theirs[name])):
            yield f"LiteRT answers {theirs[name]} for {name}, flatlite {ours}"


def has_unknown_sizes(content):
    """Whether an input has: the size 1 in their place need not be one that the model takes."""
    graph = load(content).subgraphs[0]
    return any(graph.tensors[i].shape_signature is not None for i in graph.inputs)


def fills_with_strings(content):
    """Whether it fills a tensor with a text: LiteRT fills it with what lies in the memory."""
    return any(
        op.op == "FILL" and graph.tensors[op.outputs[0]].dtype == "STRING"
        for graph in load(content).subgraphs
        for op in graph.operators
    )


def has_blocks(content):
    """Whether weights have scales for blocks of elements."""
    tensors = [tensor for graph in load(content).subgraphs for tensor in graph.tensors]
    return any(t.quantization is not None and t.quantization.details is not None for t in tensors)


def problem_of(outcome):
    """LiteRT's message, unless it is one of EXCEPTIONS."""
    if isinstance(outcome, str) and not any(part in outcome for part in EXCEPTIONS):
        yield outcome


def close(one, two):
    """Whether two results are equal but for the order of sums."""
    if one.shape != two.shape:
        return False
    if one.dtype.kind not in "fc":
        return np.mean(one != two) <= TOLERANCE if one.size else True
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        return True
    return np.abs(one - two).max(initial=0) <= TOLERANCE * max(np.abs(one).max(initial=0), 1e-6)
