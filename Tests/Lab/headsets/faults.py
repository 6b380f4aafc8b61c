"""What happens to notifications between a headset's firmware and the air."""

from __future__ import annotations

from dataclasses import dataclass, field

from .firmware import Notification


@dataclass
class NotificationFaults:
    """Loses, repeats and holds back notifications, by characteristic."""

    lose: dict[str, int] = field(default_factory=dict)
    duplicate: dict[str, int] = field(default_factory=dict)
    stalled: bool = False
    held: list[Notification] = field(default_factory=list)

    def pass_through(self, notifications: list[Notification]) -> list[tuple[Notification, str | None]]:
        """What reaches the air, with the fault that concerned it: "lost" ones are listed, too, but must not be sent."""
        if self.stalled or self.held:
            self.held += notifications
            return []
        if not self.lose and not self.duplicate:
            return [(notification, None) for notification in notifications]
        passed: list[tuple[Notification, str | None]] = []
        for notification in notifications:
            if self._take(self.lose, notification.uuid):
                passed.append((notification, "lost"))
            elif self._take(self.duplicate, notification.uuid):
                passed += [(notification, None), (notification, "duplicated")]
            else:
                passed.append((notification, None))
        return passed

    def release(self, most: int) -> list[Notification]:
        """Ends a stall and hands out, in order, some of what was held back. What comes meanwhile waits behind it."""
        released, self.held = self.held[:most], self.held[most:]
        self.stalled = False
        return released

    @staticmethod
    def _take(counts: dict[str, int], uuid: str) -> bool:
        if counts.get(uuid, 0) <= 0:
            return False
        counts[uuid] -= 1
        if counts[uuid] == 0:
            del counts[uuid]
        return True
