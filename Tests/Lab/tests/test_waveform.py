"""The signal and its clock."""

import json
from pathlib import Path

from headsets.clock import NANOSECONDS, SamplingClock
from headsets.truth import read_journal
from headsets.waveform import Waveform, boot_identifier


def test_a_value_is_the_same_wherever_a_block_begins() -> None:
    waveform = Waveform(7, 1234, 0, 3)
    whole = waveform.rows(0, 300)
    assert waveform.rows(60, 10) == whole[60:70]
    assert waveform.rows(299, 1) == whole[299:]


def test_indexes_continue_with_zero() -> None:
    waveform = Waveform(7, 1234, 0, 2)
    assert waveform.rows(0xFFFF_FFFE, 4) == waveform.rows(0xFFFF_FFFE, 2) + waveform.rows(0, 2)


def test_boots_streams_and_seeds_differ() -> None:
    rows = [Waveform(*key).rows(0, 4) for key in ((1, 1, 0, 2), (2, 1, 0, 2), (1, 2, 0, 2), (1, 1, 1, 2))]
    assert len({tuple(row) for row in rows}) == 4
    assert boot_identifier(1, 0) != boot_identifier(1, 1)


def test_24_bits_hold_the_same_values() -> None:
    waveform = Waveform(3, 9, 0, 8)
    raw = waveform.int24(100, 70)
    values = [int.from_bytes(raw[at : at + 3], "little", signed=True) for at in range(0, len(raw), 3)]
    assert values == [value for row in waveform.rows(100, 70) for value in row]


def test_the_clock_and_its_inverse_agree() -> None:
    clock = SamplingClock(5_000, 250.0, crystal_ppm=12.0)
    assert clock.position(4_999) == 0
    assert clock.time(0) == 5_000
    for position in (0, 1, 2, 249, 250, 7_200_000):
        assert clock.position(clock.time(position)) == position + 1
        assert clock.position(clock.time(position) - 1) == position
    assert clock.position(5_000 + NANOSECONDS * 3600) == 900_000 + 10 + 1


def test_a_journal_is_read_back(tmp_path: Path) -> None:
    clocks = [{"first": 4294967290, "began": 0, "microhertz": 250_000_000, "channels": 2}]
    entries = [
        {"time": 0, "event": "boot", "boot": 77, "number": 0, "seed": 5, "clocks": clocks},
        {"time": 40_000_000, "event": "samplingBegan", "boot": 77, "positions": [11]},
        {"time": 80_000_000, "event": "samplingEnded", "boot": 77, "positions": [21]},
        {"time": 120_000_000, "event": "samplingBegan", "boot": 77, "positions": [31]},
    ]
    path = tmp_path / "journal"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries) + '{"time": 9')
    stream = read_journal(path).boots[0].streams[0]
    assert stream.sampled(until=200_000_000) == [(11, 21), (31, 51)]
    assert stream.index(11) == 5
    assert stream.rows(11, 2) == Waveform(5, 77, 0, 2).rows(5, 2)
