"""Bytes of the OpenBCI Ganglion, firmware 2 and 3.

Source: OpenBCI's firmware library 2.0.1 and 3.0.2, Definitions_Ganglion.h and OpenBCI_Ganglion_Library.cpp. No capture of
firmware 3 is public: what it packs here follows from its source.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

SERVICE = "FE84"
DATA = "2d30c082-f39f-4ce6-923f-3484ea480596"
COMMAND = "2d30c083-f39f-4ce6-923f-3484ea480596"
DISCONNECT = "2d30c084-f39f-4ce6-923f-3484ea480596"

PACKET_LENGTH = 20
# Sampling instants of one cycle of packet identifiers, in both firmwares.
CYCLE = 201
CHANNELS = 4
FREQUENCY = 200.0
_TEXT_LENGTH = PACKET_LENGTH - 1
_TEXT_CONTINUES, _TEXT_ENDS = 206, 207

Row = Sequence[int]


def width(accelerometer: bool) -> int:
    """Bits of a channel's field: the accelerometer takes the place of one bit of each."""
    return 18 if accelerometer else 19


def packed(fields: Sequence[int], bits: int) -> bytes:
    """Fields one after the other, highest bit first; the last byte is filled up with 0."""
    value = 0
    for field in fields:
        value = value << bits | field & (1 << bits) - 1
    total = len(fields) * bits
    length = -(-total // 8)
    return (value << length * 8 - total).to_bytes(length, "big")


def difference_field(difference: int) -> int:
    """Firmware 2: a difference (previous less current) whose lowest bit repeats the sign."""
    return difference | 1 if difference < 0 else difference & ~1


def truncated_field(sample: int, bits: int) -> int:
    """Firmware 3: the highest bits of a 24-bit sample; the lowest of them repeats the sign."""
    return difference_field(sample >> 24 - bits)


def raw_packet(row: Row) -> bytes:
    """Firmware 2, identifier 0: the first sample of a cycle, whole."""
    values = b"".join((value & 0xFF_FFFF).to_bytes(3, "big") for value in row)
    return (b"\0" + values).ljust(PACKET_LENGTH, b"\0")


def difference_packet(place: int, before: Row, first: Row, second: Row, axis: int | None) -> bytes:
    """Firmware 2, packet `place` (1 ... 100) of a cycle: two samples as differences; `axis` with the accelerometer on."""
    fields = [difference_field(b - a) for b, a in zip(before, first, strict=True)]
    fields += [difference_field(b - a) for b, a in zip(first, second, strict=True)]
    return _sample_packet(place if axis is not None else place + 100, fields, axis)


def truncated_packet(place: int, first: Row, second: Row, axis: int | None) -> bytes:
    """Firmware 3, packet `place` (0 ... 99) of a cycle: two truncated samples."""
    bits = width(axis is not None)
    fields = [truncated_field(value, bits) for value in (*first, *second)]
    return _sample_packet(place if axis is not None else place + 100, fields, axis)


def _sample_packet(identifier: int, fields: list[int], axis: int | None) -> bytes:
    body = packed(fields, width(axis is not None))
    return bytes([identifier]) + body + (b"" if axis is None else bytes([axis & 0xFF]))


def received(version: int, rows: Sequence[Row], accelerometer: bool) -> list[tuple[int, ...]]:
    """What a host makes of the samples of one cycle, from its first: firmware 2 by the rule of OpenBCI's own library.

    Firmware 3 never sends the last of 201 samples; it is among the rows all the same.
    """
    if version == 3:
        drop = 24 - width(accelerometer)
        return [tuple((value >> drop & ~1) << drop for value in row) for row in rows]
    received_rows = [tuple(rows[0])] if rows else []
    for before, row in itertools.pairwise(rows):
        latest = received_rows[-1]
        received_rows.append(tuple(v - difference_field(b - a) for v, b, a in zip(latest, before, row, strict=True)))
    return received_rows


def impedance_packet(channel: int, kiloohms: int) -> bytes:
    """Identifier 201 ... 204 for channels 1 ... 4, 205 for the reference: digits and a Z."""
    return (bytes([200 + channel]) + f"{kiloohms}Z".encode()).ljust(PACKET_LENGTH, b"\0")


def text_packets(text: str) -> list[bytes]:
    """A text in packets of 19 characters: 206 as long as more follows, 207 for the last."""
    encoded = text.encode("ascii")
    parts = [encoded[at : at + _TEXT_LENGTH] for at in range(0, len(encoded), _TEXT_LENGTH)] or [b""]
    last = len(parts) - 1
    return [
        (bytes([_TEXT_ENDS if number == last else _TEXT_CONTINUES]) + part).ljust(PACKET_LENGTH, b"\0")
        for number, part in enumerate(parts)
    ]
