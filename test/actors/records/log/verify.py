"""Verifies an audit log from its description in docs/audit-log.md alone, signatures with --keys.

Usage: verify.py [--keys JWKS] FILE...   (oldest file first); exits with 6 when a line is bad.
"""

import base64
import hashlib
import json
import sys

GENESIS = "0" * 64

# Ed25519 as RFC 8032 section 5.1 writes it: points in extended coordinates on -x^2 + y^2 = 1 + d x^2 y^2.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(scalar, p):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = add(result, p)
        p, scalar = add(p, p), scalar >> 1
    return result


def point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT % P
    if y >= P or (x * x - square) % P != 0 or (x == 0 and sign == 1):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signature(key, data, signature):
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or a is None or r is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + data).digest(), "little") % ORDER
    left, right = times(s, BASE), add(r, times(k, a))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


def keys_of(path):
    with open(path, encoding="utf-8") as file:
        keys = json.load(file)["keys"]
    return {key["kid"]: base64.urlsafe_b64decode(key["x"] + "=") for key in keys}


def bad_signature(line, event, keys):
    """The line without its last top-level `sig` member is what was signed."""
    sig = str(event["sig"])
    before, _, after = line.decode("utf-8").rpartition(f',"sig":"{sig}"')
    if event.get("kid") not in keys:
        return "kid is not one of the keys"
    signature = base64.b64decode(sig)
    if not is_signature(keys[event["kid"]], (before + after).encode("utf-8"), signature):
        return "sig does not match the line"
    return None


def lines_of(path):
    with open(path, "rb") as log:
        for number, line in enumerate(log, start=1):
            yield number, line


def verify(paths, keys):
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
            if "kid" in event and "sig" not in event:
                return f"{where}: sig is missing", 6
            if "sig" in event and keys is not None:
                reason = bad_signature(line, event, keys)
                if reason is not None:
                    return f"{where}: {reason}", 6
            head = hashlib.sha256(line).hexdigest()
            events += 1
            signed += bool(event.get("sig"))
    return f"{events} events, chain intact, {signed} signed", 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    known = None
    if arguments[:1] == ["--keys"]:
        known, arguments = keys_of(arguments[1]), arguments[2:]
    text, code = verify(arguments, known)
    print(text)
    sys.exit(code)
