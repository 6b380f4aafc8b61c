"""The time map of a stream: from the number of a sample to UTC, by the arithmetic of the database's views."""

import dataclasses
import sqlite3

import numpy as np
from numpy.typing import NDArray

# numpy's "not a time": the time of a row whose host boot has no clock that is known.
NO_TIME = int(np.iinfo(np.int64).min)


@dataclasses.dataclass(frozen=True)
class TimeMap:
    """Lines from n to UTC, ascending by `first_n`. A row takes the last one that begins at or before it, or the first one."""

    first_n: NDArray[np.int64]
    reference_n: NDArray[np.int64]
    # NO_TIME where the clock of the host boot is not known
    reference_unix_ns: NDArray[np.int64]
    period_ns: NDArray[np.float64]
    host_boot_id: NDArray[np.int64]

    @staticmethod
    def read(connection: sqlite3.Connection, stream_id: int) -> "TimeMap":
        rows = connection.execute(
            "SELECT g.first_n, g.reference_n, coalesce(k.offset_ns + g.reference_boottime_ns, ?), g.period_ns, g.host_boot_id"
            " FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id"
            " WHERE g.stream_id = ? ORDER BY g.first_n",
            [NO_TIME, stream_id],
        ).fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * 5
        whole = [np.array(columns[index], dtype=np.int64) for index in (0, 1, 2, 4)]
        return TimeMap(whole[0], whole[1], whole[2], np.array(columns[3], dtype=np.float64), whole[3])

    def unix_ns(self, n: NDArray[np.int64]) -> NDArray[np.int64]:
        """Nanoseconds since 1970 in UTC, to the nanosecond those of the column `unix_ns` of the stream's view."""
        if self.first_n.size == 0:
            return np.full(n.shape, NO_TIME, dtype=np.int64)
        line = np.maximum(np.searchsorted(self.first_n, n, side="right") - 1, 0)
        distance = (n - self.reference_n[line]) * self.period_ns[line]
        # SQLite's round(): half away from zero, where numpy's rounds half to even.
        rounded = np.trunc(distance + np.copysign(0.5, distance)).astype(np.int64)
        reference = self.reference_unix_ns[line]
        return np.where(reference == NO_TIME, NO_TIME, reference + rounded)

    def position(self, n: int, unix_ns: int) -> float:
        """Which n an instant near the sample n has, with its fraction of a sample."""
        line = max(int(np.searchsorted(self.first_n, n, side="right")) - 1, 0)
        return float(self.reference_n[line]) + (unix_ns - int(self.reference_unix_ns[line])) / float(self.period_ns[line])

    def ranges(self, start_ns: int, stop_ns: int) -> list[tuple[int, int]]:
        """Ranges of n, both ends included, that hold all samples from `start_ns` to before `stop_ns`, and a few more.

        There are several where the clock of one host boot overlaps another's.
        """
        limits = np.append(self.first_n[1:] - 1, np.iinfo(np.int64).max)
        found: list[tuple[int, int]] = []
        for line in range(self.first_n.size):
            reference = int(self.reference_unix_ns[line])
            if reference == NO_TIME:
                continue
            period = float(self.period_ns[line])
            first = int(self.reference_n[line]) + int((start_ns - reference) / period) - 2
            last = int(self.reference_n[line]) + int((stop_ns - reference) / period) + 2
            first = first if line == 0 else max(first, int(self.first_n[line]))
            last = min(last, int(limits[line]))
            if first > last:
                continue
            if found and found[-1][1] + 1 >= first:
                found[-1] = (found[-1][0], last)
            else:
                found.append((first, last))
        return found
