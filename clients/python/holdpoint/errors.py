"""The errors of a call that must not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .decision import BaseDecision


class HoldError(Exception):
    """A call must not run."""


class HoldDenied(HoldError):
    """A call may not run. The text of the error is one sentence for the model."""

    def __init__(
        self,
        tool: str,
        *,
        status: str,
        hold_id: str,
        reason: str | None,
        note: str | None,
        approver: str | None,
        repeats: dict[str, str] | None = None,
    ) -> None:
        why = reason or (f"{status}: {note}" if note else status)
        super().__init__(f"{tool} did not run: {why}")
        #: ``denied``, ``rejected``, ``expired`` or ``cancelled``.
        self.status = status
        self.hold_id = hold_id
        self.reason = reason
        #: The note of the approver.
        self.note = note
        self.approver = approver
        #: The call with the same effect that this one repeats: ``call_id``, ``task_id``, ``key``, ``outcome``.
        self.repeats = repeats


class StepUpRequired(HoldError):
    """The call needs a sign-in at a higher level. Ask again with the same key and a token of that level."""

    def __init__(self, tool: str, required_acr: str | None, challenge: str | None) -> None:
        super().__init__(f"{tool} did not run: it needs a sign-in at the level {required_acr or 'of the gate'}")
        #: The level that the call needs.
        self.required_acr = required_acr
        #: The ``WWW-Authenticate`` header of the answer.
        self.challenge = challenge


class GateUnavailable(HoldError):
    """The gate gave no usable answer, so the call must not run."""

    def __init__(self, message: str, status: int | None = None, code: str | None = None) -> None:
        super().__init__(message)
        #: The HTTP status of the last answer; ``None`` without one.
        self.status = status
        #: The code of the error of the gate, such as ``idempotency_key_reused``; ``None`` without one.
        self.code = code


class HoldReleased(HoldError):
    """An earlier process received this call and may have run it. ``run_again=True`` runs it again."""

    def __init__(self, tool: str, decision: BaseDecision) -> None:
        super().__init__(
            f"{tool} did not run: an earlier process received this call and may have run it;"
            " ask with another key, or pass run_again"
        )
        self.decision = decision
