"""Tokens per second of a language model's decoder, beside LiteRT: prefill and decode apart.

    python benchmarks/decoder.py [--variants int8,int4_32] [--threads 1,2] [--rounds 9]

The decoder has 4 layers of width 512, 8 heads, gated layers of 1408 and 4096 tokens; keys, values
of 256 steps lie in caches that are inputs and outputs. Prefill runs 64 tokens at once, decode one.
Weights are seeded noise, written in every variant by decoder_model.py. Both libraries run the files
through their CompiledModel, whose caches are one buffer for input and output, in turns in one
process. Where LiteRT does not run a variant, the one it is compared with is named. Before anything
is timed the logits of 64 + 8 tokens are compared.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import tempfile
import time
from importlib import import_module
from pathlib import Path

import numpy as np
from decoder_model import CACHE, DEPTH, HEADS, PROMPT, TOKENS, VARIANTS, write
from rich.console import Console
from rich.table import Table

LIBRARIES = {"flatlite": "flatlite.litert", "LiteRT": "ai_edge_litert.compiled_model"}
STAND_INS = {"int8_32": "int8", "int8_128": "int8"}
"""Variants that LiteRT does not run -> which of its own stands beside them."""
STEPS = 16  # tokens of a round
WARM_UP = 30
"""Runs of each file that are not counted: in the first ones flatlite tries how to share work."""


class Refusal(Exception):
    """A library does not run a file; the text says why."""


class Decoder:
    """A decoder in one library: its two files, and the caches.

    Raises Refusal where it does not run them.
    """

    def __init__(self, library: str, files: dict[str, Path], threads: int):
        module = import_module(LIBRARIES[library])
        try:
            options = self._options(module, threads)
            self._models = {
                name: module.CompiledModel.from_file(str(path), **options)
                for name, path in files.items()
            }
            self._buffers = {}
            for name, model in self._models.items():
                keys = model.get_signature_by_index(0)
                inputs = dict(zip(keys["inputs"], model.create_input_buffers(0), strict=True))
                outputs = dict(zip(keys["outputs"], model.create_output_buffers(0), strict=True))
                self._buffers[name] = inputs, outputs
            caches = [key for key in self._buffers["decode"][0] if key.startswith("cache")]
            self._caches = {key: self._buffers["decode"][0][key] for key in caches}
            for buffer in self._caches.values():  # LiteRT's have any bytes at first, nan too
                buffer.write(np.zeros((1, HEADS, CACHE, DEPTH), np.float32))
            for inputs, outputs in self._buffers.values():
                inputs.update(self._caches)
                outputs.update({f"new_{key}": buffer for key, buffer in self._caches.items()})
            self.prefill(np.zeros(PROMPT, np.int32))
            self.decode(0, PROMPT)
        except (RuntimeError, ValueError, TypeError, AttributeError) as error:
            raise Refusal((str(error).splitlines() or [type(error).__name__])[0]) from error

    @staticmethod
    def _options(module, threads: int) -> dict:
        if module.__name__.startswith("flatlite"):
            options = module.Options(cpu_options=module.CpuOptions(num_threads=threads))
            return {"options": options}
        accelerator = import_module("ai_edge_litert.hardware_accelerator").HardwareAccelerator.CPU
        options = import_module("ai_edge_litert.options")
        cpu = options.CpuOptions(num_threads=threads)
        chosen = options.Options(hardware_accelerators=accelerator, cpu_options=cpu)
        return {"options": chosen}

    def prefill(self, tokens: np.ndarray) -> np.ndarray:
        """The logits after PROMPT tokens, from the first step on."""
        return self._run("prefill", tokens, 0)

    def decode(self, token: int, position: int) -> np.ndarray:
        """The logits after one more token."""
        return self._run("decode", np.int32([token]), position)

    def _run(self, name: str, tokens: np.ndarray, position: int) -> np.ndarray:
        inputs, outputs = self._buffers[name]
        inputs["tokens"].write(tokens.astype(np.int32).reshape(1, -1))
        inputs["position"].write(np.int32([position]))
        self._models[name].run_by_index(0, list(inputs.values()), list(outputs.values()))
        return outputs["logits"].read(TOKENS, np.float32)


def logits(decoder: Decoder) -> np.ndarray:
    """Those after a prompt and 8 more tokens, the same for everybody."""
    random = np.random.default_rng(3)
    rows = [decoder.prefill(random.integers(0, TOKENS, PROMPT))]
    rows += [decoder.decode(int(random.integers(TOKENS)), PROMPT + i) for i in range(8)]
    return np.array(rows)


def one_round(decoder: Decoder) -> dict[str, float]:
    """Tokens per second of a prompt, and of STEPS tokens after it."""
    start = time.perf_counter()
    decoder.prefill(np.arange(PROMPT))
    middle = time.perf_counter()
    for i in range(STEPS):
        decoder.decode(i, PROMPT + i)
    end = time.perf_counter()
    return {"prefill": PROMPT / (middle - start), "decode": STEPS / (end - middle)}


def measure(decoders: dict[str, Decoder], rounds: int) -> dict[str, dict[str, float]]:
    """Medians of tokens per second of each, which take turns."""
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in decoders}
    for decoder in decoders.values():
        for i in range(WARM_UP):
            decoder.prefill(np.arange(PROMPT))
            decoder.decode(i, PROMPT + i)
    gc.collect()
    gc.disable()
    for turn in range(rounds + 1):
        for name in list(decoders)[:: -1 if turn % 2 else 1]:
            result = one_round(decoders[name])
            if turn:
                taken[name].append(result)
    gc.enable()
    return {
        name: {k: statistics.median(one[k] for one in results) for k in results[0]}
        for name, results in taken.items()
    }


def compared(variant: str, folder: Path, threads: int, rounds: int) -> dict:
    """The figures of one variant."""
    files = {name: folder / f"{variant}_{name}.tflite" for name in ("prefill", "decode")}
    ours, beside = Decoder("flatlite", files, threads), variant
    try:
        theirs = Decoder("LiteRT", files, threads)
    except Refusal as refusal:
        if variant not in STAND_INS:
            raise
        beside = STAND_INS[variant]
        stand_ins = {name: folder / f"{beside}_{name}.tflite" for name in files}
        theirs, why = Decoder("LiteRT", stand_ins, threads), str(refusal)
    rows = logits(ours), logits(theirs)
    difference = float(np.abs(rows[0] - rows[1]).max() / np.abs(rows[1]).max())
    result = {"variant": variant, "threads": threads, "beside": beside, "difference": difference}
    if beside != variant:
        result["refusal"] = why
    return result | measure({"flatlite": ours, "LiteRT": theirs}, rounds)


def show(results: list[dict], console: Console) -> None:
    """Prints a table."""
    table = Table(title=f"tokens per second, prefill of {PROMPT} / decode, cache of {CACHE}")
    headings = ["variant", "threads", "flatlite", "LiteRT", "flatlite / LiteRT"]
    for heading in (*headings, "LiteRT's file", "logits differ by"):
        table.add_column(heading, justify="left" if heading == "variant" else "right")
    for one in results:
        pairs = [(one["flatlite"][k], one["LiteRT"][k]) for k in ("prefill", "decode")]
        cells = [" / ".join(f"{pair[i]:,.0f}" for pair in pairs) for i in range(2)]
        ratio = " / ".join(f"{ours / theirs:.2f}" for ours, theirs in pairs)
        last = (one["beside"], f"{one['difference']:.1e}")
        table.add_row(one["variant"], str(one["threads"]), *cells, ratio, *last)
    console.print(table)
    for reason in {f"{x['variant']}: {x['refusal']}" for x in results if "refusal" in x}:
        console.print(f"- LiteRT refuses {reason}", markup=False, highlight=False)


def main() -> None:
    """Writes the files, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console, results = Console(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for variant in VARIANTS:
            for kind, steps in (("prefill", PROMPT), ("decode", 1)):
                (folder / f"{variant}_{kind}.tflite").write_bytes(write(variant, steps))
        for variant in arguments.variants.split(","):
            for threads in map(int, arguments.threads.split(",")):
                results.append(compared(variant, folder, threads, arguments.rounds))
                if arguments.json:
                    arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    show(results, console)


if __name__ == "__main__":
    main()
