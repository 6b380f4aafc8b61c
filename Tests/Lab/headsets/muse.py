"""Firmware of a Muse 2: no memory; text commands, JSON answers, one characteristic for each channel."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import muse_packets as packets
from .clock import NANOSECONDS, SamplingClock
from .firmware import NOTIFY, WRITE_WITHOUT_RESPONSE, Appearance, Characteristic, Firmware, Notification, Service
from .journal import Journal
from .kind import Kind, Rows, Specimen, Values
from .waveform import Waveform, boot_identifier

if TYPE_CHECKING:
    from .description import HeadsetDescription

_TELEMETRY_PERIOD = 10 * NANOSECONDS
_ANSWERS_PER_TURN = 4


@dataclass(frozen=True)
class Preset:
    """Which streams a preset has."""

    eeg: int
    motion: bool
    ppg: bool = False


PRESETS = {
    "20": Preset(5, True),
    "21": Preset(4, True),
    "22": Preset(4, False),
    "50": Preset(5, True, True),
    "51": Preset(4, True, True),
}


@dataclass(frozen=True)
class MusePlan:
    """What one headset is like."""

    seed: int
    serial: str = "2031-TZRW-1324"
    address: str = "00:55:DA:B0:13:24"
    crystal_ppm: float = 12.0
    # The counters begin here at each start; near 65,535 they soon wrap.
    first_sequence: int = 0
    # Without a `k` (or any other command) for so many seconds it stops streaming; 0: never.
    keep_alive_seconds: float = 0.0
    battery_percent: float = 82.0


@dataclass
class _Stream:
    """One kind of packet: its sampling clock, its signal, and the next packet."""

    clock: SamplingClock
    waveform: Waveform
    per_packet: int
    packet: int = 0

    def is_due(self, now: int) -> bool:
        return self.clock.position(now) >= (self.packet + 1) * self.per_packet

    def due(self) -> int:
        return self.clock.time((self.packet + 1) * self.per_packet - 1)

    def take(self) -> list[tuple[int, ...]]:
        rows = self.waveform.rows(self.packet * self.per_packet, self.per_packet)
        self.packet += 1
        return rows


# Rate, channels and samples of a packet of one stream.
Shape = tuple[float, int, int]


class MuseFirmware(Firmware):
    """Each `d` after a halt starts the counters anew, and is a boot of its own in the journal: EEG, accelerometer, gyroscope
    and PPG are its streams 0 ... 3. Values of a row: see `eeg_samples` and `ppg_samples`; motion is as it is.
    """

    first_preset = "21"
    telemetry_period = _TELEMETRY_PERIOD

    def __init__(self, name: str, journal: Journal, plan: MusePlan) -> None:
        super().__init__(name, journal)
        self.plan = plan
        self.preset = self.first_preset
        self.starts = 0
        self.boot = 0
        self.in_bootloader = False
        self._streams: list[_Stream] = []
        self._text = packets.ControlText()
        self._last_command = 0
        self._telemetry = (0, 0)
        self._began = 0
        self._turn_due: int | None = None

    def database(self) -> tuple[Service, ...]:
        notified = (*packets.EEG, packets.GYROSCOPE, packets.ACCELEROMETER, packets.TELEMETRY, *packets.PPG, *packets.UNUSED)
        control = Characteristic(packets.CONTROL, frozenset({WRITE_WITHOUT_RESPONSE, NOTIFY}))
        others = tuple(Characteristic(uuid, frozenset({NOTIFY})) for uuid in sorted(notified))
        return (Service(packets.SERVICE, (control, *others)),)

    def shapes(self) -> list[Shape]:
        """The streams, in the order of the journal."""
        motion = (52.0, 3, packets.MOTION_PER_PACKET)
        return [(256.0, 5, packets.EEG_PER_PACKET), motion, motion, (64.0, 3, packets.PPG_PER_PACKET)]

    def knows_preset(self, preset: str) -> bool:
        """Whether it can be told to send that."""
        return preset in PRESETS

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, (packets.SERVICE,))

    @property
    def is_streaming(self) -> bool:
        """True between `d` and `h`."""
        return bool(self._streams)

    # Power and link

    def power_on(self, now: int) -> None:
        self._began = now
        self.preset = self.first_preset
        self.in_bootloader = False

    def power_off(self, now: int) -> None:
        self.disconnected(now)

    def state(self) -> dict[str, Any]:
        ends = [stream.packet * stream.per_packet for stream in self._streams]
        return {"starts": self.starts, "boot": self.boot, "ends": ends}

    def resume(self, state: dict[str, Any], now: int) -> None:
        """It has stopped with its link; what it sent after the last save is not known and not told."""
        self.starts = int(state["starts"])
        if state["ends"]:
            self.journal.note("samplingEnded", now, boot=state["boot"], positions=state["ends"])
        self.power_on(now)

    def low_power(self, now: int) -> bool:
        """Its bootloader: it answers, but does nothing until `*1`."""
        self._halt(now)
        self.in_bootloader = True
        return True

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        self._halt(now)
        self._text.clear()
        self._turn_due = None

    def _start(self, now: int) -> None:
        if self.is_streaming:
            return
        self.boot = boot_identifier(self.plan.seed, self.starts)
        self._streams = [
            _Stream(
                SamplingClock(now, frequency, self.plan.crystal_ppm),
                Waveform(self.plan.seed, self.boot, number, channels),
                per_packet,
            )
            for number, (frequency, channels, per_packet) in enumerate(self.shapes())
        ]
        self._telemetry = (0, now + self.telemetry_period)
        clocks = [
            {"first": 0, "began": now, "microhertz": s.clock.microhertz, "channels": s.waveform.channels} for s in self._streams
        ]
        self.journal.note(
            "boot", now, boot=self.boot, number=self.starts, seed=self.plan.seed, clocks=clocks, preset=self.preset
        )
        self.journal.note("samplingBegan", now, boot=self.boot, positions=[0] * len(clocks))
        self.starts += 1

    def _halt(self, now: int) -> None:
        if self.is_streaming:
            # Samples that did not fill a packet are gone.
            ends = [stream.packet * stream.per_packet for stream in self._streams]
            self.journal.note("samplingEnded", now, boot=self.boot, positions=ends)
        self._streams = []

    # Commands

    def write(self, uuid: str, value: bytes, now: int) -> None:
        text = packets.command_text(value) if uuid == packets.CONTROL else None
        if text is None:
            return
        self._last_command = now
        self._perform(text, now)
        self._arm(now)

    def _perform(self, text: str, now: int) -> None:
        if text in ("s", "v1", "v4", "v6"):
            if not self.mutes_status:
                self._answer(**(self._status(now) if text == "s" else self._information()))
        elif text == "*1":
            self.requests.append("reboot")
        elif self.in_bootloader:
            self._answer(rc=1)
        elif text == "h":
            self._halt(now)
            self._answer(rc=0)
        elif self.starts_by(text):
            self._start(now)
            self._answer(rc=0)
        elif text.startswith("p") and self.knows_preset(text[1:]):
            self.preset = text[1:]
            self._answer(rc=0)
        else:
            self._answer(rc=0 if text == "k" else 1)

    def starts_by(self, text: str) -> bool:
        """Whether this command starts the streams."""
        return text == "d"

    def _answer(self, **fields: object) -> None:
        self._text.say(json.dumps(fields, separators=(",", ":")))

    def _status(self, now: int) -> dict[str, Any]:
        return {
            "hn": self.name,
            "sn": self.plan.serial,
            "ma": self.plan.address.lower().replace(":", "-"),
            "id": "07473435 32313630 004f003a",
            "bp": round(self._battery(now), 1),
            "ts": 0,
            "ps": int(self.preset, 16),
            "rc": 0,
        }

    def _information(self) -> dict[str, Any]:
        mode = "bootloader" if self.in_bootloader else "headset"
        hardware = {"ap": mode, "sp": "RevE", "tp": "consumer", "hw": "3.1"}
        return hardware | {"bn": 27, "fw": "1.2.13", "bl": "1.2.3", "pv": 1, "rc": 0}

    def _battery(self, now: int) -> float:
        return max(1.0, self.plan.battery_percent - 10 * (now - self._began) / 3600e9)

    # Sending

    def subscribed(self, uuid: str, now: int) -> None:
        self._arm(now)

    def _arm(self, now: int) -> None:
        if self.link is None:
            self._turn_due = None
        elif self._text:
            soon = now + self.link.interval
            self._turn_due = soon if self._turn_due is None else min(self._turn_due, soon)
        elif self.is_streaming and self._turn_due is None:
            # Motion and PPG go along with EEG, at most 47 ms late: half as many turns.
            self._turn_due = self._streams[0].due()

    def next_turn(self, now: int) -> int | None:
        return self._turn_due

    def turn(self, now: int) -> list[Notification]:
        out = [Notification(packets.CONTROL, self._text.next()) for _ in range(_ANSWERS_PER_TURN) if self._text]
        limit = round(self.plan.keep_alive_seconds * NANOSECONDS)
        if limit and now - self._last_command > limit:
            self._halt(now)
        if self.is_streaming:
            out += self._packets(now)
        self._turn_due = None
        self._arm(now)
        return out

    def _packets(self, now: int) -> list[Notification]:
        preset = PRESETS[self.preset]
        eeg, accelerometer, gyroscope, ppg = self._streams
        out = []
        while eeg.is_due(now):
            sequence = self._sequence(eeg)
            channels = eeg_samples(eeg.take())
            out += [
                Notification(packets.EEG[channel], packets.eeg_packet(sequence, channels[channel]))
                for channel in packets.EEG_ORDER
                if channel < preset.eeg
            ]
        for stream, uuid in ((accelerometer, packets.ACCELEROMETER), (gyroscope, packets.GYROSCOPE)):
            while stream.is_due(now):
                sequence = self._sequence(stream)
                rows = stream.take()
                if preset.motion:
                    out.append(Notification(uuid, packets.motion_packet(sequence, rows)))
        while ppg.is_due(now):
            sequence = self._sequence(ppg)
            lights = ppg_samples(ppg.take())
            if preset.ppg:
                out += [
                    Notification(u, packets.ppg_packet(sequence, light)) for u, light in zip(packets.PPG, lights, strict=True)
                ]
        sequence, due = self._telemetry
        if now >= due:
            battery = self._battery(now)
            out.append(Notification(packets.TELEMETRY, packets.telemetry_packet(sequence, battery, 3500 + 7 * battery, 27)))
            self._telemetry = (sequence + 1, due + self.telemetry_period)
        return out

    def _sequence(self, stream: _Stream) -> int:
        return (self.plan.first_sequence + stream.packet) & 0xFFFF

    def statistics(self, now: int) -> dict[str, Any]:
        return {
            "streaming": self.is_streaming,
            "starts": self.starts,
            "boot": self.boot,
            "preset": self.preset,
            "positions": [stream.packet * stream.per_packet for stream in self._streams],
        }


def eeg_samples(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Channel by channel, the 12-bit samples that stand for the 16-bit values of `Waveform`: half of the range around 2048."""
    return [tuple((value >> 5) + 2048 for value in channel) for channel in zip(*rows, strict=True)]


def ppg_samples(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Light by light, the 24-bit samples."""
    return [tuple(value + 65_536 for value in light) for light in zip(*rows, strict=True)]


def made(firmware: type[MuseFirmware]) -> Callable[[HeadsetDescription, Journal], Firmware]:
    """Makes a firmware that shows the description's serial number and address."""

    def make(headset: HeadsetDescription, journal: Journal) -> Firmware:
        identity: dict[str, Any] = {"serial": headset.serial, "address": headset.address}
        return firmware(headset.name, journal, MusePlan(headset.seed, **identity, **headset.details))

    return make


def _values(stream: str) -> Values:
    def eeg(rows: Rows) -> Rows:
        return list(zip(*eeg_samples(rows), strict=True))

    def ppg(rows: Rows) -> Rows:
        return list(zip(*ppg_samples(rows), strict=True))

    return {"eeg": eeg, "ppg": ppg}.get(stream, list)


KINDS = (
    Kind(
        "muse",
        "muse",
        made(MuseFirmware),
        number=19,
        specimens=(Specimen("Muse-1324", "C0:55:DA:B0:13:24", 31, "2031-TZRW-1324", scenario="muse", title="Muse"),),
        other=Specimen("Muse-0666", "C0:55:DA:B0:06:66", 3166, "2031-TZRW-0666"),
        is_known_by_address=False,
        values=_values,
        scenarios=("bluetoothd", "away-60s"),
        # TP9.
        lost=("one notification of one channel lost", "273e0003"),
        stall_seconds=5,
    ),
)
