"""A headset that asks for a PIN, with a Bumble host in place of the kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from bumble import core, hci
from bumble.core import PhysicalTransport
from bumble.device import Connection, Device, DeviceConfiguration
from bumble.hci import Address, AddressType
from bumble.host import Host

from radio.classic import DualModeController, SerialController
from radio.link import RangeLink
from test_radio import VirtualLoop

HEADSET = Address("20:68:9D:00:00:01", AddressType.PUBLIC_DEVICE)


class Room:
    """A machine and a headset with the PIN 1234."""

    def __init__(self) -> None:
        self.link = RangeLink()
        self.adapter = DualModeController("adapter", self.link, public_address="02:00:00:00:00:01")
        self.headset = SerialController("headset", self.link, public_address=str(HEADSET))
        self.machine = self.host(self.adapter)
        # What the machine knows.
        self.pin: str | None = "1234"
        self.key: bytes | None = None
        self.questions = 0
        self.replies: list[asyncio.Task[object]] = []
        self.firmware = self.host(self.headset)
        self.keys: dict[str, bytes] = {}
        self.pairings = 0
        self.headset.require_pin("1234", self.keys, self.note)

    def note(self) -> None:
        self.pairings += 1

    @staticmethod
    def host(controller: DualModeController | SerialController) -> Device:
        host = Host()
        host.controller = controller
        configuration = DeviceConfiguration(
            classic_enabled=True, le_enabled=False, classic_ssp_enabled=False, classic_sc_enabled=False
        )
        return Device(config=configuration, host=host)

    async def begin(self) -> None:
        await self.machine.power_on()
        await self.firmware.power_on()
        await self.firmware.set_connectable(True)

        # Stock answers only on connections that are complete.
        host = self.machine.host
        host.link_key_provider = self.find_key
        host.on("link_key", self.keep_key)
        setattr(host, "on_hci_pin_code_request_event", self.answer)

    async def find_key(self, _address: Address) -> bytes | None:
        return self.key

    def keep_key(self, _address: Address, key: bytes, _kind: int) -> None:
        self.key = key

    def answer(self, event: hci.HCI_PIN_Code_Request_Event) -> None:
        self.questions += 1
        command: hci.HCI_SyncCommand[hci.HCI_StatusAndAddressReturnParameters]
        if self.pin is None:
            command = hci.HCI_PIN_Code_Request_Negative_Reply_Command(bd_addr=event.bd_addr)
        else:
            pin = self.pin.encode()
            command = hci.HCI_PIN_Code_Request_Reply_Command(
                bd_addr=event.bd_addr, pin_code_length=len(pin), pin_code=pin.ljust(16, b"\0")
            )
        self.replies.append(asyncio.get_running_loop().create_task(self.machine.host.send_sync_command(command)))

    async def connect(self) -> Connection:
        return await self.machine.connect(HEADSET, transport=PhysicalTransport.BR_EDR)

    async def come_and_go(self) -> None:
        connection = await self.connect()
        await connection.disconnect()
        await asyncio.sleep(1)


def story(function: Callable[[Room], Awaitable[None]]) -> Callable[[], None]:
    """A test that takes place in a room."""

    async def play() -> None:
        room = Room()
        await room.begin()
        await function(room)

    def test() -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(play())

    test.__doc__ = function.__doc__
    return test


@story
async def test_a_machine_that_knows_the_pin_is_paired_once(room: Room) -> None:
    for _ in range(3):
        await room.come_and_go()
    assert room.pairings == 1 and room.questions == 1
    assert len(room.keys) == 1


@story
async def test_a_machine_with_another_pin_is_refused(room: Room) -> None:
    room.pin = "0000"
    with pytest.raises(core.ConnectionError, match="AUTHENTICATION_FAILURE"):
        await room.connect()
    assert not room.keys and not room.headset.classic_connections and not room.adapter.classic_connections
    room.pin = "1234"
    await room.come_and_go()
    assert room.pairings == 1


@story
async def test_a_machine_that_gives_no_pin_is_refused(room: Room) -> None:
    room.pin = None
    with pytest.raises(core.ConnectionError):
        await room.connect()
    assert room.pairings == 0


@story
async def test_a_headset_without_its_key_asks_for_the_pin_again(room: Room) -> None:
    await room.come_and_go()
    room.keys.clear()
    await room.come_and_go()
    assert room.pairings == 2 and room.questions == 2


@story
async def test_a_machine_without_its_key_is_asked_for_the_pin_again(room: Room) -> None:
    await room.come_and_go()
    room.key = None
    await room.come_and_go()
    assert room.pairings == 2


@story
async def test_a_machine_with_another_key_is_refused(room: Room) -> None:
    await room.come_and_go()
    for address in room.keys:
        room.keys[address] = bytes(16)
    with pytest.raises(core.ConnectionError, match="AUTHENTICATION_FAILURE"):
        await room.connect()


async def ask_later(room: Room) -> tuple[list[str], list[int]]:
    """The headset asks on a connection that is complete; what came of it, and why the connection ended."""
    room.headset.require_pin("1234", room.keys, room.note, asks_at_once=False)
    connection = await room.connect()
    outcome: list[str] = []
    reasons: list[int] = []
    connection.on(Connection.EVENT_DISCONNECTION, reasons.append)
    peer = Address(str(room.adapter.public_address), AddressType.PUBLIC_DEVICE)
    assert not room.questions
    room.headset.authenticate(peer, lambda: outcome.append("accepted"))
    await asyncio.sleep(1)
    return outcome, reasons


@story
async def test_a_headset_may_ask_when_its_port_is_opened(room: Room) -> None:
    outcome, reasons = await ask_later(room)
    assert outcome == ["accepted"] and not reasons
    assert room.key is not None and list(room.keys.values()) == [room.key]


@story
async def test_a_wrong_pin_ends_a_connection_and_says_why(room: Room) -> None:
    room.pin = "0000"
    outcome, reasons = await ask_later(room)
    assert not outcome and reasons == [hci.HCI_ErrorCode.AUTHENTICATION_FAILURE_ERROR]
    assert room.key is None and not room.keys
