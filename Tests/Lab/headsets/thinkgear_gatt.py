"""Firmware of headsets that send the ThinkGear stream over Bluetooth Low Energy, cut into notifications of 20 bytes.

Sources: NeuroSky's sample for the headset of 2013; for the boards, the services of their radios, which pass a serial port
through: HM-10 (Sichiray's boards) and ISSC's Transparent UART.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .firmware import NOTIFY, WRITE, WRITE_WITHOUT_RESPONSE, Appearance, Characteristic, Firmware, Link, Notification, Service
from .journal import Journal
from .kind import Kind, Specimen
from .mindwave import HANDSHAKE, RAW, SERVICE, MindWavePlan
from .thinkgear import ThinkGearFirmware, samples

if TYPE_CHECKING:
    from .description import HeadsetDescription

_PIECE_LENGTH = 20
# What starts the headset of 2013.
START_2013 = bytes([0x77, 0x00, 0x01, 0xFE])
# By radio: the service, and the characteristic that is its serial port.
RADIOS = {"hm10": ("FFE0", "FFE1"), "issc": ("49535343-FE7D-4AE5-8FA9-9FAFD205E455", "49535343-1E4D-4BD9-BA61-23C647249616")}


class _ThinkGearNotifier(ThinkGearFirmware):
    """Sends its stream from a characteristic."""

    port: str

    def notifications(self, value: bytes) -> list[Notification]:
        starts = range(0, len(value), _PIECE_LENGTH)
        return [Notification(self.port, value[start : start + _PIECE_LENGTH]) for start in starts]


class BoardFirmware(_ThinkGearNotifier):
    """A TGAM board: the module knows nothing of the radio and always sends, heard or not."""

    def __init__(self, name: str, journal: Journal, plan: MindWavePlan, radio: str = "hm10") -> None:
        super().__init__(name, journal, plan)
        self.service, self.port = RADIOS[radio]

    def database(self) -> tuple[Service, ...]:
        return (Service(self.service, (Characteristic(self.port, frozenset({NOTIFY, WRITE_WITHOUT_RESPONSE})),)),)

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, (self.service,))


class MindWave2013Firmware(_ThinkGearNotifier):
    """The headset of 2013: no eSense characteristic; it begins when it is told to, and ends with the link."""

    port = RAW

    def database(self) -> tuple[Service, ...]:
        raw, handshake = Characteristic(RAW, frozenset({NOTIFY})), Characteristic(HANDSHAKE, frozenset({WRITE}))
        return (Service(SERVICE, (raw, handshake)),)

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, (SERVICE,))

    def connected(self, link: Link, now: int) -> None:
        Firmware.connected(self, link, now)

    def write(self, uuid: str, value: bytes, now: int) -> None:
        if uuid == HANDSHAKE and value == START_2013:
            self.begin(now)


def _board(headset: HeadsetDescription, journal: Journal) -> Firmware:
    details = dict(headset.details)
    radio = details.pop("radio", "hm10")
    return BoardFirmware(headset.name, journal, MindWavePlan(headset.seed, **details), radio)


_HM10 = Specimen("BT05", "C0:98:7B:00:00:01", 53, scenario="tgam", title="TGAM board, HM-10")
_ISSC = Specimen(
    "TGAM-ISSC", "C0:98:7B:00:00:01", 54, scenario="tgam-issc", title="TGAM board, ISSC", details={"radio": "issc"}
)
KINDS = (
    Kind(
        "mindwave-2013",
        "mindwave",
        lambda headset, journal: MindWave2013Firmware(headset.name, journal, MindWavePlan(headset.seed, **headset.details)),
        number=35,
        specimens=(Specimen("MindWave Mobile", "C0:68:9E:00:13:01", 52, scenario="mindwave-2013", title="MindWave of 2013"),),
        kind_of_other="mindwave",
        values=lambda stream: samples,
    ),
    Kind("tgam", "tgam", _board, number=35, specimens=(_HM10, _ISSC), kind_of_other="mindwave", values=lambda stream: samples),
)
