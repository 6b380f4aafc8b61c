"""A firmware's GATT database, as Bumble serves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bumble import att, gatt
from bumble.core import UUID
from bumble.device import Device

from .clock import now
from .description import HeadsetDescription
from .firmware import DEVICE_INFORMATION, SERIAL_NUMBER, Characteristic, Firmware, Service

_PROPERTIES = {
    "read": gatt.Characteristic.Properties.READ,
    "write": gatt.Characteristic.Properties.WRITE,
    "write-without-response": gatt.Characteristic.Properties.WRITE_WITHOUT_RESPONSE,
    "notify": gatt.Characteristic.Properties.NOTIFY,
}


class GattDatabase:
    """Adds the services to a device, and knows the handles of their values."""

    def __init__(
        self,
        device: Device,
        firmware: Firmware,
        description: HeadsetDescription,
        written: Callable[[str, bytes], None],
        subscribed: Callable[[str, bool], None],
    ) -> None:
        self.handles: dict[str, int] = {}
        self._firmware = firmware
        self._needs_encryption = description.needs_encryption
        self._written = written
        self._subscribed = subscribed
        information = dict(firmware.device_information())
        if description.serial and firmware.shows_serial:
            information[SERIAL_NUMBER] = description.serial.encode()
        if information:
            constants = [Characteristic(uuid, frozenset({"read"}), value) for uuid, value in information.items()]
            self._add(device, Service(DEVICE_INFORMATION, tuple(constants)))
        for service in firmware.database():
            self._add(device, service)

    def uuid(self, name: str) -> str:
        """The UUID of a characteristic, of which a distinct part is enough; raises ValueError where it is none."""
        found = [uuid for uuid in self.handles if name.lower() in uuid.lower()]
        if len(found) != 1:
            raise ValueError(f"{name} names {len(found)} characteristics")
        return found[0]

    def _add(self, device: Device, service: Service) -> None:
        characteristics = [self._characteristic(characteristic) for characteristic in service.characteristics]
        device.add_service(gatt.Service(UUID(service.uuid), characteristics))
        for specification, characteristic in zip(service.characteristics, characteristics, strict=True):
            self.handles[specification.uuid] = characteristic.handle

    def _characteristic(self, specification: Characteristic) -> gatt.Characteristic[Any]:
        uuid = specification.uuid
        properties = gatt.Characteristic.Properties(0)
        for name in specification.properties:
            properties |= _PROPERTIES[name]
        permissions = gatt.Characteristic.READABLE | gatt.Characteristic.WRITEABLE
        if self._needs_encryption:
            permissions |= gatt.Characteristic.READ_REQUIRES_ENCRYPTION
            permissions |= gatt.Characteristic.WRITE_REQUIRES_ENCRYPTION
        value = gatt.CharacteristicValue(
            read=lambda _connection: self._read(specification),
            write=lambda _connection, written: self._write(specification, bytes(written)),
        )
        characteristic = gatt.Characteristic(UUID(uuid), properties, permissions, value)
        characteristic.on(
            gatt.Characteristic.EVENT_SUBSCRIPTION,
            lambda _bearer, is_notifying, _is_indicating: self._subscribed(uuid, is_notifying),
        )
        return characteristic

    # Bumble's server refuses nothing for the want of a property; real headsets do.

    def _read(self, specification: Characteristic) -> bytes:
        if "read" not in specification.properties:
            raise att.ATT_Error(att.ATT_READ_NOT_PERMITTED_ERROR)
        return self._firmware.read(specification.uuid, now()) or specification.value

    def _write(self, specification: Characteristic, value: bytes) -> None:
        if specification.properties.isdisjoint({"write", "write-without-response"}):
            raise att.ATT_Error(att.ATT_WRITE_NOT_PERMITTED_ERROR)
        self._written(specification.uuid, value)
