"""Random numbers of TensorFlow and StableHLO: Philox 4x32, Threefry 2x32 and their words' use."""

from __future__ import annotations

import numpy as np

_MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
_STEPS = np.array([0x9E3779B9, 0xBB67AE85], np.uint64)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_WORD = 2**32
_GROUP = 4
"""Words of a counter, and numbers of a group that shares a stretch of the stream."""
_RESERVED = 256
"""Counters a group of numbers has for itself when some may be drawn again."""
_LIMIT = 2.0
"""Where a truncated normal is cut off."""
_TINY = np.float32(1e-7)
_PARITY = 0x1BD11BDA
_BLOCK = 256  # words that are computed at once where they are taken one by one
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


class Philox:
    """A stream of random words that can be entered anywhere.

    Args:
        seed, seed2: Those of an operation; both 0 for fresh ones.

    Attributes:
        memory: Where it stands: the key, and the halves of the counter, the lower one first. Its
            kernels (kernels/elementwise/draws.py) read and change this.
    """

    def __init__(self, seed: int, seed2: int):
        if not seed and not seed2:
            fresh = np.random.SeedSequence().generate_state(2, np.uint64)
            seed, seed2 = int(fresh[0]), int(fresh[1])
        self.memory = np.array([seed % 2**64, 0, seed2 % 2**64], np.uint64)

    @classmethod
    def at(cls, key: int, counter: int) -> Philox:
        """The stream of a 64-bit key from a 128-bit counter on."""
        stream = cls(1, 0)
        stream.memory[:] = key % 2**64, counter % 2**64, (counter >> 64) % 2**64
        return stream

    def skip(self, counters: int) -> None:
        """Leaves out so many counters, four words each."""
        start = (int(self.memory[1]) | int(self.memory[2]) << 64) + counters
        self.memory[1:] = start % 2**64, (start >> 64) % 2**64

    def advanced(self, counters: int) -> Philox:
        """The same stream, so many counters further on."""
        stream = Philox(1, 0)
        stream.memory[:] = self.memory
        stream.skip(counters)
        return stream

    def words(self, offsets: np.ndarray) -> np.ndarray:
        """The four words at each of the counters `offsets` from here: [..., 4] uint64."""
        offsets = np.asarray(offsets, np.uint64)
        with np.errstate(over="ignore"):
            lower = offsets + self.memory[1]
            upper = self.memory[2] + (lower < offsets).astype(np.uint64)
            counter = [lower & _LOW, lower >> _HALF, upper & _LOW, upper >> _HALF]
            return np.stack(self._rounds(counter), -1)

    def _rounds(self, counter: list[np.ndarray]) -> list[np.ndarray]:
        key = [self.memory[0] & _LOW, self.memory[0] >> _HALF]
        a, b, c, d = counter
        for _ in range(10):
            first, second = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
            a, b, c, d = (
                (second >> _HALF) ^ b ^ key[0],
                second & _LOW,
                (first >> _HALF) ^ d ^ key[1],
                first & _LOW,
            )
            key = [(k + step) & _LOW for k, step in zip(key, _STEPS, strict=True)]
        return [a, b, c, d]

    def stream(self, count: int) -> np.ndarray:
        """The next `count` words, from the counter where the stream stands on."""
        return self.words(np.arange(-(-count // _GROUP))).ravel()[:count]


class Words:
    """The words of a stream one by one, as TensorFlow's kernels on the CPU draw them."""

    def __init__(self, stream: Philox):
        self._stream, self._next = stream, 0
        self._block: list[int] = []

    def word(self) -> int:
        """32 bits."""
        at = self._next % _BLOCK
        if not at:
            counters = np.arange(self._next // _GROUP, (self._next + _BLOCK) // _GROUP)
            self._block = self._stream.words(counters).ravel().tolist()
        self._next += 1
        return self._block[at]

    def double(self) -> float:
        """A number in [0, 1) of 52 bits, as `uniform_floats` makes it."""
        high = self.word() & 0xFFFFF
        return (high << 32 | self.word()) * 2.0**-52

    def single(self) -> float:
        """A number in [0, 1) of 23 bits, as `uniform_floats` makes it."""
        return (self.word() & 0x7FFFFF) * 2.0**-23

    def below(self, n: int, bits: int) -> int:
        """A whole number in [0, n), from 32 or 64 bits; those that would favour some are left."""
        skew = 2**bits % n
        while True:
            word = self.word()
            word |= self.word() << 32 if bits == 64 else 0
            if n & (n - 1) == 0:
                return word & (n - 1)
            if word >= skew:
                return word % n


def threefry(key: int, counters: np.ndarray) -> np.ndarray:
    """The two words that Threefry 2x32 makes of each 64-bit counter in 20 rounds: [n, 2] uint32.

    Source: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011.
    """
    keys = [key % _WORD, (key >> 32) % _WORD]
    keys = [np.uint32(word) for word in (*keys, keys[0] ^ keys[1] ^ _PARITY)]
    with np.errstate(over="ignore"):
        first = (counters & _LOW).astype(np.uint32) + keys[0]
        second = (counters >> _HALF).astype(np.uint32) + keys[1]
        for group in range(5):
            for bits in _ROTATIONS[group % 2]:
                first = first + second
                second = (second << np.uint32(bits) | second >> np.uint32(32 - bits)) ^ first
            first = first + keys[(group + 1) % 3]
            second = second + keys[(group + 2) % 3] + np.uint32(group + 1)
    return np.stack([first, second], -1)


def uniform_floats(words: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Numbers in [0, 1) from words, one for each (two words for float64)."""
    if dtype == np.float64:
        high, low = words[0::2] & np.uint64(0xFFFFF), words[1::2]
        bits = (np.uint64(1023) << np.uint64(52)) | (high << _HALF) | low
        return bits.view(np.float64) - 1.0
    if dtype == np.float16:
        bits = (np.uint16(15) << np.uint16(10)) | (words & np.uint64(0x3FF)).astype(np.uint16)
        return bits.view(np.float16) - np.float16(1)
    bits = (np.uint32(127) << np.uint32(23)) | (words & np.uint64(0x7FFFFF)).astype(np.uint32)
    return (bits.view(np.float32) - np.float32(1)).astype(dtype)


def normal_pairs(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two normal numbers from each pair of words, by the method of Box and Muller in float32."""
    radius = np.maximum(uniform_floats(first, np.dtype(np.float32)), _TINY)
    angle = np.float32(2 * np.pi) * uniform_floats(second, np.dtype(np.float32))
    length = np.sqrt(np.float32(-2) * np.log(radius))
    return np.sin(angle) * length, np.cos(angle) * length


def _normal_doubles(words: np.ndarray) -> np.ndarray:
    """Two normal numbers from each four words, in float64."""
    numbers = uniform_floats(words, np.dtype(np.float64))
    radius, angle = np.maximum(numbers[0::2], 1e-7), 2 * np.pi * numbers[1::2]
    length = np.sqrt(-2 * np.log(radius))
    return np.stack([np.sin(angle) * length, np.cos(angle) * length], -1).ravel()


def uniform(stream: Philox, count: int, dtype: np.dtype) -> np.ndarray:
    """`count` numbers in [0, 1)."""
    per_number = 2 if dtype == np.float64 else 1
    return uniform_floats(stream.stream(count * per_number), dtype)


def normal(stream: Philox, count: int, dtype: np.dtype) -> np.ndarray:
    """`count` normal numbers."""
    if dtype == np.float64:
        return _normal_doubles(stream.stream(-(-count // 2) * 4))[:count]
    words = stream.stream(-(-count // 2) * 2)
    pairs = normal_pairs(words[0::2], words[1::2])
    return np.stack(pairs, -1).ravel()[:count].astype(dtype)


def truncated_normal(stream: Philox, count: int, dtype: np.dtype) -> np.ndarray:
    """`count` normal numbers, those beyond two standard deviations drawn again.

    Each group of four (two of float64) has a stretch of the stream for itself.
    """
    size = 2 if dtype == np.float64 else _GROUP
    groups = -(-count // size)
    skip = size * _RESERVED // _GROUP
    result = np.empty((groups, size), np.float64 if dtype == np.float64 else np.float32)
    filled = np.zeros(groups, np.int64)
    step = 0
    while (filled < size).any():
        open_groups = np.flatnonzero(filled < size)
        words = stream.words(open_groups * skip + step)
        if dtype == np.float64:
            tries = _normal_doubles(words.ravel()).reshape(-1, 2)
        else:
            pairs = normal_pairs(words[:, 0::2].ravel(), words[:, 1::2].ravel())
            tries = np.stack(pairs, -1).reshape(-1, _GROUP)
        for column in tries.T:
            fits = (np.abs(column) < _LIMIT) & (filled[open_groups] < size)
            rows = open_groups[fits]
            result[rows, filled[rows]] = column[fits]
            filled[rows] += 1
        step += 1
    return result.ravel()[:count].astype(dtype)


def integers(stream: Philox, count: int, low: int, high: int, dtype: np.dtype) -> np.ndarray:
    """`count` whole numbers in [low, high)."""
    span = np.uint64((high - low) % 2**64)
    if dtype.itemsize == 8:
        words = stream.stream(2 * count)
        numbers = words[0::2] | (words[1::2] << _HALF)
    else:
        numbers = stream.stream(count)
    return (numbers % span + np.uint64(low % 2**64)).astype(dtype)
