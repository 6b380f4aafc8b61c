"""A small experiment of PsychoPy: shapes on the screen, each with a marker of when the screen changed.

    python experiment.py PORT COUNT

Prints for each shape its name and the instant of the flip, in nanoseconds of CLOCK_BOOTTIME.
"""

import json
import socket
import sys
import time

from psychopy import core, visual

# Between two shapes: long enough that none waits for the one before.
PAUSE_SECONDS = 0.05

markers = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def mark(text: str, shown: float, port: int) -> None:
    """Sends a marker of something that the screen showed at an instant of PsychoPy's clock."""
    line = json.dumps({"text": text, "seconds_ago": max(0.0, core.monotonicClock.getTime() - shown)})
    markers.sendto(line.encode(), ("127.0.0.1", port))


def main() -> None:
    port, count = int(sys.argv[1]), int(sys.argv[2])
    window = visual.Window(size=(320, 240), allowGUI=False, checkTiming=False)
    shape = visual.Circle(window, radius=0.3)
    # PsychoPy's clock beside the machine's.
    offset = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - round(core.monotonicClock.getTime() * 1e9)
    for number in range(count):
        shape.radius = 0.2 + 0.1 * (number % 5)
        shape.draw()
        shown = window.flip()
        # What a program does between the screen and the marker delays the message, and not the mark.
        core.wait(0.002 * (number % 4))
        mark(f"shape {number}", shown, port)
        print(f"shape {number}\t{offset + round(shown * 1e9)}", flush=True)
        core.wait(PAUSE_SECONDS)
    window.close()


if __name__ == "__main__":
    main()
