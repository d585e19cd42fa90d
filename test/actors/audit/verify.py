"""Verifies the chain of an audit log from its description in docs/audit-log.md alone.

Usage: verify.py FILE...   (oldest file first); exits with 6 when the chain is broken.
"""

import hashlib
import json
import sys

GENESIS = "0" * 64


def lines_of(path):
    with open(path, "rb") as log:
        for number, line in enumerate(log, start=1):
            yield number, line


def verify(paths):
    head, events, signed = GENESIS, 0, 0
    for path in paths:
        for number, raw in lines_of(path):
            where = f"{path}:{number}"
            if not raw.endswith(b"\n"):
                return f"{where}: the newline at the end is missing", 6
            line = raw[:-1]
            try:
                event = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError):
                return f"{where}: the line is not valid JSON", 6
            if not isinstance(event, dict) or event.get("prev_hash") != head:
                return f"{where}: prev_hash does not match the previous line", 6
            if event.get("event") == "checkpoint":
                if event.get("fields") != {"count": events, "head": head}:
                    return f"{where}: the checkpoint does not match the lines before it", 6
            head = hashlib.sha256(line).hexdigest()
            events += 1
            signed += bool(event.get("sig"))
    return f"{events} events, chain intact, {signed} signed", 0


if __name__ == "__main__":
    text, code = verify(sys.argv[1:])
    print(text)
    sys.exit(code)
