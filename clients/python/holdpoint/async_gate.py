"""A gate of Holdpoint for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import threading
from typing import Any, Awaitable, Callable, Coroutine, TypeVar, overload

from . import steps
from .decision import AsyncDecision, BaseDecision, PendingHold
from .errors import HoldError, HoldReleased
from .gate import members_of
from .steps import Call, Pause, Request, Result, Steps
from .transport import Closing, Transport, headers_of, http_transport

T = TypeVar("T")


class AsyncGate:
    """Asks a gate before a call runs, as ``Gate`` does. ``token`` may also be a coroutine function."""

    def __init__(
        self,
        url: str,
        token: str | Callable[[], str | Awaitable[str]] | None = None,
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
        self._cancelling: set[asyncio.Task[None]] = set()

    async def hold(
        self, tool: str, args: dict[str, Any], *, cancel_on_abort: bool = False, **options: Any
    ) -> AsyncDecision:
        """Waits until the call may run, as ``Gate.hold`` does. ``cancel_on_abort`` cancels the hold if the task is cancelled."""
        call = steps.call_of(tool, args, **{**self._preset, **options})
        try:
            return self._decision(await self._drive(steps.hold(call, self._timeout)))
        except HoldError:
            raise
        except BaseException:
            if cancel_on_abort:
                cancelling = asyncio.get_running_loop().create_task(self._cancel(call))
                self._cancelling.add(cancelling)
                cancelling.add_done_callback(self._cancelling.discard)
            raise

    async def ask(self, tool: str, args: dict[str, Any], **options: Any) -> AsyncDecision | PendingHold:
        """Asks once and does not wait for a person. Raises as ``hold`` does."""
        call = steps.call_of(tool, args, **{**self._preset, **options})
        known = await self._drive(steps.ask(call, self._timeout))
        return known if isinstance(known, PendingHold) else self._decision(known)

    @overload
    def guard(self, tool: str, run: Callable[[dict[str, Any]], Awaitable[T]], **preset: Any) -> Callable[..., Coroutine[Any, Any, T]]: ...

    @overload
    def guard(self, tool: str, run: None = None, **preset: Any) -> Callable[[Callable[[dict[str, Any]], Awaitable[T]]], Callable[..., Coroutine[Any, Any, T]]]: ...

    def guard(self, tool: str, run: Callable[[dict[str, Any]], Awaitable[T]] | None = None, **preset: Any) -> Any:
        """Returns a coroutine function that holds, runs and reports, as ``Gate.guard`` does."""
        if run is None:
            return functools.partial(self.guard, tool, **preset)

        @functools.wraps(run)
        async def guarded(args: dict[str, Any], **given: Any) -> T:
            options = {**preset, **given}
            run_again = options.pop("run_again", False)
            decision = await self.hold(tool, args, **options)
            if decision.was_released and not run_again:
                raise HoldReleased(tool, decision)
            try:
                result = await run(decision.args)
            except BaseException as error:
                await self._report_quietly(decision, "failed", None, f"{type(error).__name__}: {error}")
                raise
            await self._report_quietly(decision, "succeeded", result, None)
            return result

        return guarded

    async def _drive(self, running: Steps[T]) -> T:
        result = None
        while True:
            try:
                step = running.send(result)
            except StopIteration as end:
                value: T = end.value
                return value
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                result = None
            else:
                result = await self._request(step)

    async def _request(self, request: Request) -> Result:
        """Sends one request in a thread of its own, so that waiting calls do not use up the threads of the loop."""
        token = self._token() if callable(self._token) else self._token
        headers = headers_of(request, await token if inspect.isawaitable(token) else token)
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Result] = loop.create_future()
        closing = Closing()

        def settle(outcome: Callable[[], None]) -> None:
            # The loop may be closed by now.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(lambda: None if answered.done() else outcome())

        def send() -> None:
            try:
                result = self._transport(request, headers, closing)
            except BaseException as error:
                failure = error
                settle(lambda: answered.set_exception(failure))
            else:
                settle(lambda: answered.set_result(result))

        threading.Thread(target=send, daemon=True).start()
        try:
            return await answered
        finally:
            closing.close()

    def _decision(self, known: BaseDecision) -> AsyncDecision:
        return AsyncDecision(**members_of(known), _send=self._report)

    async def _report(self, hold_id: str, status: str, result: Any, error: str | None) -> None:
        await self._drive(steps.report(hold_id, status, result, error, self._timeout))

    async def _report_quietly(self, decision: BaseDecision, status: str, result: Any, error: str | None) -> None:
        within = min(self._timeout, steps.longest_report)
        try:
            await self._drive(steps.report(decision.hold_id, status, result, error, within))
        except Exception as failure:
            if self._on_unreported is not None:
                self._on_unreported(failure, decision)

    async def _cancel(self, call: Call) -> None:
        # Without an answer the hold stays until it expires; its call does not run.
        with contextlib.suppress(Exception):
            await self._drive(steps.cancel(call))
