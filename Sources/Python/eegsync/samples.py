"""Samples of a stream, as they were read."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eegsync.recording import Stream

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True)
class Samples:
    """Samples by ascending n. A lost sample is not there; a lost channel is NaN in `values`."""

    stream: Stream
    # The number of each sample in its stream
    n: NDArray[np.int64]
    # Nanoseconds since 1970 in UTC; where the clock of a host boot is not known, the least integer, which is NaT in `time`
    unix_ns: NDArray[np.int64]
    # The headset's own integers: a row for each sample, a column for each channel; 0 where a channel was lost
    raw: NDArray[np.int32] | NDArray[np.int64]
    # The same shape, True where a channel was lost; None where none was
    missing: NDArray[np.bool_] | None

    def __len__(self) -> int:
        return len(self.n)

    @property
    def time(self) -> NDArray[np.datetime64]:
        """UTC, to the nanosecond."""
        return self.unix_ns.view("datetime64[ns]")

    @property
    def values(self) -> NDArray[np.float64]:
        """Physical values in the units of the channels: raw * scale + offset, NaN where a channel was lost."""
        channels = self.stream.channels
        scales = np.array([channel.scale for channel in channels])
        offsets = np.array([channel.offset for channel in channels])
        values: NDArray[np.float64] = self.raw * scales + offsets
        if self.missing is not None:
            values[self.missing] = np.nan
        return values

    def gridded(self) -> NDArray[np.float64]:
        """The values of every n from the first to the last, NaN where there is no sample: positions are times again."""
        if len(self.n) == 0:
            return np.empty((0, self.raw.shape[1]))
        grid = np.full((int(self.n[-1] - self.n[0]) + 1, self.raw.shape[1]), np.nan)
        grid[self.n - self.n[0]] = self.values
        return grid

    def frame(self) -> "pd.DataFrame":
        """A table of pandas: n as its index, the column `time` in UTC, and a column for each channel."""
        import pandas as pd

        frame = pd.DataFrame(self.values, columns=unique_names(self.stream), index=pd.Index(self.n, name="n"))
        frame.insert(0, "time", pd.to_datetime(self.time, utc=True))
        return frame


def unique_names(stream: Stream) -> list[str]:
    """The channels' names, with numbers where two are alike but for letter case, or one is like a column of the view."""
    used = {"n", "time", "unix_ns"}
    names = []
    for channel in stream.channels:
        name, number = channel.name, 2
        while name.lower() in used:
            name, number = f"{channel.name}_{number}", number + 1
        used.add(name.lower())
        names.append(name)
    return names
