"""Controllers as the kernel's host and the headsets expect them."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from bumble import hci, ll
from bumble.controller import Connection, Controller, LegacyAdvertiser
from bumble.hci import Address, HCI_ErrorCode, LeFeatureMask

from .link import RangeLink

# The longest LE data packet (Core 5.4, volume 6, part B, 2.4).
_LE_DATA_LENGTH = 251
_RSSI = -50
_AdvertisingReport = hci.HCI_LE_Advertising_Report_Event


@dataclasses.dataclass
class ScannableAdvertisement(ll.AdvInd):
    """ADV_IND together with the answer to a scan request, since the link has no round trip for it."""

    scan_response: bytes = b""


class Advertiser(LegacyAdvertiser):
    """Stock takes the interval, which HCI counts in 0.625 ms, as milliseconds, and never sends a scan response."""

    def _on_timer_fired(self) -> None:
        self.send_advertising_data()
        self.timer_handle = asyncio.get_running_loop().call_later(
            max(self.advertising_interval_min, 32) * 0.000625, self._on_timer_fired
        )

    def send_advertising_data(self) -> None:
        if self.enabled:
            self.controller.send_advertising_pdu(
                ScannableAdvertisement(self.address, self.advertising_data, self.scan_response_data)
            )


class LowEnergyController(Controller):
    """What both ends of the link have in common: a Bluetooth 4.2 controller.

    Without extended advertising, periodic advertising and privacy in the controller, the kernel uses the commands that the
    adapters of most single-board computers know; stock announces them but does them only in part.
    """

    le_acl_data_packet_length = _LE_DATA_LENGTH
    supported_max_tx_octets = _LE_DATA_LENGTH
    supported_max_rx_octets = _LE_DATA_LENGTH
    le_features = Controller.le_features & ~(
        LeFeatureMask.LE_EXTENDED_ADVERTISING
        | LeFeatureMask.LE_PERIODIC_ADVERTISING
        | LeFeatureMask.LL_PRIVACY
        | LeFeatureMask.LE_2M_PHY
        | LeFeatureMask.LE_CODED_PHY
    )

    link: RangeLink

    def __init__(self, name: str, link: RangeLink, **arguments: Any) -> None:
        super().__init__(name, link=link, **arguments)
        self.le_legacy_advertiser = Advertiser(self)

    def on_le_disconnected(self, connection: Connection, reason: int) -> None:
        # The two ends may notice the end of a connection at the same time; stock then raises KeyError.
        if self.le_connections.get(connection.peer_address) is connection:
            super().on_le_disconnected(connection, reason)

    def on_hci_reset_command(self, command: hci.HCI_Reset_Command) -> hci.HCI_StatusReturnParameters:
        """Stock resets nothing."""
        self.fall_silent()
        return super().on_hci_reset_command(command)

    def fall_silent(self) -> None:
        """Ends everything without a word: the other ends notice by their supervision timeout."""
        self.pending_le_connection = None
        self.le_scan_enable = False
        self.le_legacy_advertiser.stop()
        for connection in list(self.le_connections.values()):
            self.link.silence(connection, while_away=False)
        self.le_connections.clear()

    def on_hci_le_connection_update_command(self, command: hci.HCI_LE_Connection_Update_Command) -> None:
        connection = self.find_le_connection_by_handle(command.connection_handle)
        if connection is not None:
            note_parameters(connection, command.connection_interval_max, command.supervision_timeout)
        super().on_hci_le_connection_update_command(command)


class PeripheralController(LowEnergyController):
    """A headset's controller."""

    def on_le_connect_ind(self, packet: ll.ConnectInd) -> None:
        super().on_le_connect_ind(packet)
        connection = self.le_connections.get(packet.initiator_address)
        if connection is not None and connection.self_address == packet.advertiser_address:
            note_parameters(connection, packet.interval, packet.timeout)

    def on_ll_control_pdu(self, sender_address: Address, packet: ll.ControlPdu) -> None:
        connection = self.le_connections.get(sender_address)
        if connection is not None and isinstance(packet, ll.ConnectionUpdateInd):
            note_parameters(connection, packet.interval, packet.timeout)
        super().on_ll_control_pdu(sender_address, packet)


class AdapterController(LowEnergyController):
    """The controller behind the kernel's host."""

    def __init__(self, name: str, link: RangeLink, **arguments: Any) -> None:
        super().__init__(name, link, **arguments)
        self._accept_list: set[tuple[int, bytes]] = set()
        self._reported: set[tuple[bytes, int, bytes]] = set()

    # Scanning

    def on_advertising_pdu(self, pdu: ll.AdvInd | ll.AdvExtInd) -> None:
        """Stock reports the advertising data a second time as scan response, and ignores both filters.

        The duplicates filter matters to a host: a controller that uses it reports a headset once for each time that
        scanning begins, also when the headset went away meanwhile.
        """
        if self.le_scan_enable and self._accepts(pdu.advertiser_address):
            self._report(_AdvertisingReport.EventType.ADV_IND, pdu, pdu.data)
            if self.le_scan_type == 1 and isinstance(pdu, ScannableAdvertisement):
                self._report(_AdvertisingReport.EventType.SCAN_RSP, pdu, pdu.scan_response)
        pending = self.pending_le_connection
        if pending is not None and pending.peer_address == pdu.advertiser_address:
            self.create_le_connection(pdu.advertiser_address)

    def _accepts(self, address: Address) -> bool:
        # Bit 0 of the policy: only devices of the accept list (Core 5.4, volume 4, part E, 7.8.10).
        return not self.le_scanning_filter_policy & 1 or _key(address.address_type, address) in self._accept_list

    def _report(self, kind: _AdvertisingReport.EventType, pdu: ll.AdvInd | ll.AdvExtInd, data: bytes) -> None:
        key = (bytes(pdu.advertiser_address), int(kind), bytes(data))
        if self.filter_duplicates:
            if key in self._reported:
                return
            self._reported.add(key)
        report = _AdvertisingReport.Report(
            event_type=kind,
            address_type=pdu.advertiser_address.address_type,
            address=pdu.advertiser_address,
            data=data,
            rssi=_RSSI,
        )
        self.send_hci_packet(_AdvertisingReport([report]))

    def on_hci_le_set_scan_enable_command(self, command: hci.HCI_LE_Set_Scan_Enable_Command) -> hci.HCI_StatusReturnParameters:
        self._reported.clear()
        return super().on_hci_le_set_scan_enable_command(command)

    # The accept list, of which stock stores nothing

    def on_hci_le_clear_filter_accept_list_command(self, _command: object) -> hci.HCI_StatusReturnParameters:
        self._accept_list.clear()
        return hci.HCI_StatusReturnParameters(HCI_ErrorCode.SUCCESS)

    def on_hci_le_add_device_to_filter_accept_list_command(
        self, command: hci.HCI_LE_Add_Device_To_Filter_Accept_List_Command
    ) -> hci.HCI_StatusReturnParameters:
        self._accept_list.add(_key(command.address_type, command.address))
        return hci.HCI_StatusReturnParameters(HCI_ErrorCode.SUCCESS)

    def on_hci_le_remove_device_from_filter_accept_list_command(
        self, command: hci.HCI_LE_Remove_Device_From_Filter_Accept_List_Command
    ) -> hci.HCI_StatusReturnParameters:
        self._accept_list.discard(_key(command.address_type, command.address))
        return hci.HCI_StatusReturnParameters(HCI_ErrorCode.SUCCESS)

    # Connecting

    def create_le_connection(self, peer_address: Address) -> None:
        pending = self.pending_le_connection
        super().create_le_connection(peer_address)
        connection = self.le_connections.get(peer_address)
        if connection is not None and isinstance(pending, hci.HCI_LE_Create_Connection_Command):
            note_parameters(connection, pending.connection_interval_min, pending.supervision_timeout)
            self.link.expect_answer(connection)

    def on_hci_le_create_connection_cancel_command(
        self, _command: hci.HCI_LE_Create_Connection_Cancel_Command
    ) -> hci.HCI_StatusReturnParameters:
        """Stock answers but cancels nothing; the kernel waits for Connection Complete with status 0x02 (7.8.13)."""
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return hci.HCI_StatusReturnParameters(HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        cancelled = hci.HCI_LE_Connection_Complete_Event(
            status=HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            connection_handle=0,
            role=0,
            peer_address_type=pending.peer_address.address_type,
            peer_address=pending.peer_address,
            connection_interval=0,
            peripheral_latency=0,
            supervision_timeout=0,
            central_clock_accuracy=0,
        )
        # The event follows the answer to the command.
        asyncio.get_running_loop().call_soon(self.send_hci_packet, cancelled)
        return hci.HCI_StatusReturnParameters(HCI_ErrorCode.SUCCESS)


class DualRoleController(AdapterController, PeripheralController):
    """The controller behind the kernel's host where that is a headset itself."""


def note_parameters(connection: Connection, interval: int, timeout: int) -> None:
    """Keeps a connection's interval (in 1.25 ms) and supervision timeout (in 10 ms), which stock forgets, in seconds."""
    setattr(connection, "interval", interval * 0.00125)
    setattr(connection, "supervision_timeout", timeout * 0.01)


def _key(address_type: int, address: Address) -> tuple[int, bytes]:
    # The host may name the type of an identity address (2, 3); the list knows public (0) and random (1).
    return int(address_type) & 1, bytes(address)
