"""Random numbers that follow from a seed alone, or from the key and counter that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...engine import philox
from ...engine.philox import Philox
from ..core.registry import op
from ..core.shapes import as_shape

if TYPE_CHECKING:
    from ..core.dtype import DType

    Draw: TypeAlias = Callable[[Philox, int, np.dtype], np.ndarray]

_KEY = 0x02461E293EC8F720
"""The key of the draw that makes key and counter of a seed."""
PHILOX, AUTOMATIC = 1, 3
"""Numbers of algorithms, as TensorFlow counts them."""


def _key_and_counter(seed: np.ndarray) -> tuple[int, int]:
    """The 64-bit key and 128-bit counter of a pair of numbers: a first draw from them."""
    if seed.shape != (2,):
        raise ValueError(f"seed must have shape [2], not {list(seed.shape)}")
    low, high = (int(number) % 2**64 for number in seed)
    mixed = [int(word) for word in Philox.at(_KEY, low | high << 64).words(np.zeros(1))[0]]
    return mixed[0] | mixed[1] << 32, (mixed[2] | mixed[3] << 32) << 64


def stream_of(seed: np.ndarray) -> Philox:
    """The stream of a pair of numbers."""
    return Philox.at(*_key_and_counter(seed))


def stream_at(key: np.ndarray, counter: np.ndarray, algorithm: np.ndarray) -> Philox:
    """The stream of a key from a counter on."""
    if algorithm not in (PHILOX, AUTOMATIC):
        raise ValueError(f"alg must be {PHILOX} (Philox) or {AUTOMATIC}, got {algorithm}")
    if key.shape != (1,) or counter.shape != (2,):
        shapes = list(key.shape), list(counter.shape)
        raise ValueError(f"key must have shape [1] and counter [2], got {shapes[0]}, {shapes[1]}")
    low, high = (int(number) for number in counter)
    return Philox.at(int(key[0]), low | high << 64)


@op("StatelessRandomGetKeyCounter", shape=lambda op: [(1,), (2,)])
def get_key_counter(seed: np.ndarray) -> list[np.ndarray]:
    """The key and the counter that a seed stands for."""
    key, counter = _key_and_counter(seed)
    return [np.array([key], np.uint64), np.array([counter % 2**64, counter >> 64], np.uint64)]


@op("StatelessRandomGetKeyCounterAlg", shape=lambda op: [(1,), (2,), ()])
def get_key_counter_and_algorithm(seed: np.ndarray) -> list[np.ndarray]:
    """The key and the counter that a seed stands for, and the algorithm of the CPU."""
    return [*get_key_counter(seed), get_algorithm()]


@op("StatelessRandomGetAlg", shape=lambda op: (), pure=False)
def get_algorithm() -> np.ndarray:
    """That of the CPU."""
    return np.array(PHILOX, np.int32)


def full_integers(stream: Philox, count: int, dtype: np.dtype) -> np.ndarray:
    """Whole numbers of which all that the type has are as likely."""
    if dtype.itemsize == 8:
        words = stream.stream(2 * count)
        numbers = words[0::2] | (words[1::2] << np.uint64(32))
    else:
        numbers = stream.stream(count).astype(np.uint32)
    return numbers.view(dtype)


def _add(kind: str, draw: Draw) -> None:
    """Registers two ops that draw numbers of their attribute dtype: by seed, and by counter."""

    @op(kind, shape=lambda op: as_shape(op, 0))
    def by_seed(shape: np.ndarray, seed: np.ndarray, *, dtype: DType) -> np.ndarray:
        sizes = tuple(shape.tolist())
        return draw(stream_of(seed), prod(sizes), np.dtype(dtype)).reshape(sizes)

    @op(f"{kind}V2", shape=lambda op: as_shape(op, 0))
    def by_counter(
        shape: np.ndarray, key: np.ndarray, counter: np.ndarray, alg: np.ndarray, *, dtype: DType
    ) -> np.ndarray:
        sizes, stream = tuple(shape.tolist()), stream_at(key, counter, alg)
        return draw(stream, prod(sizes), np.dtype(dtype)).reshape(sizes)


_add("StatelessRandomUniform", philox.uniform)
_add("StatelessRandomNormal", philox.normal)
_add("StatelessTruncatedNormal", philox.truncated_normal)
_add("StatelessRandomUniformFullInt", full_integers)


def _integers(stream: Philox, shape: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Whole numbers in [low, high), of their type."""
    if low >= high:
        raise ValueError(f"Need minval < maxval, got {low} >= {high}")
    sizes = tuple(shape.tolist())
    return philox.integers(stream, prod(sizes), int(low), int(high), low.dtype).reshape(sizes)


@op("StatelessRandomUniformInt", shape=lambda op: as_shape(op, 0))
def uniform_integers(
    shape: np.ndarray, seed: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Whole numbers in [low, high)."""
    return _integers(stream_of(seed), shape, low, high)


@op("StatelessRandomUniformIntV2", shape=lambda op: as_shape(op, 0))
def uniform_integers_by_counter(
    shape: np.ndarray,
    key: np.ndarray,
    counter: np.ndarray,
    alg: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """Whole numbers in [low, high)."""
    return _integers(stream_at(key, counter, alg), shape, low, high)


XLA_THREEFRY = 1
"""The number of an algorithm, as XLA counts them; the others are Philox."""


@op("XlaRngBitGenerator", shape=lambda op: [op.inputs[1].sizes, as_shape(op, 2)])
def rng_bit_generator(
    algorithm: np.ndarray, state: np.ndarray, shape: np.ndarray, *, dtype: DType
) -> list[np.ndarray]:
    """The state after one of a key and a counter, and random bits of Philox or Threefry.

    Of Philox the counter's upper half comes last; it is the key where the state has two numbers.
    """
    sizes, element = tuple(shape.tolist()), np.dtype(dtype)
    n_words = prod(sizes) * max(element.itemsize // 4, 1)
    is_threefry = int(algorithm) == XLA_THREEFRY
    n_counters = -(-n_words // (2 if is_threefry else 4))
    key, counter = int(state[0]), int(state[1])
    if is_threefry:
        with np.errstate(over="ignore"):
            counters = np.arange(n_counters, dtype=np.uint64) + state[1]
        words = philox.threefry(key, counters)
    else:
        words = Philox.at(key, int(state[-1 if state.size == 3 else 0]) << 64 | counter).words(
            np.arange(n_counters)
        )
    following = state.copy()
    following[1] = (counter + n_counters) % 2**64
    bits = words.ravel()[:n_words].astype(np.uint32)
    numbers = bits.astype(element) if element.itemsize < 4 else bits.view(element)
    return [following, numbers.reshape(sizes)]
