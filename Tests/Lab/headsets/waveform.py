"""What the headsets measure: a pure function of seed, boot identifier, stream, index and channel.

So no memory has to be filled sample by sample, and a checker computes again what must have been stored. It is white noise
of 16 bits: unlike a pretty waveform it shows every shift of a channel or an index. 64 sampling periods come from one
SHAKE-128 digest, which costs less than 0.1 µs a value.
"""

from __future__ import annotations

import hashlib
import struct
from functools import lru_cache

_PERIODS_PER_DIGEST = 64
_INDEX_MASK = 0xFFFF_FFFF
# The third byte of a 24-bit integer whose second byte is known: the sign again.
_SIGN_EXTENSION = bytes(0xFF if value & 0x80 else 0 for value in range(256))


@lru_cache(maxsize=256)
def _digest(seed: int, boot: int, stream: int, channels: int, number: int) -> bytes:
    key = struct.pack("<QIBI", seed & 0xFFFF_FFFF_FFFF_FFFF, boot, stream, number)
    return hashlib.shake_128(key).digest(_PERIODS_PER_DIGEST * channels * 2)


class Waveform:
    """The signal of one stream in one boot."""

    def __init__(self, seed: int, boot: int, stream: int, channels: int) -> None:
        self.seed = seed
        self.boot = boot
        self.stream = stream
        self.channels = channels

    def int16(self, index: int, count: int) -> bytes:
        """Values of `count` periods from an index (modulo 2^32), channels of a period together, little-endian int16."""
        size = self.channels * 2
        parts = []
        while count > 0:
            index &= _INDEX_MASK
            number, offset = divmod(index, _PERIODS_PER_DIGEST)
            taken = min(count, _PERIODS_PER_DIGEST - offset)
            digest = _digest(self.seed, self.boot, self.stream, self.channels, number)
            parts.append(digest[offset * size : (offset + taken) * size])
            index += taken
            count -= taken
        return b"".join(parts)

    def int24(self, index: int, count: int) -> bytes:
        """The same values as little-endian 24-bit integers."""
        values = self.int16(index, count)
        wide = bytearray(len(values) // 2 * 3)
        wide[0::3] = values[0::2]
        wide[1::3] = values[1::2]
        wide[2::3] = values[1::2].translate(_SIGN_EXTENSION)
        return bytes(wide)

    def rows(self, index: int, count: int) -> list[tuple[int, ...]]:
        """The same values, a tuple of channels for each period."""
        return list(struct.iter_unpack(f"<{self.channels}h", self.int16(index, count)))


def boot_identifier(seed: int, boots: int) -> int:
    """The boot identifier of a headset's boot number `boots`, from 0; never 0."""
    digest = hashlib.sha256(struct.pack("<QI", seed & 0xFFFF_FFFF_FFFF_FFFF, boots)).digest()
    return int.from_bytes(digest[:4], "little") or 1
