"""Gates for tests. They send nothing, and are otherwise the same code."""

from __future__ import annotations

import json
import re
import threading
from typing import Any, Callable

from .async_gate import AsyncGate
from .canonical_json import args_digest
from .gate import Gate
from .steps import Request, Response
from .transport import Closing

#: Returns a status, or a dict of ``status`` and any of ``args``, ``reason``, ``note``, ``approver`` and ``released``.
Decide = Callable[["dict[str, Any]"], "str | dict[str, Any]"]


class _Memory:
    """Decides each key once, and keeps calls and outcomes."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._holds: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self.calls: list[dict[str, Any]] = []
        self.outcomes: list[dict[str, Any]] = []

    def send(self, request: Request, _headers: dict[str, str], _closing: Closing) -> Response:
        body = json.loads(request.body or "{}")
        with self._lock:
            outcome = re.fullmatch(r"holds/hold-(\d+)/outcome", request.path)
            if outcome is not None:
                call = self.calls[int(outcome[1]) - 1]
                self.outcomes.append({"tool": call["tool"], "key": call["key"], **body})
                return Response(200, {}, b"{}")
            body.pop("claim", None)
            if body["key"] not in self._holds:
                self.calls.append(body)
                self._holds[body["key"]] = self._decided(body)
            return Response(200, {}, json.dumps(self._holds[body["key"]]).encode())

    def _decided(self, call: dict[str, Any]) -> dict[str, Any]:
        decision = self._decide(call)
        members = {"status": decision} if isinstance(decision, str) else decision
        known = {"hold_id": f"hold-{len(self.calls)}", "key": call["key"], "args": call["args"], **members}
        return {**known, "args_sha256": args_digest(call["tool"], known["args"])}


def _allow(_call: dict[str, Any]) -> str:
    return "allowed"


class TestGate(Gate):
    """A gate in memory. ``calls`` and ``outcomes`` are what it received."""

    __test__ = False

    def __init__(self, decide: Decide = _allow, **options: Any) -> None:
        memory = _Memory(decide)
        super().__init__("http://gate.invalid", transport=memory.send, **options)
        self.calls, self.outcomes = memory.calls, memory.outcomes


class AsyncTestGate(AsyncGate):
    """A gate in memory for asyncio. ``calls`` and ``outcomes`` are what it received."""

    __test__ = False

    def __init__(self, decide: Decide = _allow, **options: Any) -> None:
        memory = _Memory(decide)
        super().__init__("http://gate.invalid", transport=memory.send, **options)
        self.calls, self.outcomes = memory.calls, memory.outcomes
