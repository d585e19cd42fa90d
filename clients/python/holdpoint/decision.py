"""Decisions about calls, and the reading of answers."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable

from .canonical_json import args_digest
from .errors import GateUnavailable, HoldDenied, StepUpRequired

_identifier = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")


@dataclass(frozen=True)
class BaseDecision:
    """A call that may run."""

    #: ``allowed`` by a rule, or ``approved`` by a person.
    status: str
    hold_id: str
    key: str
    #: The arguments that may run, which a rule or an approver may have changed.
    args: dict[str, Any]
    args_sha256: str
    #: The note of the approver.
    note: str | None
    approver: str | None
    #: Path of the receipt of the call.
    receipt: str | None
    #: True if an earlier process received this call, and may have run it.
    was_released: bool


@dataclass(frozen=True)
class Decision(BaseDecision):
    """A call that may run."""

    _send: Callable[..., None] = field(repr=False, compare=False)

    def report(self, status: str, *, result: Any = None, error: str | None = None) -> None:
        """Reports ``succeeded``, ``failed`` or ``not_run``. The gate receives only the SHA-256 of the result."""
        self._send(self.hold_id, status, result, error)


@dataclass(frozen=True)
class AsyncDecision(BaseDecision):
    """A call that may run."""

    _send: Callable[..., Awaitable[None]] = field(repr=False, compare=False)

    async def report(self, status: str, *, result: Any = None, error: str | None = None) -> None:
        """Reports ``succeeded``, ``failed`` or ``not_run``. The gate receives only the SHA-256 of the result."""
        await self._send(self.hold_id, status, result, error)


@dataclass(frozen=True)
class PendingHold:
    """A call that waits for a decision."""

    hold_id: str
    key: str
    #: The target of the approval request, such as ``channel:slack:#ops``.
    to: str | None
    #: When the call expires, in RFC 3339.
    expires_at: str | None
    #: Seconds until the next request.
    retry_after: float
    status: str = "pending"
    #: What is wrong with the name of the tool; None for a name that the gate lists.
    hint: str | None = None


@dataclass(frozen=True)
class Answer:
    """A response of the gate, with its JSON read."""

    status: int
    body: Any
    challenge: str | None


def read_json(text: bytes) -> Any:
    """Reads JSON without NaN and without a repeated name in one object. Raises ValueError."""
    return json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_refuse)


def read_hold(answer: Answer, *, tool: str, key: str) -> BaseDecision | PendingHold:
    """Reads an answer. Raises HoldDenied, StepUpRequired, and GateUnavailable for one that is malformed."""
    body, status = answer.body, answer.status
    if not isinstance(body, dict):
        raise GateUnavailable("the answer of the gate is not an object", status)
    if status == 401 and body.get("code") == "step_up_required":
        raise StepUpRequired(tool, _text(body, "required_acr"), answer.challenge)
    if status not in (200, 202):
        raise refused_with(status, body)
    hold_id = _text(body, "hold_id") or ""
    if body.get("key") != key or not _identifier.fullmatch(hold_id):
        raise GateUnavailable("the gate answered about another call", status)
    state = body.get("status")
    if state == "pending":
        seconds = body.get("retry_after")
        pause = float(seconds) if isinstance(seconds, int) else 1.0
        expires_at = _text(body, "expires_at")
        hint = _text(body, "hint")
        if hint is not None:
            # The filter of the module `warnings` shows each text once.
            warnings.warn(f"{tool!r} waits for a person: {hint}", stacklevel=2)
        pause = min(max(pause, 1.0), 60.0)
        return PendingHold(hold_id, key, _text(body, "to"), expires_at, pause, hint=hint)
    decided = {"note": _text(body, "note"), "approver": _text(body, "approver")}
    if state in ("denied", "rejected", "expired", "cancelled"):
        reason, repeats = _text(body, "reason"), _repeated(body)
        raise HoldDenied(tool, status=state, hold_id=hold_id, reason=reason, repeats=repeats, **decided)
    if state not in ("allowed", "approved"):
        raise GateUnavailable("the answer of the gate has no known status", status)
    args = body.get("args")
    if not isinstance(args, dict):
        raise GateUnavailable("the answer of the gate has no args", status)
    try:
        digest = args_digest(tool, args)
    except (TypeError, RecursionError) as error:
        raise GateUnavailable("the args of the answer are not plain JSON", status) from error
    if digest != body.get("args_sha256"):
        raise GateUnavailable("the args of the answer do not match args_sha256", status)
    was_released = body.get("released") is True or isinstance(body.get("outcome"), dict)
    return BaseDecision(
        status=str(state),
        hold_id=hold_id,
        key=key,
        args=args,
        args_sha256=digest,
        receipt=_text(body, "receipt"),
        was_released=was_released,
        **decided,
    )


def refused_with(status: int, body: Any, what: str = "the gate answered") -> GateUnavailable:
    """Returns the error for an answer that refuses a request; ``what`` begins its message."""
    error, code = (body.get("error"), body.get("code")) if isinstance(body, dict) else (None, None)
    reason = f": {error[:300]}" if isinstance(error, str) else ""
    return GateUnavailable(f"{what} {status}{reason}", status, code if isinstance(code, str) else None)


def _text(body: dict[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def _repeated(body: dict[str, Any]) -> dict[str, str] | None:
    repeats = body.get("repeats")
    names = ("call_id", "task_id", "key", "outcome")
    if not isinstance(repeats, dict) or any(_text(repeats, name) is None for name in names):
        return None
    return {name: repeats[name] for name in names}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name is repeated in one object")
    return members


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
