"""Firmware of a headset with memory: the Buffered EEG service."""

from __future__ import annotations

import dataclasses
import struct
from typing import TYPE_CHECKING, Any

from . import buffered_messages as messages
from .buffered_messages import CONTROL, DATA, Code, Condition, Opcode
from .buffered_stream import BufferedPlan, BufferedStream
from .clock import NANOSECONDS
from .firmware import NOTIFY, WRITE, Appearance, Characteristic, Firmware, Link, Notification, Service
from .journal import Journal
from .kind import Kind
from .memory import RingMemory, Run
from .waveform import boot_identifier

if TYPE_CHECKING:
    from .description import HeadsetDescription

_EEG_CHANNELS = ["Fp1", "Fp2", "C3", "C4", "P7", "P8", "O1", "O2"]
_MOTION = {"accelerometer": ("ACCEL", "g", 1 / 1_048_576), "gyroscope": ("GYRO", "deg/s", 1 / 4096)}
_TICKS_PER_SECOND = 32_768
_SAMPLING = (Condition.STREAMING, Condition.SAMPLING)
_OPCODES = frozenset(int(opcode) for opcode in Opcode)


class BufferedFirmware(Firmware):
    """Commands, conditions and turns; what concerns one stream is in `BufferedStream`."""

    shows_serial = True

    def __init__(self, name: str, journal: Journal, plan: BufferedPlan) -> None:
        super().__init__(name, journal)
        self.plan = plan
        self.condition = Condition.IDLE
        self.boots = 0
        self.boot = 0
        self.began = 0
        self.streams: list[BufferedStream] = []
        self.refused = 0
        self._answers: list[bytes] = []
        self._next_turn: int | None = None
        self._last_turn = -NANOSECONDS

    def database(self) -> tuple[Service, ...]:
        control = Characteristic(CONTROL, frozenset({WRITE, NOTIFY}))
        return (Service(messages.SERVICE, (control, Characteristic(DATA, frozenset({NOTIFY})))),)

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, (messages.PAIRING_SERVICE if pairing else messages.SERVICE,))

    # Power

    def power_on(self, now: int) -> None:
        self._begin_boot(now)
        clocks = [
            {
                "first": self.plan.first_index,
                "began": now,
                "microhertz": stream.clock.microhertz,
                "channels": stream.waveform.channels,
            }
            for stream in self.streams
        ]
        number = self.boots - 1
        self.journal.note("boot", now, boot=self.boot, number=number, seed=self.plan.seed, clocks=clocks)
        self._become(Condition.IDLE, now)
        if self.plan.samples_from_boot:
            self._start_sampling(now)

    def _begin_boot(self, began: int) -> None:
        self.boot = boot_identifier(self.plan.seed, self.boots)
        self.boots += 1
        self.began = began
        numbers = range(len(self.plan.streams))
        self.streams = [BufferedStream(self.plan, number, self.boot, began, self.journal) for number in numbers]
        self._answers = []

    def state(self) -> dict[str, Any]:
        return {
            "boots": self.boots,
            "began": self.began,
            "condition": int(self.condition),
            "memories": [dataclasses.asdict(stream.memory) for stream in self.streams],
        }

    def resume(self, state: dict[str, Any], now: int) -> None:
        self.boots = int(state["boots"]) - 1
        self._begin_boot(int(state["began"]))
        for stream, saved in zip(self.streams, state["memories"], strict=True):
            runs = [Run(**run) for run in saved.pop("runs")]
            stream.memory = RingMemory(runs=runs, **saved)
        self.condition = Condition(int(state["condition"]))

    def power_off(self, now: int) -> None:
        self._stop_sampling(Condition.IDLE, now)
        self.link = None
        self._next_turn = None

    def low_power(self, now: int) -> bool:
        if self.condition == Condition.LOW_POWER:
            return False
        self._stop_sampling(Condition.LOW_POWER, now)
        for stream in self.streams:
            stream.read = None
        # The headset tells by itself when its condition changes.
        self._answers += self._status_report(now)
        self._arm(now)
        return True

    def _become(self, condition: Condition, now: int) -> None:
        if condition != self.condition:
            self.condition = condition
            self.journal.note("condition", now, condition=condition.name.lower())

    def _start_sampling(self, now: int) -> None:
        positions = [stream.begin(now) for stream in self.streams]
        self.journal.note("samplingBegan", now, boot=self.boot, positions=positions)
        self._become(Condition.SAMPLING, now)

    def _stop_sampling(self, condition: Condition, now: int) -> None:
        if self.condition in _SAMPLING:
            positions = [stream.stop(now) for stream in self.streams]
            self.journal.note("samplingEnded", now, boot=self.boot, positions=positions)
        self._become(condition, now)

    # Link

    def connected(self, link: Link, now: int) -> None:
        super().connected(link, now)
        self._next_turn = None

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        self._answers = []
        self._next_turn = None
        for stream in self.streams:
            stream.live = None
            stream.read = None

    def subscribed(self, uuid: str, now: int) -> None:
        self._begin_live(now)
        self._arm(now)

    def _begin_live(self, now: int) -> None:
        """Live sending resumes with the subscription to data, from the newest sample on."""
        sends = self.condition == Condition.STREAMING and self.link is not None and DATA in self.link.notifying
        for stream in self.streams:
            if not sends:
                stream.live = None
            elif stream.live is None:
                stream.live = stream.settle(now)

    # Commands

    def write(self, uuid: str, value: bytes, now: int) -> None:
        if uuid != CONTROL:
            return
        opcode = value[0] if value else 0
        if opcode not in _OPCODES:
            self._answer(opcode, Code.UNKNOWN_COMMAND)
        elif len(value) != messages.COMMAND_LENGTHS[Opcode(opcode)]:
            self._answer(opcode, Code.WRONG_LENGTH)
        elif opcode == Opcode.STATUS:
            if not self.mutes_status:
                self._answers += self._status_report(now)
        elif opcode == Opcode.WAKE:
            if self.condition == Condition.LOW_POWER:
                self._become(Condition.IDLE, now)
            self._answer(opcode, Code.SUCCESS)
        elif self.condition == Condition.LOW_POWER:
            self._answer(opcode, Code.WRONG_CONDITION)
        else:
            self._answer(opcode, self._perform(Opcode(opcode), value[1:], now))
        self._arm(now)

    def _answer(self, opcode: int, code: Code) -> None:
        self.refused += code != Code.SUCCESS
        self._answers.append(messages.result(opcode, code))

    def _perform(self, opcode: Opcode, rest: bytes, now: int) -> Code:
        match opcode:
            case Opcode.SET_TIME:
                return Code.SUCCESS
            case Opcode.CONFIGURE:
                if self.condition not in _SAMPLING:
                    self._start_sampling(now)
                return Code.SUCCESS
            case Opcode.START:
                if self.condition not in _SAMPLING:
                    return Code.WRONG_CONDITION
                self._become(Condition.STREAMING, now)
                self._begin_live(now)
                return Code.SUCCESS
            case Opcode.STOP:
                self._stop_sampling(Condition.IDLE, now)
                for stream in self.streams:
                    stream.abort()
                return Code.SUCCESS
        if rest[0] >= len(self.streams):
            return Code.NO_SUCH_STREAM
        return self._perform_on_stream(opcode, self.streams[rest[0]], rest[1:], now)

    @staticmethod
    def _perform_on_stream(opcode: Opcode, stream: BufferedStream, rest: bytes, now: int) -> Code:
        match opcode:
            case Opcode.READ:
                index, credit = struct.unpack("<IH", rest)
                return stream.start_read(index, credit, now)
            case Opcode.ACKNOWLEDGE:
                return stream.acknowledge(struct.unpack("<I", rest)[0], now)
            case Opcode.CREDIT:
                stream.add_credit(struct.unpack("<H", rest)[0])
            case Opcode.ABORT:
                stream.abort()
        return Code.SUCCESS

    def _status_report(self, now: int) -> list[bytes]:
        ranges = [stream.range(now) for stream in self.streams]
        hours = (now - self.began) / 3600e9
        battery = round(max(1.0, min(100.0, self.plan.battery_percent - 2 * hours)))
        frequency = round(_TICKS_PER_SECOND * (1e6 + self.plan.crystal_ppm))
        ticks = (now - self.began) * frequency // (NANOSECONDS * 1_000_000)
        longest = self.link.longest if self.link is not None else 244
        report = [messages.status_header(self.condition, battery, self.boot, ticks, _TICKS_PER_SECOND, ranges)]
        for number, stream in enumerate(self.plan.streams):
            report += messages.stream_messages(number, stream, longest)
        return [*report, messages.status_end(len(ranges))]

    # Sending

    def _arm(self, now: int) -> None:
        """Asks for a turn when there is something to send. The radio has one turn in each connection interval."""
        if self.link is None:
            return
        due = [instant for stream in self.streams if (instant := stream.live_due) is not None]
        reads = DATA in self.link.notifying and any(stream.wants_turn for stream in self.streams)
        if self._answers or reads:
            due.append(now + self.link.interval)
        if due:
            instant = max(min(due), self._last_turn + self.link.interval)
            self._next_turn = instant if self._next_turn is None else min(self._next_turn, instant)

    def next_turn(self, now: int) -> int | None:
        return self._next_turn

    def turn(self, now: int) -> list[Notification]:
        self._next_turn = None
        self._last_turn = now
        if self.link is None:
            return []
        out = [Notification(CONTROL, answer) for answer in self._answers]
        self._answers = []
        if DATA in self.link.notifying:
            data: list[bytes] = []
            most = self.plan.packets_per_interval
            # Live blocks go before blocks from memory.
            for stream in self.streams:
                stream.longest = self.link.longest
                data += stream.live_messages(most - len(data), now)
            for stream in self.streams:
                data += stream.read_messages(most - len(data), now)
            out += [Notification(DATA, message) for message in data]
        self._arm(now)
        return out

    def statistics(self, now: int) -> dict[str, Any]:
        return {
            "condition": self.condition.name.lower(),
            "boot": self.boot,
            "boots": self.boots,
            "refused": self.refused,
            "streams": [
                {
                    "end": stream.settle(now),
                    "acknowledged": stream.memory.acknowledged,
                    "lost": stream.memory.lost,
                    "sentLive": stream.sent_live,
                    "skippedLive": stream.skipped_live,
                    "sentFromMemory": stream.sent_from_memory,
                }
                for stream in self.streams
            ],
        }


def _made(headset: HeadsetDescription, journal: Journal) -> Firmware:
    details = dict(headset.details)
    streams = details.pop("streams", [{"name": "eeg"}])
    plan = BufferedPlan(seed=headset.seed, streams=tuple(_stream(entry) for entry in streams), **details)
    return BufferedFirmware(headset.name, journal, plan)


def _stream(entry: dict[str, Any]) -> messages.Stream:
    name = str(entry["name"])
    if name in _MOTION:
        kind, unit, scale = _MOTION[name]
        channels = tuple(messages.Channel(axis, kind, unit, scale) for axis in "XYZ")
        return messages.Stream(name, float(entry.get("frequency", 52)), channels)
    count = int(entry.get("channels", 8))
    bank = int(entry.get("bank", 0))
    names = _EEG_CHANNELS if bank == 0 else [f"E{bank * 8 + number + 1}" for number in range(8)]
    frequency = float(entry.get("frequency", 250))
    return messages.Stream(name, frequency, tuple(messages.Channel(n) for n in names[:count]), bank)


# Its headsets are those of `lab.scenario`.
KINDS = (Kind("buffered", "buffered-eeg", _made, has_memory=True, is_known_by_address=False),)
