"""The bytes that a headset advertises."""

from __future__ import annotations

from bumble.core import UUID, AdvertisingData

from .firmware import Appearance

# LE General Discoverable, BR/EDR not supported.
_FLAGS = b"\x06"


def advertising_data(appearance: Appearance) -> bytes:
    """Flags and service UUIDs: 3 + 18 of 31 bytes, so that there is room for the name only where there is no service."""
    parts: list[tuple[int, bytes]] = [(AdvertisingData.FLAGS, _FLAGS)]
    if not appearance.services:
        parts.append((AdvertisingData.COMPLETE_LOCAL_NAME, appearance.name.encode()))
    for service in appearance.services:
        uuid = bytes(UUID(service))
        if len(uuid) == 2:
            parts.append((AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, uuid))
        else:
            parts.append((AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, uuid))
    return bytes(AdvertisingData(parts))


def scan_response_data(appearance: Appearance) -> bytes:
    """The complete local name, and manufacturer data where there are some."""
    parts: list[tuple[int, bytes]] = [(AdvertisingData.COMPLETE_LOCAL_NAME, appearance.name.encode())]
    if appearance.manufacturer_data:
        parts.append((AdvertisingData.MANUFACTURER_SPECIFIC_DATA, appearance.manufacturer_data))
    return bytes(AdvertisingData(parts))
