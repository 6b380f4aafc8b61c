"""The radio, with a Bumble host in place of the kernel, in virtual time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from bumble import core, hci
from bumble.core import AdvertisingData
from bumble.device import Connection, Device, DeviceConfiguration, Peer
from bumble.hci import Address
from bumble.host import Host

from radio.controller import AdapterController, LowEnergyController, PeripheralController
from radio.link import RangeLink

HEADSET = "C0:00:00:00:00:01"


class VirtualSelector(selectors.SelectSelector):
    """Waiting takes no time; the loop's clock jumps to where it would have waited to."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing will ever happen again"
        self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time."""

    def __init__(self) -> None:
        self._virtual = VirtualSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


class Room:
    """An adapter and one headset."""

    def __init__(self) -> None:
        self.link = RangeLink()
        self.adapter = AdapterController("adapter", self.link, public_address="02:00:00:00:00:01")
        self.peripheral = PeripheralController("headset", self.link, public_address=HEADSET)
        self.central = self.host(self.adapter, "F0:00:00:00:00:02")
        self.headset = self.host(self.peripheral, HEADSET)
        self.reports: list[tuple[bool, bytes]] = []
        self.reasons: list[int] = []

    @staticmethod
    def host(controller: LowEnergyController, address: str) -> Device:
        host = Host()
        host.controller = controller
        return Device(config=DeviceConfiguration(address=Address(address)), host=host)

    async def begin(self) -> None:
        await self.central.power_on()
        await self.headset.power_on()
        self.central.host.on("advertising_report", self.take)
        await self.advertise()

    async def advertise(self) -> None:
        name = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, b"BEEG-1")]))
        await self.headset.start_advertising(
            advertising_data=b"\x02\x01\x06", scan_response_data=name, advertising_interval_min=100
        )

    def take(self, report: Any) -> None:
        kind = report.event_type
        is_response = kind == hci.HCI_LE_Advertising_Report_Event.EventType.SCAN_RSP
        self.reports.append((is_response, bytes(report.data)))

    async def scan(self, duplicates: bool = False, active: bool = True) -> None:
        await self.central.start_scanning(legacy=True, active=active, filter_duplicates=not duplicates)

    async def connect(self) -> Connection:
        connection = await self.central.connect(Address(HEADSET), own_address_type=hci.OwnAddressType.PUBLIC)
        connection.on(Connection.EVENT_DISCONNECTION, self.reasons.append)
        return connection

    @property
    def is_linked(self) -> tuple[bool, bool]:
        return bool(self.adapter.le_connections), bool(self.peripheral.le_connections)


def in_room(story: Callable[[Room], Awaitable[None]]) -> None:
    async def tell() -> None:
        room = Room()
        await room.begin()
        await story(room)

    loop = VirtualLoop()
    try:
        loop.run_until_complete(asyncio.wait_for(tell(), 1000))
    finally:
        loop.close()


def story(function: Callable[[Room], Awaitable[None]]) -> Callable[[], None]:
    def test() -> None:
        in_room(function)

    test.__name__ = function.__name__
    return test


@story
async def test_an_active_scan_reports_the_scan_response(room: Room) -> None:
    await room.scan()
    await asyncio.sleep(1)
    assert room.reports == [(False, b"\x02\x01\x06"), (True, b"\x07\x09BEEG-1")]


@story
async def test_a_passive_scan_does_not(room: Room) -> None:
    await room.scan(active=False)
    await asyncio.sleep(1)
    assert room.reports == [(False, b"\x02\x01\x06")]


@story
async def test_with_duplicates_each_advertisement_is_reported(room: Room) -> None:
    await room.scan(duplicates=True)
    await asyncio.sleep(10)
    assert 198 <= len(room.reports) <= 202


@story
async def test_who_is_away_is_not_heard(room: Room) -> None:
    room.link.vanish(room.peripheral)
    await room.scan()
    await asyncio.sleep(10)
    assert room.reports == []


@story
async def test_a_public_central_receives_what_the_headset_sends(room: Room) -> None:
    peer = Peer(await room.connect())
    services = await peer.discover_services()
    assert [service.uuid.to_hex_str() for service in services] == ["1800", "1801"]


@story
async def test_both_ends_notice_a_loss_after_the_supervision_timeout(room: Room) -> None:
    await room.connect()
    timeout = next(iter(room.adapter.le_connections.values())).supervision_timeout  # type: ignore[attr-defined]  # kept by `note_parameters`
    room.link.vanish(room.peripheral)
    await asyncio.sleep(timeout * 0.9)
    assert room.is_linked == (True, True)
    await asyncio.sleep(timeout * 0.2)
    assert room.is_linked == (False, False)
    assert room.reasons == [hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR]


@story
async def test_a_short_absence_is_survived(room: Room) -> None:
    await room.connect()
    timeout = next(iter(room.adapter.le_connections.values())).supervision_timeout  # type: ignore[attr-defined]  # kept by `note_parameters`
    for _ in range(5):
        room.link.vanish(room.peripheral)
        await asyncio.sleep(timeout * 0.5)
        room.link.comes_back(room.peripheral)
    await asyncio.sleep(timeout * 2)
    assert room.is_linked == (True, True)


@story
async def test_a_cancelled_connect_leaves_nothing_behind(room: Room) -> None:
    room.link.vanish(room.peripheral)
    with pytest.raises(core.TimeoutError):
        await room.central.connect(Address(HEADSET), timeout=5)
    assert room.adapter.pending_le_connection is None
    room.link.comes_back(room.peripheral)
    await asyncio.sleep(5)
    assert room.is_linked == (False, False)
    await room.connect()
    assert room.is_linked == (True, True)


@story
async def test_a_reset_adapter_has_no_connection_and_the_headset_notices(room: Room) -> None:
    await room.connect()
    await room.central.send_sync_command(hci.HCI_Reset_Command())
    assert room.is_linked == (False, True)
    await asyncio.sleep(20)
    assert room.is_linked == (False, False)


@story
async def test_a_request_that_came_too_late_fails_by_itself(room: Room) -> None:
    deaf = room.peripheral.on_le_connect_ind
    room.peripheral.on_le_connect_ind = lambda packet: None  # type: ignore[method-assign]  # the planted defect
    await room.connect()
    await asyncio.sleep(1)
    assert room.is_linked == (False, False) and room.reasons == [0x3E]
    room.peripheral.on_le_connect_ind = deaf  # type: ignore[method-assign]  # the planted defect


@story
async def test_an_adapter_that_lost_its_power_says_nothing(room: Room) -> None:
    await room.connect()
    room.adapter.fall_silent()
    assert room.is_linked == (False, True)
    await asyncio.sleep(20)
    assert room.is_linked == (False, False) and room.reasons == []
