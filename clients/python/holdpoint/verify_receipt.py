#!/usr/bin/env python3
"""Verifies receipts of Holdpoint offline, as docs/audit-log.md describes them.

Usage: verify_receipt.py FILE --keys JWKS [--log FILE]...

FILE has one receipt (compact JWS) a line. Exits with 0 when all are valid, 6 when one is not, and 2 when it cannot
check, such as without the package "cryptography".
"""

import argparse
import base64
import hashlib
import json
import sys

TYPE = "holdpoint-receipt+jws"


class Broken(Exception):
    """A receipt proves nothing; the message says why."""


def decode(part):
    """Decodes base64url without padding; other forms are refused."""
    data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != part:
        raise ValueError("not base64url")
    return data


def keys_of(path):
    """Reads the Ed25519 keys of a JWKS by their kid."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    with open(path, encoding="utf-8") as file:
        keys = json.load(file)["keys"]
    return {key["kid"]: Ed25519PublicKey.from_public_bytes(decode(key["x"])) for key in keys}


def claims_of(receipt, keys):
    """Returns the claims of a receipt with a valid signature."""
    from cryptography.exceptions import InvalidSignature

    try:
        first, second, third = receipt.split(".")
        header, claims, signature = json.loads(decode(first)), json.loads(decode(second)), decode(third)
        kid = header["kid"]
    except (ValueError, KeyError, TypeError) as error:
        raise Broken("it is not a receipt: a compact JWS with a JSON header and JSON claims") from error
    if header.get("alg") != "EdDSA" or header.get("typ") != TYPE:
        raise Broken("its header is not that of a receipt")
    if kid not in keys:
        raise Broken(f"kid {json.dumps(kid)} is not one of the keys")
    try:
        keys[kid].verify(signature, f"{first}.{second}".encode())
    except InvalidSignature as error:
        raise Broken("the signature does not match: a member was changed") from error
    return claims


def hashes_of(paths):
    """Returns the SHA-256 of every line of log files."""
    found = set()
    for path in paths:
        with open(path, "rb") as log:
            found.update(hashlib.sha256(line.rstrip(b"\n")).hexdigest() for line in log)
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description="Verifies receipts of Holdpoint offline.")
    parser.add_argument("file", help="receipts, one a line")
    parser.add_argument("--keys", required=True, help="the public keys of the agent: a JWKS file")
    parser.add_argument("--log", action="append", default=[], help="a file of the log, which must have the lines")
    options = parser.parse_args(arguments)
    try:
        keys = keys_of(options.keys)
    except ImportError:
        print('signatures need the package "cryptography": pip install cryptography', file=sys.stderr)
        return 2
    except (OSError, ValueError, KeyError) as error:
        print(f"{options.keys}: {error}", file=sys.stderr)
        return 2
    try:
        with open(options.file, encoding="utf-8") as file:
            receipts = file.read().split()
        log = hashes_of(options.log)
        if not receipts:
            raise Broken("it holds no receipt")
        for receipt in receipts:
            claims = claims_of(receipt, keys)
            for line in claims["lines"] if options.log else []:
                if line["sha256"] not in log:
                    raise Broken(f"the log has no line with the hash {line['sha256']}")
            outcome = (claims["ran"] or {}).get("outcome", "not run")
            where = "signed, and the log has its lines" if options.log else "signed"
            print(f"{claims['task_id']} {claims['call_id']}: {where}; {claims['asked']['tool']}: {outcome}")
    except Broken as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 6
    except OSError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
