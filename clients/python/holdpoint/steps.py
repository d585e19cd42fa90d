"""The conversation with a gate, without I/O: generators that yield requests and pauses."""

from __future__ import annotations

import email.utils
import json
import random
import time
import uuid
from dataclasses import dataclass
from typing import Any, Generator, TypeVar, Union

from .canonical_json import canonical_json, sha256
from .decision import Answer, BaseDecision, PendingHold, read_hold, read_json, refused_with
from .errors import GateUnavailable

#: Maximum wait of one request for a decision, in seconds.
_longest_wait = 30

#: Maximum duration of the report of a guarded call, in seconds.
longest_report = 10.0


@dataclass(frozen=True)
class Request:
    """A request to the gate."""

    method: str
    path: str
    body: str | None = None
    #: Seconds for which the gate may hold the request.
    wait: int = 0


@dataclass(frozen=True)
class Response:
    """A response of the gate. The names of its headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Pause:
    """A pause before the next request."""

    seconds: float


#: What a request results in: a response, or the sentence of a failure that may pass.
Result = Union[Response, str]
T = TypeVar("T")
Steps = Generator[Union[Request, Pause], Union[Result, None], T]


@dataclass(frozen=True)
class Call:
    """A call that the program would run."""

    tool: str
    key: str
    body: str
    #: Identifies this request, so that the gate recognises it when it is sent again.
    claim: str


def call_of(
    tool: str,
    args: dict[str, Any],
    *,
    key: str | None = None,
    call_id: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    subject: str | None = None,
    cwd: str | None = None,
    context: dict[str, Any] | None = None,
    runs_sha256: str | None = None,
    workflow: dict[str, str] | None = None,
) -> Call:
    """Returns a call. Raises TypeError for arguments that are not plain JSON."""
    if not isinstance(args, dict):
        raise TypeError("args must be a dict")
    canonical_json(args, "args")
    canonical_json(context, "context")
    made = key
    if made is None and session is not None and call_id is not None:
        made = f"{session.replace(':', '%3A')}:{call_id}"
        made = sha256(made) if len(made) > 256 else made
    known = made or str(uuid.uuid4())
    claim = str(uuid.uuid4())
    stated = {"agent": agent, "session": session, "subject": subject, "cwd": cwd, "context": context, "runs_sha256": runs_sha256}
    asked = {"key": known, "claim": claim, "tool": tool, "args": args, **{name: value for name, value in stated.items() if value is not None}}
    return Call(tool, known, json.dumps({**(workflow or {}), **asked}, allow_nan=False), claim)


def ask(call: Call, timeout: float) -> Steps[BaseDecision | PendingHold]:
    """Asks once."""
    return _read((yield from _send(Request("POST", "holds", call.body), timeout)), call)


def hold(call: Call, timeout: float) -> Steps[BaseDecision]:
    """Asks until the call is decided."""
    known = yield from ask(call, timeout)
    while isinstance(known, PendingHold):
        sent_at = time.monotonic()
        waiting = Request("GET", f"holds/{known.hold_id}?claim={call.claim}", wait=_longest_wait)
        known = _read((yield from _send(waiting, timeout)), call)
        if isinstance(known, PendingHold):
            yield Pause(max(0.0, sent_at + known.retry_after - time.monotonic()))
    return known


def report(hold_id: str, status: str, result: Any, error: str | None, timeout: float) -> Steps[None]:
    """Reports the end of a call."""
    digest = None if result is None else _result_digest(result)
    body = {"status": status, **({} if digest is None else {"result_sha256": digest})}
    if error:
        body["error"] = error[:2_000].encode("utf-8", "replace").decode()
    answer = yield from _send(Request("POST", f"holds/{hold_id}/outcome", json.dumps(body)), timeout)
    if answer.status != 200:
        raise refused_with(answer.status, answer.body, "the gate refused the outcome with")


def cancel(call: Call) -> Steps[None]:
    """Cancels the hold of a call that does not run."""
    known = yield from ask(call, 0)
    if isinstance(known, PendingHold):
        yield from _send(Request("DELETE", f"holds/{known.hold_id}"), 0)
    elif not known.was_released:
        yield from report(known.hold_id, "not_run", None, None, 0)


def _send(request: Request, timeout: float) -> Steps[Answer]:
    """Sends a request, and sends it again after a passing failure."""
    until = time.monotonic() + request.wait + timeout
    attempt = 0
    while True:
        result = yield request
        failure, asked = _failure_of(result)
        if failure is None:
            assert isinstance(result, Response)
            return _answer_of(result)
        pause = _back_off(attempt) if asked is None else asked
        if time.monotonic() + pause > until:
            raise failure
        yield Pause(pause)
        attempt += 1


def _failure_of(result: Result | None) -> tuple[GateUnavailable | None, float | None]:
    """Returns the failure that may pass, and the pause that the gate asks for, in seconds."""
    if not isinstance(result, Response):
        return GateUnavailable(result or "the gate gave no answer"), None
    status = result.status
    if 300 <= status < 400:
        raise GateUnavailable("the gate redirects; use its final address as url", status)
    if status not in (408, 425, 429) and status < 500:
        return None, None
    return refused_with(status, _parsed(result.body)), _pause_of(result.headers.get("retry-after"))


def _answer_of(response: Response) -> Answer:
    body = _parsed(response.body)
    if body is ...:
        raise GateUnavailable("the answer of the gate is not JSON", response.status)
    return Answer(response.status, body, response.headers.get("www-authenticate"))


def _parsed(body: bytes) -> Any:
    try:
        return read_json(body)
    except (ValueError, RecursionError):
        return ...


def _read(answer: Answer, call: Call) -> BaseDecision | PendingHold:
    return read_hold(answer, tool=call.tool, key=call.key)


def _result_digest(result: Any) -> str | None:
    """Digest of a string's UTF-8 bytes, or of the RFC 8785 form of other JSON; None if it is not plain JSON."""
    try:
        return sha256(result if isinstance(result, str) else canonical_json(result, "result"))
    except (TypeError, ValueError, RecursionError):
        return None


def _pause_of(header: str | None) -> float | None:
    """Reads ``Retry-After``, in seconds with up to a tenth of jitter; None if it has no valid value."""
    if header is None:
        return None
    if header.isascii() and header.isdigit() and len(header) < 10:
        seconds = float(header)
    else:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return max(seconds, 0.1) * (1 + random.random() / 10)


def _back_off(attempt: int) -> float:
    return min(0.25 * 2.0 ** min(attempt, 10), 10.0) * (0.5 + random.random() / 2)
