"""RFC 8785 canonical JSON, and its digest."""

from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal
from typing import Any

_largest = 2**53 - 1


def canonical_json(value: Any, path: str) -> str:
    """Returns the RFC 8785 form of plain JSON. Raises TypeError with the path of a value that JSON would change."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise TypeError(f"{path} is not plain JSON")
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        if not math.isfinite(value) or (value == int(value) and abs(value) > _largest):
            raise TypeError(f"{path} is not plain JSON")
        return str(int(value)) if value == int(value) else _decimal(value)
    if isinstance(value, list):
        return f"[{','.join(canonical_json(item, f'{path}[{index}]') for index, item in enumerate(value))}]"
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"{path} is not plain JSON")
    members = {canonical_json(name, path): (name, member) for name, member in value.items()}
    ordered = sorted(members.items(), key=lambda item: item[1][0].encode("utf-16-be"))
    return "{%s}" % ",".join(f"{name}:{canonical_json(member, f'{path}.{key}')}" for name, (key, member) in ordered)


def args_digest(tool: str, args: dict[str, Any]) -> str:
    """Returns the ``args_sha256`` of a call: the SHA-256 of ``{tool, args}`` in RFC 8785 form."""
    return sha256(canonical_json({"tool": tool, "args": args}, "call"))


def sha256(text: str) -> str:
    """Returns the lower-case hex SHA-256 of a string."""
    return hashlib.sha256(text.encode()).hexdigest()


def _decimal(value: float) -> str:
    """Formats a number with a fraction as ECMAScript does."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    minus = "-" if sign else ""
    assert isinstance(exponent, int)
    point = len(text) + exponent
    if 0 < point:
        return f"{minus}{text[:point]}.{text[point:]}"
    if -6 < point:
        return f"{minus}0.{'0' * -point}{text}"
    mantissa = text if len(text) == 1 else f"{text[0]}.{text[1:]}"
    return f"{minus}{mantissa}e{point - 1}"
