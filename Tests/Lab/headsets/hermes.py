"""Firmware of a RE-AK Nucleus-Kit headset ("Hermes V1"): it streams while its data characteristic is subscribed.

Source: the vendor's public firmware (Alchmiac-fw). It advertises no service. Its counter goes on over connections, and has
only 128 values: after 5.12 s it looks the same again.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from .clock import SamplingClock
from .firmware import NOTIFY, READ, WRITE_WITHOUT_RESPONSE, Appearance, Characteristic, Firmware, Notification, Service
from .journal import Journal
from .kind import Kind, Specimen
from .waveform import Waveform, boot_identifier


def _uuid(number: int) -> str:
    return f"9fa4{number:04x}-4967-11e5-a151-0002a5d5c51b"


EEG_SERVICE, EEG_DATA, EEG_CONFIGURATION = _uuid(0x80E0), _uuid(0x80E1), _uuid(0x80E2)
MOTION_SERVICE, MOTION_DATA = _uuid(0x8200), _uuid(0x8201)
EVENT_SERVICE, EVENT_DATA = _uuid(0x8300), _uuid(0x8301)

COUNTER_MODULUS = 128
CHANNELS = 8
SAMPLES_PER_PACKET = 10
_EEG_FREQUENCY = 250.0
# The firmware reads the sensors by a timer of 20 ms.
_MOTION_FREQUENCY = 50.0
# Accelerometer, gyroscope, magnetometer: three axes each.
_MOTION_STREAMS, _AXES = 3, 3
_SIGN_EXTENSION = bytes(0xFF if value & 0x80 else 0 for value in range(256))
# What the maker of the radio's example puts there: version, device, two groups of functions; then the address.
_MANUFACTURER_PREFIX = bytes.fromhex("018300000000")


def eeg_packet(counter: int, values: bytes) -> bytes:
    """A counter and ten times eight samples of 24 bits, highest byte first; `values` are little-endian int16."""
    wide = bytearray(len(values) // 2 * 3)
    wide[0::3] = values[1::2].translate(_SIGN_EXTENSION)
    wide[1::3] = values[1::2]
    wide[2::3] = values[0::2]
    return bytes([counter % COUNTER_MODULUS]) + bytes(wide)


def event_packet(kind: int, source: int, counter: int) -> bytes:
    """A button: 1 pressed, 3 long, 4 double; 1 A, 2 B; the counter of the EEG packet at that time."""
    return bytes([kind, source, counter % COUNTER_MODULUS])


@dataclass(frozen=True)
class HermesPlan:
    """What one headset is like."""

    seed: int
    address: str = "00:80:E1:00:00:01"
    crystal_ppm: float = 12.0
    first_counter: int = 0


class HermesFirmware(Firmware):
    """Each subscription to the data is a boot of its own in the journal, with the counter of its first packet; EEG is its
    stream 0, the three sensors of motion are 1 to 3. Samples are the 16-bit values of `Waveform`.
    """

    def __init__(self, name: str, journal: Journal, plan: HermesPlan) -> None:
        super().__init__(name, journal)
        self.plan = plan
        self.starts = 0
        self.boot = 0
        self.counter = plan.first_counter
        self._is_stopped = False
        # The last command, which a read of the configuration gives back.
        self._command = b""
        self._clocks: list[SamplingClock] = []
        self._waveforms: list[Waveform] = []
        self._packets = 0
        self._motions = 0
        self._events: list[bytes] = []
        self._turn_due: int | None = None

    def database(self) -> tuple[Service, ...]:
        notify = frozenset({NOTIFY})
        configuration = Characteristic(EEG_CONFIGURATION, frozenset({READ, WRITE_WITHOUT_RESPONSE}))
        return (
            Service(EEG_SERVICE, (Characteristic(EEG_DATA, notify), configuration)),
            Service(MOTION_SERVICE, (Characteristic(MOTION_DATA, notify),)),
            Service(EVENT_SERVICE, (Characteristic(EVENT_DATA, notify),)),
        )

    def appearance(self, pairing: bool) -> Appearance:
        address = bytes.fromhex(self.plan.address.replace(":", ""))
        return Appearance(self.name, (), _MANUFACTURER_PREFIX + address)

    # Power and link

    def power_on(self, now: int) -> None:
        self.counter = self.plan.first_counter
        self._is_stopped = False
        self._command = b""
        self._events = []

    def power_off(self, now: int) -> None:
        self.disconnected(now)

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        self._stop(now)
        self._turn_due = None

    def state(self) -> dict[str, Any]:
        held = {"counter": self.counter, "command": self._command.hex(), "stopped": self._is_stopped}
        return {"starts": self.starts, "boot": self.boot, "ends": self._ends(), **held}

    def resume(self, state: dict[str, Any], now: int) -> None:
        """It has stopped with its link; what it sent after the last save is not known and not told."""
        self.power_on(now)
        self.starts, self.counter, self._is_stopped = state["starts"], state["counter"], state["stopped"]
        self._command = bytes.fromhex(state["command"])
        if state["ends"]:
            self.journal.note("samplingEnded", now, boot=state["boot"], positions=state["ends"])

    def _ends(self) -> list[int]:
        return [self._packets * SAMPLES_PER_PACKET, *[self._motions] * _MOTION_STREAMS] if self._clocks else []

    def _start(self, now: int) -> None:
        if self._clocks:
            return
        self.boot = boot_identifier(self.plan.seed, self.starts)
        frequencies = [_EEG_FREQUENCY] + [_MOTION_FREQUENCY] * _MOTION_STREAMS
        self._clocks = [SamplingClock(now, frequency, self.plan.crystal_ppm) for frequency in frequencies]
        self._waveforms = [
            Waveform(self.plan.seed, self.boot, stream, channels)
            for stream, channels in enumerate([CHANNELS] + [_AXES] * _MOTION_STREAMS)
        ]
        self._packets = self._motions = 0
        clocks = [
            {"first": 0, "began": now, "microhertz": clock.microhertz, "channels": waveform.channels}
            for clock, waveform in zip(self._clocks, self._waveforms, strict=True)
        ]
        number, seed = self.starts, self.plan.seed
        self.journal.note("boot", now, boot=self.boot, number=number, seed=seed, clocks=clocks, counter=self.counter)
        self.journal.note("samplingBegan", now, boot=self.boot, positions=[0] * len(clocks))
        self.starts += 1

    def _stop(self, now: int) -> None:
        if self._clocks:
            # Samples that did not fill a packet are gone.
            self.journal.note("samplingEnded", now, boot=self.boot, positions=self._ends())
        self._clocks = []

    # What the central and the person do

    def subscribed(self, uuid: str, now: int) -> None:
        self._follow(now)

    def read(self, uuid: str, now: int) -> bytes | None:
        return self._command if uuid == EEG_CONFIGURATION else None

    def write(self, uuid: str, value: bytes, now: int) -> None:
        if uuid != EEG_CONFIGURATION or len(value) < 2:
            return
        self._command = value
        match value[0], value[1]:
            case (1, 0) | (2, 1):
                # Writing a register stops the converter, and nothing starts it again.
                self._is_stopped = True
            case (1, 1) | (3, _):
                self._is_stopped = False
        self._follow(now)

    def _follow(self, now: int) -> None:
        if self.link is not None and EEG_DATA in self.link.notifying and not self._is_stopped:
            self._start(now)
        else:
            self._stop(now)
        self._arm(now)

    def press(self, now: int) -> None:
        self._events.append(event_packet(1, 1, self.counter))
        self._arm(now)

    # Sending

    def _arm(self, now: int) -> None:
        self._turn_due = None
        if self.link is None:
            return
        if self._events:
            self._turn_due = now + self.link.interval
        elif self._clocks:
            self._turn_due = self._clocks[0].time((self._packets + 1) * SAMPLES_PER_PACKET - 1)

    def next_turn(self, now: int) -> int | None:
        return self._turn_due

    def turn(self, now: int) -> list[Notification]:
        out = [Notification(EVENT_DATA, event) for event in self._events]
        self._events = []
        if self._clocks:
            eeg, motion = self._clocks[:2]
            while eeg.position(now) >= (self._packets + 1) * SAMPLES_PER_PACKET:
                values = self._waveforms[0].int16(self._packets * SAMPLES_PER_PACKET, SAMPLES_PER_PACKET)
                out.append(Notification(EEG_DATA, eeg_packet(self.counter, values)))
                self._packets += 1
                self.counter = (self.counter + 1) % COUNTER_MODULUS
            while motion.position(now) > self._motions:
                axes = [axis for sensor in self._waveforms[1:] for axis in sensor.rows(self._motions, 1)[0]]
                out.append(Notification(MOTION_DATA, struct.pack("<9h", *axes)))
                self._motions += 1
        self._arm(now)
        return out

    def statistics(self, now: int) -> dict[str, object]:
        return {"streaming": bool(self._clocks), "starts": self.starts, "boot": self.boot, "counter": self.counter}


KINDS = (
    Kind(
        "hermes",
        "hermes",
        lambda headset, journal: HermesFirmware(
            headset.name, journal, HermesPlan(headset.seed, address=headset.address, **headset.details)
        ),
        number=34,
        specimens=(Specimen("Hermes V1", "C0:80:E1:26:00:01", 41, scenario="hermes", title="Hermes V1"),),
        other=Specimen("Hermes V1 b", "C0:80:E1:26:06:66", 4166),
        scenarios=("bluetoothd", "buttons"),
        stall_seconds=2,
    ),
)
