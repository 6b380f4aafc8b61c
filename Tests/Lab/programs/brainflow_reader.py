"""BrainFlow connects to a headset, starts it, listens, stops it, and writes what was delivered, a line of JSON for each event.

Arguments: the name of the board in BrainFlow, the headset's name, what else BrainFlow is to know of it, and how many seconds to
listen. It takes the machine's first adapter.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

from brainflow.board_shim import BoardIds, BoardShim, BrainFlowInputParams


def _say(**event: Any) -> None:
    print(json.dumps({"boottime": time.clock_gettime_ns(time.CLOCK_BOOTTIME), **event}), flush=True)


def _listen(seconds: float) -> None:
    """The headset sends in real time."""
    threading.Event().wait(seconds)


def main() -> None:
    BoardShim.enable_dev_board_logger()
    board = BoardIds[sys.argv[1]]
    parameters = BrainFlowInputParams()
    parameters.serial_number = sys.argv[2]
    parameters.other_info = sys.argv[3]
    parameters.timeout = 15
    shim = BoardShim(board, parameters)
    shim.prepare_session()
    _say(event="found")
    shim.start_stream()
    _say(event="started")
    _listen(float(sys.argv[4]))
    _say(event="stops")
    shim.stop_stream()
    _listen(2)
    data = shim.get_board_data()
    eeg = BoardShim.get_eeg_channels(board)
    number = BoardShim.get_package_num_channel(board)
    _say(event="eeg", numbers=data[number].tolist(), rows=data[eeg].T.tolist())
    shim.release_session()
    _say(event="disconnected")


main()
