"""Firmware of an OpenBCI Ganglion: no memory, samples only while a central listens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import ganglion_packets as packets
from .clock import SamplingClock
from .firmware import NOTIFY, READ, WRITE, WRITE_WITHOUT_RESPONSE, Appearance, Characteristic, Firmware, Notification, Service
from .journal import Journal
from .kind import Kind, Rows, Specimen, Values
from .waveform import Waveform, boot_identifier

# 1,001 readings of one electrode, one each 500 us (the firmware's UA_SAMPLE_LIMIT and UA_SAMPLE_TIME).
_IMPEDANCE_PERIOD = 1001 * 500_000
# Rows of the accelerometer in a cycle of packets.
_MOTION_ROWS = 10


@dataclass(frozen=True)
class GanglionPlan:
    """What one headset is like."""

    seed: int
    # 2: differences; 3: truncated absolute samples.
    firmware_version: int = 3
    crystal_ppm: float = 12.0
    # True where it has the accelerometer on from the beginning.
    accelerometer: bool = False


class GanglionFirmware(Firmware):
    """Each `b` begins anew with the first packet of a cycle, and is a boot of its own in the journal.

    Its stream 0 is EEG; `samples` tells its values. Stream 1 is the accelerometer, with ten rows in each cycle, as long as it
    is on; `acceleration` tells its values.
    """

    def __init__(self, name: str, journal: Journal, plan: GanglionPlan) -> None:
        super().__init__(name, journal)
        self.plan = plan
        self.starts = 0
        self.boot = 0
        self.accelerometer = plan.accelerometer
        self.measures_impedance = False
        self.disabled_channels: set[int] = set()
        self._clock: SamplingClock | None = None
        self._waveform = Waveform(plan.seed, 0, 0, packets.CHANNELS)
        self._motion = Waveform(plan.seed, 0, 1, 3)
        self._position = 0
        self._motion_rows = 0
        self._axis = 0
        self._texts: list[bytes] = []
        # What the latest `z` met: `Z` starts the samples again only then.
        self._was_streaming = False
        self._impedance_due = 0
        self._impedance_channel = 1
        self._turn_due: int | None = None

    def database(self) -> tuple[Service, ...]:
        writable = frozenset({WRITE, WRITE_WITHOUT_RESPONSE})
        return (
            Service(
                packets.SERVICE,
                (
                    Characteristic(packets.DATA, frozenset({READ, NOTIFY})),
                    Characteristic(packets.COMMAND, writable),
                    Characteristic(packets.DISCONNECT, writable),
                ),
            ),
        )

    def device_information(self) -> dict[str, bytes]:
        revision = b"3.0.2" if self.plan.firmware_version == 3 else b"2.0.1"
        return {"2A29": b"openbci.com", "2A24": b"Ganglion", "2A27": b"1.0.1", "2A28": revision}

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, (packets.SERVICE,))

    @property
    def is_streaming(self) -> bool:
        """True between `b` and `s`."""
        return self._clock is not None

    # Power and link

    def power_on(self, now: int) -> None:
        self.accelerometer = self.plan.accelerometer
        self.measures_impedance = False
        self._texts = []

    def power_off(self, now: int) -> None:
        self._stop(now)
        super().disconnected(now)

    def state(self) -> dict[str, Any]:
        ends = [self._position, self._motion_rows] if self.is_streaming else []
        return {"starts": self.starts, "boot": self.boot, "ends": ends}

    def resume(self, state: dict[str, Any], now: int) -> None:
        """It has stopped with its link; what it sent after the last save is not known and not told."""
        self.starts = int(state["starts"])
        if state["ends"]:
            self.journal.note("samplingEnded", now, boot=state["boot"], positions=state["ends"])
        self.power_on(now)

    def disconnected(self, now: int) -> None:
        """The firmware stops everything when the link ends."""
        super().disconnected(now)
        self._stop(now)
        self.accelerometer = self.plan.accelerometer
        self.measures_impedance = False
        self._texts = []
        self._turn_due = None

    def _start(self, now: int) -> None:
        if self._clock is not None:
            return
        self.measures_impedance = False
        self.boot = boot_identifier(self.plan.seed, self.starts)
        self._clock = SamplingClock(now, packets.FREQUENCY, self.plan.crystal_ppm)
        self._waveform = Waveform(self.plan.seed, self.boot, 0, packets.CHANNELS)
        self._motion = Waveform(self.plan.seed, self.boot, 1, 3)
        self._position = 0
        self._motion_rows = 0
        slow = SamplingClock(now, packets.FREQUENCY * _MOTION_ROWS / packets.CYCLE, self.plan.crystal_ppm)
        clocks: list[dict[str, object]] = [
            {"first": 0, "began": now, "microhertz": self._clock.microhertz, "channels": packets.CHANNELS},
            {"first": 0, "began": now, "microhertz": slow.microhertz, "channels": 3},
        ]
        if self.plan.firmware_version == 3:
            clocks[0]["unsent"] = [packets.CYCLE - 1, packets.CYCLE]
        number, seed = self.starts, self.plan.seed
        self.journal.note("boot", now, boot=self.boot, number=number, seed=seed, clocks=clocks)
        self.journal.note("samplingBegan", now, boot=self.boot, positions=[0, 0])
        self.starts += 1

    def _stop(self, now: int) -> None:
        if self._clock is not None:
            # Samples that were taken but not packed yet are gone.
            self.journal.note("samplingEnded", now, boot=self.boot, positions=[self._position, self._motion_rows])
        self._clock = None

    # Commands

    def write(self, uuid: str, value: bytes, now: int) -> None:
        if uuid == packets.DISCONNECT:
            self.requests.append("disconnect")
        if uuid != packets.COMMAND or not value:
            return
        # Only the first byte of each write counts.
        self._perform(chr(value[0]), now)
        self._arm(now)

    def _perform(self, command: str, now: int) -> None:
        match command:
            case "b":
                self._start(now)
            case "s":
                self._stop(now)
            case "n" | "N":
                self.accelerometer = command == "n"
            case "z":
                self._was_streaming = self.is_streaming
                self._stop(now)
                self.measures_impedance = True
                self._impedance_channel = 1
                self._impedance_due = now + _IMPEDANCE_PERIOD
            case "Z":
                self.measures_impedance = False
                if self._was_streaming:
                    self._start(now)
            case "1" | "2" | "3" | "4":
                self.disabled_channels.add(int(command))
            case "!" | "@" | "#" | "$":
                self.disabled_channels.discard("!@#$".index(command) + 1)
            case "v":
                self._stop(now)
                version = self.device_information()["2A28"].decode()
                self._say(f"OpenBCI Ganglion v{version}\nLIS2DH ID: 0x33\nMCP3912 CONFIG_1: 0x2C0050\n$$$")
            case "?" if not self.is_streaming:
                self._say("MCP3912 Registers\nGAIN 0x24924\nSTATUSCOM 0xB4000F\nLIS2DH Registers\n0x20 0x08\n$$$")

    def _say(self, text: str) -> None:
        self._texts += packets.text_packets(text)

    # Sending

    def subscribed(self, uuid: str, now: int) -> None:
        self._arm(now)

    def _arm(self, now: int) -> None:
        has_work = self.is_streaming or bool(self._texts) or self.measures_impedance
        if self.link is None or not has_work:
            self._turn_due = None
        elif self._turn_due is None:
            self._turn_due = now + self.link.interval

    def next_turn(self, now: int) -> int | None:
        return self._turn_due

    def turn(self, now: int) -> list[Notification]:
        out: list[bytes] = []
        if self._texts:
            out.append(self._texts.pop(0))
        if self.measures_impedance and now >= self._impedance_due:
            out.append(packets.impedance_packet(self._impedance_channel, 5 * self._impedance_channel))
            self._impedance_channel = self._impedance_channel % 5 + 1
            self._impedance_due = now + _IMPEDANCE_PERIOD
        if self._clock is not None:
            out += self._sample_packets(self._clock.position(now))
        self._turn_due = None
        self._arm(now)
        return [Notification(packets.DATA, packet) for packet in out]

    def _sample_packets(self, end: int) -> list[bytes]:
        """All packets whose samples were taken before a position."""
        out: list[bytes] = []
        while True:
            place = self._position % packets.CYCLE
            if self.plan.firmware_version == 3 and place == packets.CYCLE - 1:
                # The last sample of a cycle is packed, but never sent.
                count = 1
            elif self.plan.firmware_version == 2 and place == 0:
                count = 1
            else:
                count = 2
            if self._position + count > end:
                return out
            packet = self._packet(place)
            if packet is not None:
                out.append(packet)
            self._position += count

    def _packet(self, place: int) -> bytes | None:
        if self.plan.firmware_version == 3:
            if place == packets.CYCLE - 1:
                return None
            number = place // 2
            first, second = self.rows(self._position, 2)
            return packets.truncated_packet(number, first, second, self._acceleration(number))
        if place == 0:
            return packets.raw_packet(self.rows(self._position, 1)[0])
        number = (place + 1) // 2
        before, first, second = self.rows(self._position - 1, 3)
        return packets.difference_packet(number, before, first, second, self._acceleration(number))

    def rows(self, position: int, count: int) -> list[tuple[int, ...]]:
        """The 24-bit samples."""
        return [samples(row, self.plan.firmware_version) for row in self._waveform.rows(position, count)]

    def _acceleration(self, number: int) -> int | None:
        """Byte 19: X, Y and Z come with packets ...1, ...2 and ...3; the others repeat a stale value."""
        if not self.accelerometer:
            return None
        if number % 10 in (1, 2, 3):
            row = self._position // packets.CYCLE * _MOTION_ROWS + number // 10
            self._motion_rows = row + 1
            self._axis = acceleration(self._motion.rows(row, 1)[0])[number % 10 - 1]
        return self._axis

    def statistics(self, now: int) -> dict[str, Any]:
        return {
            "streaming": self.is_streaming,
            "measuresImpedance": self.measures_impedance,
            "starts": self.starts,
            "boot": self.boot,
            "position": self._position,
        }


def samples(row: tuple[int, ...], firmware_version: int) -> tuple[int, ...]:
    """The 24-bit samples that stand for the 16-bit values of `Waveform`.

    Firmware 3 truncates to multiples of 128, which these are. Firmware 2 sends differences of 18 bits, into which the
    difference of any two of these fits; they are even, so that only negative differences lose a count by the sign bit.
    """
    return tuple(value << 7 for value in row) if firmware_version == 3 else tuple(value << 1 for value in row)


def acceleration(row: tuple[int, ...]) -> tuple[int, ...]:
    """The 8-bit accelerations that stand for the 16-bit values of `Waveform`."""
    return tuple(value >> 8 for value in row)


def _accelerations(rows: Rows) -> Rows:
    return [acceleration(row) for row in rows]


def _values(stream: str) -> Values:
    # Of the firmware of `GanglionPlan`.
    return _accelerations if stream == "accelerometer" else lambda rows: [samples(row, 3) for row in rows]


KINDS = (
    Kind(
        "ganglion",
        "ganglion",
        lambda headset, journal: GanglionFirmware(headset.name, journal, GanglionPlan(headset.seed, **headset.details)),
        number=20,
        specimens=(Specimen("Ganglion-58f3", "C0:00:00:00:02:01", 21, scenario="ganglion", title="Ganglion"),),
        other=Specimen("Ganglion-1a6d", "C0:00:00:00:02:66", 2166),
        values=_values,
        scenarios=("bluetoothd",),
    ),
)
