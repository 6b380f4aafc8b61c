"""Firmware of a Muse S Athena: the control channel of the older ones, and everything else in packets of blocks."""

from __future__ import annotations

from typing import Any

from . import athena_packets as packets
from .clock import NANOSECONDS
from .firmware import NOTIFY, WRITE_WITHOUT_RESPONSE, Characteristic, Notification, Service
from .journal import Journal
from .kind import Kind, Specimen
from .muse import MuseFirmware, MusePlan, Shape, made

# Both have the same streams; they differ in the optics' power.
_PRESETS = ("1041", "1042")


class AthenaFirmware(MuseFirmware):
    """EEG, accelerometer, gyroscope, two banks of optics, and the reference electrodes are its streams 0 ... 5.

    Values of a row: see `eeg_samples` and `optics_samples`; motion is as it is.
    """

    first_preset = "1041"
    telemetry_period = NANOSECONDS

    def __init__(self, name: str, journal: Journal, plan: MusePlan) -> None:
        super().__init__(name, journal, plan)
        self._is_start_pending = False
        self._index = 0

    def database(self) -> tuple[Service, ...]:
        control = Characteristic(packets.CONTROL, frozenset({WRITE_WITHOUT_RESPONSE, NOTIFY}))
        data = tuple(Characteristic(uuid, frozenset({NOTIFY})) for uuid in (packets.DATA, packets.SECOND_DATA))
        return (Service(packets.SERVICE, (control, *data)),)

    def shapes(self) -> list[Shape]:
        motion, optics = (52.0, 3, packets.MOTION_PER_BLOCK), (64.0, 8, packets.OPTICS_PER_BLOCK)
        eeg, reference = (256.0, 8, packets.EEG_PER_BLOCK), (29.7, 2, packets.REFERENCE_PER_BLOCK)
        return [eeg, motion, motion, optics, optics, reference]

    def knows_preset(self, preset: str) -> bool:
        return preset in _PRESETS

    def _status(self, now: int) -> dict[str, Any]:
        """Nobody has recorded whether it says its preset as the older ones do; a return takes longer where it does not."""
        return {key: value for key, value in super()._status(now).items() if key != "ps"}

    def starts_by(self, text: str) -> bool:
        """The second of two equal commands starts it; the first alone does nothing."""
        if text != "dc001":
            return False
        self._is_start_pending = not self._is_start_pending
        return not self._is_start_pending

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        self._is_start_pending = False

    def _perform(self, text: str, now: int) -> None:
        if text in ("dc001", "L0", "L1") and not self.in_bootloader:
            if self.starts_by(text):
                self._start(now)
            self._answer(rc=0)
        elif text == "d":
            # The command of the older ones.
            self._answer(rc=1)
        else:
            super()._perform(text, now)

    def _packets(self, now: int) -> list[Notification]:
        eeg, accelerometer, gyroscope, *optics, reference = self._streams
        blocks = []
        while eeg.is_due(now):
            number = self._sequence(eeg)
            values = [value for row in eeg_samples(eeg.take()) for value in row]
            blocks.append(packets.Block(packets.EEG8, number, packets.packed(values, 14)))
        while accelerometer.is_due(now):
            number = self._sequence(accelerometer)
            content = packets.motion(accelerometer.take(), gyroscope.take())
            blocks.append(packets.Block(packets.MOTION, number, content))
        while optics[0].is_due(now):
            number = self._sequence(optics[0])
            values = [value for bank in optics for row in optics_samples(bank.take()) for value in row]
            blocks.append(packets.Block(packets.OPTICS16, number, packets.packed(values, 20)))
        while reference.is_due(now):
            number = self._sequence(reference)
            values = [value for row in eeg_samples(reference.take()) for value in row]
            blocks.append(packets.Block(packets.REFERENCE, number, packets.packed(values, 16)))
        sequence, due = self._telemetry
        if now >= due:
            blocks.append(packets.Block(packets.BATTERY, sequence, packets.battery(self._battery(now))))
            self._telemetry = (sequence + 1, due + self.telemetry_period)
        found = packets.packets(blocks, self._index, (now - self._began) // 1_000_000)
        self._index += len(found)
        return [Notification(packets.DATA, packet) for packet in found]


def eeg_samples(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Row by row, the 14-bit samples that stand for the 16-bit values of `Waveform`."""
    return [tuple((value >> 2) + 8192 for value in row) for row in rows]


def optics_samples(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Row by row, the 20-bit samples."""
    return [tuple(value + 65_536 for value in row) for row in rows]


KINDS = (
    Kind(
        "athena",
        "muse",
        made(AthenaFirmware),
        number=19,
        specimens=(
            Specimen("MuseS-6002", "C0:55:DA:B0:60:02", 61, "6002-ABCD-60B2", scenario="athena", title="Muse S Athena"),
        ),
        kind_of_other="muse",
        is_known_by_address=False,
        values=lambda stream: {"eeg": eeg_samples, "reference": eeg_samples, "optics": optics_samples}.get(stream, list),
        lost=("one notification of several streams lost", "273e0013"),
    ),
)
