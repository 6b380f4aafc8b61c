"""Serves headsets: `python -m headsets DESCRIPTION --control SOCKET [--journals DIRECTORY] [--state DIRECTORY]`."""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

from radio import Radio

from .control import ControlSocket
from .description import has_phone, has_second_adapter, make_firmware, read_description
from .headset import Headset
from .journal import Journal
from .phone import Phone
from .serial_headset import SerialHeadset
from .state import StateDirectory


async def serve(arguments: argparse.Namespace) -> None:
    """Puts the adapter in, switches all headsets on and serves the control socket."""
    descriptions = read_description(arguments.description)
    radio = Radio(dual_mode=any(description.is_serial for description in descriptions))
    radio.plug()
    if has_second_adapter(arguments.description):
        radio.plug_second()
    headsets: list[Headset | SerialHeadset] = []
    for description in descriptions:
        path = arguments.journals / f"{description.name}.jsonl" if arguments.journals else None
        journal = Journal(path)
        kind = SerialHeadset if description.is_serial else Headset
        headsets.append(kind(description, make_firmware(description, journal), journal, radio))
    if arguments.state:
        await StateDirectory(headsets, arguments.state).power_on(arguments.off)
    else:
        for headset in headsets:
            await headset.power_on()
    phone = Phone(radio) if has_phone(arguments.description) else None
    if phone is not None:
        await phone.power_on()
    control = ControlSocket(headsets, radio, phone)
    async with await control.serve(arguments.control):
        print(f"{len(headsets)} headsets are ready", flush=True)
        await control.finished.wait()
    radio.unplug()


def main() -> None:
    parser = argparse.ArgumentParser(prog="headsets", description="Serves the headsets of the lab.")
    parser.add_argument("description", type=Path, help="JSON file, see headsets.description")
    parser.add_argument("--control", type=Path, required=True, help="Unix socket that is created when all is ready")
    parser.add_argument("--journals", type=Path, help="directory for NAME.jsonl of each headset")
    parser.add_argument("--state", type=Path, help="directory from which headsets go on after the machine was killed")
    parser.add_argument("--off", type=float, default=0.0, help="for how many seconds the machine was off")
    parser.add_argument("--log", default="ERROR", help="level of Bumble's log")
    arguments = parser.parse_args()
    logging.basicConfig(level=arguments.log)
    asyncio.run(serve(arguments))


main()
