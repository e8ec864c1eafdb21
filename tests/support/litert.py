"""LiteRT as an oracle, in a process of its own: some models abort it."""

import multiprocessing
import os

import numpy as np

LONGEST = 300  # seconds of a request: of an IF at size after size LiteRT may never return


def serve(pipe) -> None:
    """The child: answers (content, steps, resolver, signature) with outputs or an error's text."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    while True:
        try:
            request = pipe.recv()
        except EOFError:
            return
        pipe.send(answered(*request))


def answered(content, steps, resolver, signature):
    """What the child says to one request; the interpreter ends with it, and not in the next one,
    as it dies of a heap that its model spoiled.
    """
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    try:
        interpreter = Interpreter(
            model_content=content,
            num_threads=1,
            experimental_op_resolver_type=OpResolverType[resolver],
        )
        if steps is None:
            interpreter.allocate_tensors()
        return [run(interpreter, step, signature) for step in steps or ()]
    except (ValueError, RuntimeError, TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


def run(interpreter, inputs, signature=None):
    """Outputs of one invoke: a list for a list of inputs in order, a dict for a dict by name.

    A tuple of inputs goes on where the step before ended: nothing is allocated anew, which would
    reset variables.
    """
    if isinstance(inputs, dict):
        return {
            k: np.array(v) for k, v in interpreter.get_signature_runner(signature)(**inputs).items()
        }
    details = interpreter.get_input_details()
    for detail, array in zip(details, inputs, strict=True):
        if tuple(detail["shape"]) != np.shape(array):
            interpreter.resize_tensor_input(detail["index"], np.shape(array))
    if not isinstance(inputs, tuple):
        interpreter.allocate_tensors()
    for detail, array in zip(details, inputs, strict=True):
        if array.dtype == object:  # LiteRT reads pointers out of a scalar of objects
            array = np.array(array.tolist(), np.bytes_)
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


class LiteRT:
    """A LiteRT process, started again when a model killed it."""

    def __init__(self):
        self.process = None

    def run(self, content, steps=None, resolver="BUILTIN_REF", signature=None):
        """Outputs of every step, [] for `steps=None` (load only), or a str: LiteRT's error."""
        request = bytes(content), steps, resolver, signature
        try:
            self._started().send(request)
        except OSError:  # it died of the model before, after its answer
            self.close()
            self._started().send(request)
        if not self.pipe.poll(LONGEST):
            self.process.kill()
            self.process.join()
            return f"LiteRT ran for more than {LONGEST} s"
        try:
            return self.pipe.recv()
        except (EOFError, OSError):  # a reset, where it died with something unread
            self.process.join()
            return f"LiteRT died with exit code {self.process.exitcode}"

    def _started(self):
        """The pipe to a process that is alive."""
        if self.process is None or not self.process.is_alive():
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=serve, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        return self.pipe

    def close(self):
        """Ends the process."""
        if self.process is not None:
            self.pipe.close()
            self.process.join(10)
            self.process = None
