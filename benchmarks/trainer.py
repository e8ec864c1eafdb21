"""A process that trains the programs of train_programs.py, and does on request what is to be timed.

    python benchmarks/trainer.py MODULE       then, line by line, on standard input:

    {"do": "open", "program": "lenet", "threads": 1}    builds it and initializes its variables;
        with "rounding": N, N > 0, its float32 inputs differ in their last bits, drawn from N
    {"do": "losses", "steps": 5}                        trains; the loss before each step
    {"do": "steps", "steps": 10}                        trains; (wall, CPU) seconds of each step

MODULE is flatlite.compat.v1 or tensorflow.compat.v1. Each answer is a line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np
from train_programs import PROGRAMS, batches


def load(module: str) -> Any:
    """The module as programs of TensorFlow 1 see it."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf = import_module(module)
    if module.startswith("tensorflow"):
        tf.disable_v2_behavior()
        # With Keras 3 the cells have no public names any more.
        cells = import_module("tensorflow.python.keras.layers.legacy_rnn.rnn_cell_impl")
        tf.nn.rnn_cell = cells
    return tf


def other_last_bits(array: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """`array` with about half of its numbers replaced by the next larger float32."""
    if array.dtype != np.float32:
        return array
    return np.where(random.rand(*array.shape) < 0.5, array, np.nextafter(array, np.float32(np.inf)))


class Trainer:
    """The program that is open."""

    def __init__(self, module: str):
        self.tf: Any = load(module)
        self.session: Any = None

    def open(self, program: str, threads: int, rounding: int = 0) -> None:
        if self.session is not None:
            self.session.close()
        tf, graph = self.tf, self.tf.Graph()
        with graph.as_default():
            placeholders, self.loss, self.step = PROGRAMS[program](tf)
            initialize = tf.global_variables_initializer()
        config = tf.ConfigProto(
            intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
        )
        self.session = tf.Session(graph=graph, config=config)
        self.session.run(initialize)
        data = batches(program)
        if rounding:
            random = np.random.RandomState(rounding)
            data = [tuple(other_last_bits(array, random) for array in batch) for batch in data]
        self.feeds = [dict(zip(placeholders, batch, strict=True)) for batch in data]
        self.turn = count()

    def losses(self, steps: int) -> list[float]:
        return [float(self._train([self.loss, self.step])[0]) for _ in range(steps)]

    def steps(self, steps: int) -> list[tuple[float, float]]:
        taken = []
        for _ in range(steps):
            wall, cpu = time.perf_counter(), time.process_time()
            self._train(self.step)
            taken.append((time.perf_counter() - wall, time.process_time() - cpu))
        return taken

    def _train(self, fetches: Any) -> Any:
        return self.session.run(fetches, self.feeds[next(self.turn) % len(self.feeds)])


def main(module: str) -> None:
    """Answers until its input ends."""
    warnings.simplefilter("ignore")
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    trainer = Trainer(module)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(getattr(trainer, request.pop("do"))(**request)), file=replies, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
