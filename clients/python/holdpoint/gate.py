"""A gate of Holdpoint as a program asks it."""

from __future__ import annotations

import contextlib
import functools
import time
from dataclasses import fields
from typing import Any, Callable, TypeVar, overload

from . import steps
from .decision import BaseDecision, Decision, PendingHold
from .errors import HoldError, HoldReleased
from .steps import Call, Pause, Steps
from .transport import Closing, Transport, headers_of, http_transport

T = TypeVar("T")


class Gate:
    """Asks a gate before a call runs. Threads may share it.

    ``token`` is the bearer token, or a function that returns one for each request. ``agent`` and ``session`` are stated with every call.
    ``timeout`` is the time in seconds for which a failing request is sent again. ``on_unreported`` receives the error of an outcome
    that a guarded call could not report.
    """

    def __init__(
        self,
        url: str,
        token: str | Callable[[], str] | None = None,
        *,
        agent: str | None = None,
        session: str | None = None,
        timeout: float = 120.0,
        on_unreported: Callable[[Exception, BaseDecision], None] | None = None,
        transport: Transport | None = None,
    ) -> None:
        self._transport = transport or http_transport(url)
        self._token = token
        self._preset = {"agent": agent, "session": session}
        self._timeout = timeout
        self._on_unreported = on_unreported

    def hold(self, tool: str, args: dict[str, Any], *, cancel_on_abort: bool = False, **options: Any) -> Decision:
        """Waits until the call may run. Raises HoldDenied, StepUpRequired and GateUnavailable.

        ``options`` are ``key``, ``call_id``, ``session``, ``agent``, ``subject``, ``cwd``, ``context``, ``runs_sha256`` and ``workflow``.
        The same key and call are the same hold; without ``key`` it is made of session and call id, and random without both.
        ``cancel_on_abort`` cancels the hold if an exception such as KeyboardInterrupt ends the wait.
        """
        call = steps.call_of(tool, args, **{**self._preset, **options})
        try:
            return self._decision(self._drive(steps.hold(call, self._timeout)))
        except HoldError:
            raise
        except BaseException:
            if cancel_on_abort:
                self._cancel(call)
            raise

    def ask(self, tool: str, args: dict[str, Any], **options: Any) -> Decision | PendingHold:
        """Asks once and does not wait for a person. Raises as ``hold`` does."""
        call = steps.call_of(tool, args, **{**self._preset, **options})
        known = self._drive(steps.ask(call, self._timeout))
        return known if isinstance(known, PendingHold) else self._decision(known)

    @overload
    def guard(self, tool: str, run: Callable[[dict[str, Any]], T], **preset: Any) -> Callable[..., T]: ...

    @overload
    def guard(self, tool: str, run: None = None, **preset: Any) -> Callable[[Callable[[dict[str, Any]], T]], Callable[..., T]]: ...

    def guard(self, tool: str, run: Callable[[dict[str, Any]], T] | None = None, **preset: Any) -> Any:
        """Returns a function that holds the call, runs ``run`` with the arguments that may run and reports the outcome.

        It raises as ``hold`` does, HoldReleased for a call that an earlier process received (``run_again=True`` runs it), and the
        error of ``run``. Without ``run`` it is a decorator.
        """
        if run is None:
            return functools.partial(self.guard, tool, **preset)

        @functools.wraps(run)
        def guarded(args: dict[str, Any], **given: Any) -> T:
            options = {**preset, **given}
            run_again = options.pop("run_again", False)
            decision = self.hold(tool, args, **options)
            if decision.was_released and not run_again:
                raise HoldReleased(tool, decision)
            try:
                result = run(decision.args)
            except BaseException as error:
                self._report_quietly(decision, "failed", None, f"{type(error).__name__}: {error}")
                raise
            self._report_quietly(decision, "succeeded", result, None)
            return result

        return guarded

    def _drive(self, running: Steps[T]) -> T:
        result = None
        while True:
            try:
                step = running.send(result)
            except StopIteration as end:
                value: T = end.value
                return value
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                result = None
            else:
                token = self._token() if callable(self._token) else self._token
                result = self._transport(step, headers_of(step, token), Closing())

    def _decision(self, known: BaseDecision) -> Decision:
        return Decision(**members_of(known), _send=self._report)

    def _report(self, hold_id: str, status: str, result: Any, error: str | None) -> None:
        self._drive(steps.report(hold_id, status, result, error, self._timeout))

    def _report_quietly(self, decision: BaseDecision, status: str, result: Any, error: str | None) -> None:
        within = min(self._timeout, steps.longest_report)
        try:
            self._drive(steps.report(decision.hold_id, status, result, error, within))
        except Exception as failure:
            if self._on_unreported is not None:
                self._on_unreported(failure, decision)

    def _cancel(self, call: Call) -> None:
        # Without an answer the hold stays until it expires; its call does not run.
        with contextlib.suppress(Exception):
            self._drive(steps.cancel(call))


def members_of(known: BaseDecision) -> dict[str, Any]:
    """Returns the members of a decision."""
    return {member.name: getattr(known, member.name) for member in fields(BaseDecision)}
