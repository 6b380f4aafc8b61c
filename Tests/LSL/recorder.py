"""Records streams of LSL into a file of XDF as LabRecorder does: every sample with the stamp it came with, and clock offsets.

    python recorder.py FILE STREAM...

It says `recording` once all streams are there, ends with SIGTERM, and may be killed at any time: every chunk is in the file as
soon as it came. It knows nothing of eegsync; the format is that of the XDF specification, version 1.0.
"""

import signal
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

import pylsl

FILE_HEADER, STREAM_HEADER, SAMPLES, CLOCK_OFFSET, STREAM_FOOTER = 1, 2, 3, 4, 6
# LabRecorder asks for the clocks' distance as often.
OFFSET_INTERVAL = 5.0


class File:
    """Chunks of XDF, one behind the other."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        file.write(b"XDF:")
        self.add(FILE_HEADER, b'<?xml version="1.0"?><info><version>1.0</version></info>')

    def add(self, tag: int, content: bytes) -> None:
        self.file.write(b"\x04" + struct.pack("<IH", len(content) + 2, tag) + content)
        self.file.flush()


class Stream:
    """One inlet and its part of the file."""

    def __init__(self, number: int, info: pylsl.StreamInfo, file: File) -> None:
        self.number = struct.pack("<I", number)
        self.file = file
        self.is_text = info.channel_format() == pylsl.cf_string
        self.inlet = pylsl.StreamInlet(info, recover=True)
        self.format = {pylsl.cf_float32: "f", pylsl.cf_double64: "d", pylsl.cf_int32: "i"}.get(info.channel_format(), "")
        self.stamps: list[float] = []
        self.count = 0
        self.next_offset = 0.0
        file.add(STREAM_HEADER, self.number + self.inlet.info(timeout=10).as_xml().encode())

    def take(self) -> None:
        """What has come since, and now and then the distance of the clocks."""
        if time.monotonic() >= self.next_offset:
            self.next_offset = time.monotonic() + OFFSET_INTERVAL
            self.take_offset()
        values, stamps = self.inlet.pull_chunk(timeout=0.0, max_samples=4096)
        if not stamps:
            return
        self.stamps = [(self.stamps or stamps)[0], stamps[-1]]
        self.count += len(stamps)
        rows = [b"\x08" + struct.pack("<d", stamp) + self.encoded(row) for stamp, row in zip(stamps, values, strict=True)]
        self.file.add(SAMPLES, self.number + b"\x04" + struct.pack("<I", len(rows)) + b"".join(rows))

    def take_offset(self) -> None:
        try:
            offset = self.inlet.time_correction(timeout=1)
        except (pylsl.util.TimeoutError, pylsl.util.LostError):
            # The outlet is gone for now; the next one comes soon enough.
            return
        self.file.add(CLOCK_OFFSET, self.number + struct.pack("<dd", pylsl.local_clock() - offset, offset))

    def encoded(self, row: list[Any]) -> bytes:
        if not self.is_text:
            return struct.pack(f"<{len(row)}{self.format}", *row)
        texts = [text.encode() for text in row]
        return b"".join(b"\x04" + struct.pack("<I", len(text)) + text for text in texts)

    def finish(self) -> None:
        first, last = (self.stamps or [0.0, 0.0])[0], (self.stamps or [0.0, 0.0])[-1]
        text = (
            f'<?xml version="1.0"?><info><first_timestamp>{first}</first_timestamp><last_timestamp>{last}</last_timestamp>'
            f"<sample_count>{self.count}</sample_count></info>"
        )
        self.file.add(STREAM_FOOTER, self.number + text.encode())


def main() -> None:
    path, *names = sys.argv[1:]
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with Path(path).open("wb") as output:
        file = File(output)
        streams = []
        for number, name in enumerate(names, 1):
            infos = pylsl.resolve_byprop("name", name, timeout=20)
            if not infos:
                sys.exit(f"there is no stream {name}")
            streams.append(Stream(number, infos[0], file))
        for stream in streams:
            stream.take()
        print("recording", flush=True)
        while not ended.wait(0.1):
            for stream in streams:
                stream.take()
        for stream in streams:
            stream.take()
            stream.finish()


main()
