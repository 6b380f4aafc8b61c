"""The control socket: a line of words in, a line of JSON out, over a Unix stream socket.

Words are separated as in a shell: a name with a space in it stands in quotes.

    vanish NAME [SECONDS]          out of range, for good or for some time
    return NAME
    disconnect NAME [REASON]       the headset ends the connection (reason code, 0x13)
    reboot NAME [SECONDS]          power off and on; new boot identifier
    rotate NAME [ADDRESS]          new private address
    forget NAME                    loses the keys of its pairings
    confuse NAME                   has other keys in their place
    advertise NAME on|off|pairing
    low-power NAME
    mute-status NAME on|off        leaves status queries unanswered
    lose NAME CHARACTERISTIC N     loses the next N notifications; a distinct part of the UUID is enough
    duplicate NAME CHARACTERISTIC N
    stall NAME SECONDS             holds all notifications back, then delivers them in a burst
    press NAME                     its button, where it has one
    adapter unplug|plug|plug-elsewhere   plug-elsewhere: it comes back under another number
    adapter note-handovers         notes when data packets are handed to the kernel
    adapter take-handovers         ends that; `handovers` in the reply: [[instant, HCI packet as hexadecimal digits], ...]
    phone scan SECONDS             what a phone hears: `found`, by address
    phone connect ADDRESS | discover | disconnect
    phone read UUID                `value`, or `error_code`; the same of the next two
    phone write UUID HEX
    phone subscribe UUID
    phone take UUID                `notified` since the last time: [[instant, value], ...]
    phone pair                     begins to; `phone enter PASSKEY` goes on, `phone outcome` says what became of it
    stats [NAME]
    quit

A reply has `ok` and, as CLOCK_BOOTTIME in nanoseconds, `time`; where `ok` is false, `error` says why. The instants of `stats`
are of that clock, too.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

from bumble.core import BaseBumbleError

from radio import Radio

from .clock import boottime
from .headset import Headset
from .phone import Phone
from .serial_headset import SerialHeadset

AnyHeadset = Headset | SerialHeadset
_Reply = dict[str, object]
_HeadsetCommand = Callable[[AnyHeadset, list[str]], Awaitable[_Reply]]


class ControlSocket:
    """Serves the commands until `quit`."""

    def __init__(self, headsets: list[AnyHeadset], radio: Radio, phone: Phone | None = None) -> None:
        self._headsets = {headset.description.name: headset for headset in headsets}
        self._radio = radio
        self._phone = phone
        self.finished = asyncio.Event()

    async def serve(self, path: Path) -> asyncio.Server:
        """Begins to listen; its existence tells that the headsets are ready."""
        path.unlink(missing_ok=True)  # noqa: ASYNC240, before anything else runs
        return await asyncio.start_unix_server(self._converse, path)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                reply = await self.perform(shlex.split(line.decode()))
                writer.write((json.dumps(reply) + "\n").encode())
                await writer.drain()
        except ConnectionError:
            return
        finally:
            writer.close()

    async def perform(self, words: list[str]) -> _Reply:
        """Does what a line says."""
        try:
            return {"ok": True, "time": boottime(), **await self._dispatch(words)}
        except (ValueError, KeyError, IndexError, OSError, BaseBumbleError) as error:
            return {"ok": False, "error": f"{' '.join(words)}: {error!r}"}

    async def _dispatch(self, words: list[str]) -> _Reply:
        match words:
            case ["quit"]:
                self.finished.set()
                return {}
            case ["adapter", action]:
                return self._adapter(action)
            case ["phone", *rest] if self._phone is not None:
                return await _use(self._phone, rest)
            case ["stats"]:
                names = {name: headset.statistics() for name, headset in self._headsets.items()}
                return {"headsets": names, "adapter": self._radio.statistics()}
            case [command, name, *rest]:
                if command not in _COMMANDS:
                    raise ValueError(f"no such command: {command}")
                if name not in self._headsets:
                    raise ValueError(f"no such headset: {name}")
                return await _COMMANDS[command](self._headsets[name], rest)
        raise ValueError("not understood")

    def _adapter(self, action: str) -> _Reply:
        match action:
            case "unplug":
                self._radio.unplug()
            case "plug":
                self._radio.plug()
            case "plug-elsewhere":
                self._radio.plug(other_number=True)
            case "note-handovers":
                self._radio.note_handovers()
            case "take-handovers":
                return {"handovers": [[instant, packet.hex()] for instant, packet in self._radio.take_handovers()]}
            case _:
                raise ValueError(f"no such action: {action}")
        return {}


async def _use(phone: Phone, words: list[str]) -> _Reply:
    match words:
        case ["scan", seconds]:
            return {"found": await phone.scan(float(seconds))}
        case ["connect", address]:
            await phone.connect(address)
        case ["discover"]:
            await phone.discover()
        case ["disconnect"]:
            await phone.disconnect()
        case ["read", uuid]:
            return await phone.read(uuid)
        case ["write", uuid, value]:
            return await phone.write(uuid, value)
        case ["subscribe", uuid]:
            return await phone.subscribe(uuid)
        case ["take", uuid]:
            return {"notified": phone.take(uuid)}
        case ["pair"]:
            phone.pair()
        case ["enter", passkey]:
            phone.enter(int(passkey))
        case ["outcome"]:
            return {"outcome": phone.pairing_outcome()}
        case _:
            raise ValueError("a phone does not do that")
    return {}


async def _vanish(headset: AnyHeadset, rest: list[str]) -> _Reply:
    headset.vanish(float(rest[0]) if rest else None)
    return {}


async def _return(headset: AnyHeadset, _rest: list[str]) -> _Reply:
    headset.return_()
    return {}


async def _disconnect(headset: AnyHeadset, rest: list[str]) -> _Reply:
    await headset.disconnect(*[int(word, 0) for word in rest[:1]])
    return {}


async def _reboot(headset: AnyHeadset, rest: list[str]) -> _Reply:
    await headset.reboot(float(rest[0]) if rest else None)
    return {}


async def _rotate(headset: AnyHeadset, rest: list[str]) -> _Reply:
    return {"address": await headset.rotate(*rest[:1])}


async def _forget(headset: AnyHeadset, _rest: list[str]) -> _Reply:
    headset.bonds.forget()
    return {}


async def _confuse(headset: AnyHeadset, _rest: list[str]) -> _Reply:
    headset.bonds.confuse()
    return {}


async def _advertise(headset: AnyHeadset, rest: list[str]) -> _Reply:
    await headset.advertise(rest[0])
    return {}


async def _low_power(headset: AnyHeadset, _rest: list[str]) -> _Reply:
    return {"sleeps": headset.low_power()}


async def _mute_status(headset: AnyHeadset, rest: list[str]) -> _Reply:
    headset.firmware.mutes_status = rest[0] == "on"
    return {}


async def _lose(headset: AnyHeadset, rest: list[str]) -> _Reply:
    headset.faults.lose[headset.characteristic(rest[0])] = int(rest[1])
    return {}


async def _duplicate(headset: AnyHeadset, rest: list[str]) -> _Reply:
    headset.faults.duplicate[headset.characteristic(rest[0])] = int(rest[1])
    return {}


async def _stall(headset: AnyHeadset, rest: list[str]) -> _Reply:
    headset.stall(float(rest[0]))
    return {}


async def _press(headset: AnyHeadset, _rest: list[str]) -> _Reply:
    headset.press()
    return {}


async def _stats(headset: AnyHeadset, _rest: list[str]) -> _Reply:
    return {"headset": headset.statistics()}


_COMMANDS: dict[str, _HeadsetCommand] = {
    "vanish": _vanish,
    "return": _return,
    "disconnect": _disconnect,
    "reboot": _reboot,
    "rotate": _rotate,
    "forget": _forget,
    "confuse": _confuse,
    "advertise": _advertise,
    "low-power": _low_power,
    "mute-status": _mute_status,
    "lose": _lose,
    "duplicate": _duplicate,
    "stall": _stall,
    "press": _press,
    "stats": _stats,
}
