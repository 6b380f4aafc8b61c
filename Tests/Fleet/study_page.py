#!/usr/bin/env python3
"""What `eegsync serve --from` answers: study_page.py PORT EXPRESSION [FLEET].

Exit 0 where the expression holds, of `status`, the status of the answer, and `page`, its document. FLEET is what
`eegsync fleet --json` has written; `same(page, fleet)` compares both, whose seconds are not those of one moment.
"""

import json
import pathlib
import re
import sys
import urllib.error
import urllib.request
from typing import Any


def timeless(sentence: str) -> str:
    """Without lengths of time."""
    return re.sub(r"\d[\d.,]* (ms|s|min|h|d|days)\b( \d+ (s|min|h))?", "…", sentence)


def same(page: dict[str, Any], fleet: dict[str, Any]) -> bool:
    """Whether a page has what the fleet has, each headset once."""
    wanted = []
    for machine in fleet["machines"]:
        for each in machine["headsets"] or [{"headset": None, "severity": "idle", "sentence": machine["sentence"]}]:
            about = (machine["study"], machine["machine"], machine["is_silent"], machine.get("version"))
            sentence = timeless(each["sentence"])
            wanted.append((*about, each["headset"], each["severity"], sentence, each.get("gaps_today")))
    shown = [
        (row["study"], row["machine"], row["is_silent"], row.get("version"), row.get("headset"), row["severity"],
         timeless(row["sentence"]), row.get("gaps_today"))
        for row in page["rows"]
    ]  # fmt: skip
    return len(shown) > 0 and sorted(shown, key=repr) == sorted(wanted, key=repr)


def answer(port: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/study", timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, {}


def main() -> int:
    port, expression = sys.argv[1:3]
    status, page = answer(port)
    fleet = json.loads(pathlib.Path(sys.argv[3]).read_text()) if len(sys.argv) > 3 else {}
    if eval(expression, {"status": status, "page": page, "fleet": fleet, "same": same, "json": json}):
        return 0
    sys.stderr.write(f"{expression}: {status} {json.dumps(page)[:2000]}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
