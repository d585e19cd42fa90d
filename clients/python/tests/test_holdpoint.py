"""Tests of the client: against the gate at HOLDPOINT_URL, and against servers that no client should believe."""

import asyncio
import hashlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import unittest
import urllib.request
import uuid
from unittest import mock

from holdpoint import AsyncGate, Gate, GateUnavailable, HoldDenied, HoldReleased, PendingHold, StepUpRequired
from holdpoint.canonical_json import canonical_json
from holdpoint.steps import Response
from holdpoint.testing import AsyncTestGate, TestGate

URL = os.environ["HOLDPOINT_URL"]
RM = {"command": "rm -rf build"}
LS = {"command": "ls"}


def post(path, body, method="POST"):
    request = urllib.request.Request(f"{URL}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def outcome_of(hold_id):
    with urllib.request.urlopen(f"{URL}/holds/{hold_id}") as response:
        return json.load(response)["outcome"]


def decide(key, decision, args=RM, **members):
    """Decides on the hold with this key; asks for it first if it does not exist yet."""
    pending = Gate(URL).ask("Bash", args, key=key)
    post(f"/holds/{pending.hold_id}/decisions", {"decision": decision, **members})
    return pending.hold_id


def new_key():
    return f"test:{uuid.uuid4()}"


class InThread:
    """Runs a function in a thread; `result` waits for its value, or raises its error."""

    def __init__(self, run):
        self._error = None
        self._thread = threading.Thread(target=self._keep, args=(run,))
        self._thread.start()

    def _keep(self, run):
        try:
            self._value = run()
        except BaseException as error:
            self._error = error

    def result(self):
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value


class Holds(unittest.TestCase):
    def test_an_allowed_call_runs_at_once(self):
        decision = Gate(URL).hold("Bash", LS)
        self.assertEqual(
            (decision.status, decision.args, decision.was_released, decision.note, decision.approver),
            ("allowed", LS, False, None, None),
        )
        self.assertEqual(decision.args_sha256, hashlib.sha256(b'{"args":{"command":"ls"},"tool":"Bash"}').hexdigest())
        decision.report("not_run")
        self.assertEqual(outcome_of(decision.hold_id), {"status": "not_run"})

    def test_a_held_call_waits_for_the_approval_and_its_arguments(self):
        key, changed = new_key(), {"command": "true"}
        held = InThread(lambda: Gate(URL).hold("Bash", RM, key=key))
        pending = Gate(URL).ask("Bash", RM, key=key)
        self.assertIsInstance(pending, PendingHold)
        post(f"/holds/{pending.hold_id}/decisions", {"decision": "approve", "args": changed, "note": "fine"})
        decision = held.result()
        self.assertEqual((decision.status, decision.hold_id, decision.args, decision.note), ("approved", pending.hold_id, changed, "fine"))

    def test_a_rejection_is_a_sentence_for_the_model(self):
        key = new_key()
        decide(key, "reject", note="not today")
        with self.assertRaises(HoldDenied) as caught:
            Gate(URL).hold("Bash", RM, key=key)
        self.assertEqual(str(caught.exception), "Bash did not run: defer: rejected by unknown: not today")
        self.assertEqual((caught.exception.status, caught.exception.note), ("rejected", "not today"))

    def test_an_unknown_tool_is_denied(self):
        with self.assertRaisesRegex(HoldDenied, "^Write did not run: unknown tool: Write$"):
            Gate(URL).hold("Write", {})

    def test_a_killed_process_gets_the_same_hold(self):
        key = new_key()
        program = "import sys; from holdpoint import Gate; print('asks', flush=True); Gate(sys.argv[1]).hold('Bash', {'command': 'rm -rf build'}, key=sys.argv[2])"
        killed = subprocess.Popen([sys.executable, "-c", program, URL, key], stdout=subprocess.PIPE)
        killed.stdout.readline()
        hold_id = Gate(URL).ask("Bash", RM, key=key).hold_id
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        decide(key, "approve")
        first = Gate(URL).hold("Bash", RM, key=key)
        again = Gate(URL).hold("Bash", RM, key=key)
        self.assertEqual([(known.hold_id, known.was_released) for known in (first, again)], [(hold_id, False), (hold_id, True)])

    def test_the_same_key_with_another_call_is_refused(self):
        key = new_key()
        Gate(URL).ask("Bash", RM, key=key)
        with self.assertRaises(GateUnavailable) as caught:
            Gate(URL).hold("Bash", {"command": "rm -rf /"}, key=key)
        self.assertEqual((caught.exception.status, caught.exception.code), (409, "idempotency_key_reused"))

    def test_keys_are_made_of_session_and_call(self):
        gate = Gate(URL, session="s")
        session = f"a:{uuid.uuid4()}"
        keys = [gate.hold("Bash", LS, session=session, call_id="c").key, gate.hold("Bash", LS, call_id="x" * 300).key]
        self.assertEqual(keys, [f"{session.replace(':', '%3A')}:c", hashlib.sha256(b"s:" + b"x" * 300).hexdigest()])

    def test_an_interrupted_wait_can_cancel_the_hold(self):
        key = new_key()
        gate = Gate(URL)
        with mock.patch("holdpoint.gate.time.sleep", side_effect=KeyboardInterrupt):
            with mock.patch("holdpoint.steps._longest_wait", 0), self.assertRaises(KeyboardInterrupt):
                gate.hold("Bash", RM, key=key, cancel_on_abort=True)
        with self.assertRaises(HoldDenied) as caught:
            gate.hold("Bash", RM, key=key)
        self.assertEqual(caught.exception.status, "cancelled")


class Guards(unittest.TestCase):
    def test_runs_what_was_approved_and_reports_the_digest(self):
        key = new_key()
        hold_id = decide(key, "approve")
        run = mock.Mock(return_value={"b": 1.5, "a": "x"}, __name__="run")
        self.assertEqual(Gate(URL).guard("Bash", run)(RM, key=key), {"b": 1.5, "a": "x"})
        run.assert_called_once_with(RM)
        digest = hashlib.sha256(b'{"a":"x","b":1.5}').hexdigest()
        self.assertEqual(outcome_of(hold_id), {"status": "succeeded", "result_sha256": digest})

    def test_reports_a_failure_and_raises_it(self):
        @Gate(URL).guard("Bash", key=new_key())
        def run(args):
            raise FileNotFoundError("no such folder")

        with self.assertRaises(FileNotFoundError):
            run(LS)
        # The same key is the same call, whose outcome is known.
        with self.assertRaises(HoldReleased) as caught:
            run(LS)
        self.assertEqual(outcome_of(caught.exception.decision.hold_id), {"status": "failed", "error": "FileNotFoundError: no such folder"})

    def test_runs_a_received_call_again_only_if_asked(self):
        key = new_key()
        decide(key, "approve")
        Gate(URL).hold("Bash", RM, key=key)
        run = mock.Mock(return_value="done", __name__="run")
        guarded = Gate(URL).guard("Bash", run)
        with self.assertRaises(HoldReleased):
            guarded(RM, key=key)
        run.assert_not_called()
        self.assertEqual(guarded(RM, key=key, run_again=True), "done")

    def test_returns_the_result_if_the_outcome_cannot_be_reported(self):
        real = Gate(URL)._transport
        unreported = []

        def mute(request, headers, closing):
            return "the gate cannot be reached" if request.path.endswith("/outcome") else real(request, headers, closing)

        gate = Gate(URL, timeout=0, transport=mute, on_unreported=lambda error, decision: unreported.append(str(error)))
        self.assertEqual(gate.guard("Bash", lambda args: "done")(LS), "done")
        self.assertEqual(unreported, ["the gate cannot be reached"])


class AsyncHolds(unittest.IsolatedAsyncioTestCase):
    async def test_waits_without_blocking_the_loop(self):
        key = new_key()
        gate = AsyncGate(URL)
        held = asyncio.create_task(gate.hold("Bash", RM, key=key))
        pending = await gate.ask("Bash", RM, key=key)
        await asyncio.to_thread(post, f"/holds/{pending.hold_id}/decisions", {"decision": "approve"})
        decision = await held
        self.assertEqual((decision.status, decision.hold_id), ("approved", pending.hold_id))
        await decision.report("succeeded", result="x")
        self.assertEqual((await asyncio.to_thread(outcome_of, decision.hold_id))["status"], "succeeded")

    async def test_guards_a_coroutine(self):
        @AsyncGate(URL).guard("Bash")
        async def run(args):
            return args["command"]

        self.assertEqual(await run(LS), "ls")

    async def test_a_cancelled_task_can_cancel_the_hold(self):
        key = new_key()
        gate = AsyncGate(URL)
        held = asyncio.create_task(gate.hold("Bash", RM, key=key, cancel_on_abort=True))
        await gate.ask("Bash", RM, key=key)
        held.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await held
        await asyncio.gather(*gate._cancelling)
        with self.assertRaises(HoldDenied) as caught:
            await gate.hold("Bash", RM, key=key)
        self.assertEqual(caught.exception.status, "cancelled")

    async def test_many_calls_wait_at_the_same_time(self):
        gate = AsyncGate(URL)
        keys = [new_key() for _ in range(40)]
        held = [asyncio.create_task(gate.hold("Bash", RM, key=key)) for key in keys]
        for key in keys:
            await asyncio.to_thread(decide, key, "approve")
        self.assertEqual({decision.status for decision in await asyncio.gather(*held)}, {"approved"})


DIGEST = hashlib.sha256(b'{"args":{},"tool":"Bash"}').hexdigest()
APPROVED = {"hold_id": "h-1", "key": "k", "status": "approved", "args": {}, "args_sha256": DIGEST}


def answer(body, status=200, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, data)


def answering(*answers):
    """A transport that gives these answers in their order."""
    return mock.Mock(side_effect=list(answers))


class UnusableAnswers(unittest.TestCase):
    def failure(self, given, **options):
        with self.assertRaises(GateUnavailable) as caught:
            Gate("http://gate.invalid", "secret-token", transport=answering(given), timeout=0, **options).hold("Bash", LS, key="k")
        self.assertNotIn("secret-token", str(caught.exception))
        return str(caught.exception)

    def test_nothing_runs_on_them(self):
        deep = b'{"hold_id":"h-1","key":"k","status":"approved","args_sha256":"x","args":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        for body, message in [
            (b"<html>", "the answer of the gate is not JSON"),
            (b"\xff", "the answer of the gate is not JSON"),
            (b'{"a":NaN}', "the answer of the gate is not JSON"),
            (b'{"status":"denied","status":"approved"}', "the answer of the gate is not JSON"),
            (deep, "the answer of the gate is not JSON"),
            ([], "the answer of the gate is not an object"),
            ({**APPROVED, "key": "x"}, "the gate answered about another call"),
            ({**APPROVED, "hold_id": "../a"}, "the gate answered about another call"),
            ({**APPROVED, "hold_id": "a\n"}, "the gate answered about another call"),
            ({**APPROVED, "status": "ok"}, "the answer of the gate has no known status"),
            ({**APPROVED, "status": ["approved"]}, "the answer of the gate has no known status"),
            ({**APPROVED, "args": []}, "the answer of the gate has no args"),
            ({**APPROVED, "args": None}, "the answer of the gate has no args"),
            ({**APPROVED, "args": {"id": 2**53}}, "the args of the answer are not plain JSON"),
            ({**APPROVED, "args": {"a": 1}}, "the args of the answer do not match args_sha256"),
        ]:
            with self.subTest(body=body[:60] if isinstance(body, bytes) else body):
                self.assertEqual(self.failure(answer(body)), message)

    def test_statuses(self):
        for status, message in [
            (302, "the gate redirects; use its final address as url"),
            (403, "the gate answered 403: no"),
            (500, "the gate answered 500: no"),
        ]:
            with self.subTest(status=status):
                self.assertEqual(self.failure(answer({"error": "no"}, status)), message)

    def test_a_step_up(self):
        challenge = answer({"error": "step_up_required", "code": "step_up_required", "required_acr": "high"}, 401, www_authenticate="Bearer x")
        with self.assertRaises(StepUpRequired) as caught:
            Gate("http://gate.invalid", transport=answering(challenge)).hold("Bash", LS)
        self.assertEqual((caught.exception.required_acr, caught.exception.challenge), ("high", "Bearer x"))

    def test_the_token_goes_nowhere_else(self):
        seen = []

        class Redirecting(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                seen.append(self.path)
                self.send_response(307)
                self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Redirecting)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with self.assertRaisesRegex(GateUnavailable, "redirects"):
                Gate(f"http://127.0.0.1:{server.server_port}", "secret-token").hold("Bash", LS)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        self.assertEqual(seen, ["/holds"])

    def test_a_gate_that_is_down(self):
        with self.assertRaisesRegex(GateUnavailable, "^the gate at 127.0.0.1:1 cannot be reached [(]Connection refused[)]$"):
            Gate("http://127.0.0.1:1", timeout=0).hold("Bash", LS)

    def test_settings_that_cannot_be_used(self):
        for url in ("gate", "ftp://gate", "https://ann:secret@gate"):
            with self.subTest(url=url), self.assertRaisesRegex(ValueError, "^url must be an HTTP address"):
                Gate(url)
        with self.assertRaisesRegex(ValueError, "^the token has characters") as caught:
            Gate(URL, "abc\ndef").hold("Bash", LS)
        self.assertNotIn("def", str(caught.exception))


class PassingFailures(unittest.TestCase):
    def setUp(self):
        self.pauses = []
        patched = mock.patch("holdpoint.gate.time.sleep", self.pauses.append)
        patched.start()
        self.addCleanup(patched.stop)

    def test_are_asked_again_with_the_same_key(self):
        send = answering("the gate cannot be reached", answer({}, 503), answer({}, 429, retry_after="60"), answer(APPROVED))
        self.assertEqual(Gate("http://gate.invalid", transport=send).hold("Bash", LS, key="k").status, "approved")
        self.assertEqual({json.loads(call.args[0].body)["key"] for call in send.call_args_list}, {"k"})
        self.assertEqual(len(self.pauses), 3)
        self.assertTrue(60 <= self.pauses[2] <= 66, self.pauses)

    def test_end_when_the_gate_asks_for_too_much_patience(self):
        with self.assertRaises(GateUnavailable) as caught:
            Gate("http://gate.invalid", transport=answering(answer({"error": "busy"}, 429, retry_after="3600"))).hold("Bash", LS)
        self.assertEqual((str(caught.exception), caught.exception.status, self.pauses), ("the gate answered 429: busy", 429, []))

    def test_are_asked_again_with_the_same_claim(self):
        send = answering("the gate cannot be reached", answer(APPROVED))
        gate = Gate("http://gate.invalid", transport=send)
        gate.hold("Bash", LS, key="k")
        first, again = [json.loads(call.args[0].body)["claim"] for call in send.call_args_list]
        self.assertEqual(first, again)
        other = answering(answer(APPROVED))
        Gate("http://gate.invalid", transport=other).hold("Bash", LS, key="k")
        self.assertNotEqual(json.loads(other.call_args.args[0].body)["claim"], first)

    def test_the_wait_is_sent(self):
        pending = answer({**APPROVED, "status": "pending", "retry_after": 2}, 202)
        send = answering(pending, pending, answer(APPROVED))
        Gate("http://gate.invalid", transport=send).hold("Bash", {}, key="k")
        path = "holds/h-1?claim=" + json.loads(send.call_args_list[0].args[0].body)["claim"]
        sent = [(call.args[0].method, call.args[0].path, call.args[1].get("Prefer")) for call in send.call_args_list]
        self.assertEqual(sent, [("POST", "holds", None), ("GET", path, "wait=30"), ("GET", path, "wait=30")])
        self.assertTrue(1.9 < self.pauses[0] <= 2, self.pauses)


class Arguments(unittest.TestCase):
    def test_what_json_would_change_is_refused_and_not_sent(self):
        send = answering()
        for args, message in [
            ({"n": [1, float("nan")]}, "args.n[1] is not plain JSON"),
            ({"n": 2**53}, "args.n is not plain JSON"),
            ({"t": "\ud800"}, "args.t is not plain JSON"),
            ({"t": (1,)}, "args.t is not plain JSON"),
            ({1: 2}, "args is not plain JSON"),
            ([], "args must be a dict"),
        ]:
            with self.subTest(args=repr(args)), self.assertRaises(TypeError) as caught:
                Gate("http://gate.invalid", transport=send).hold("Bash", args)
            self.assertEqual(str(caught.exception), message)
        send.assert_not_called()

    def test_canonical_form_is_that_of_the_daemon(self):
        cases = json.loads(os.environ["HOLDPOINT_CANONICAL"])
        for text, expected in cases:
            self.assertEqual(canonical_json(json.loads(text), "args"), expected)


class Doubles(unittest.TestCase):
    def test_decide_and_keep_what_they_received(self):
        gate = TestGate(lambda call: {"status": "approved", "args": {"amount": 4}} if call["tool"] == "pay" else "rejected", session="s")
        self.assertEqual(gate.guard("pay", lambda args: args["amount"])({"amount": 5}, call_id="1"), 4)
        with self.assertRaises(HoldDenied):
            gate.hold("mail", {}, call_id="2")
        self.assertEqual([call["key"] for call in gate.calls], ["s:1", "s:2"])
        self.assertEqual([outcome["status"] for outcome in gate.outcomes], ["succeeded"])

    def test_of_asyncio(self):
        async def run():
            gate = AsyncTestGate()
            decision = await gate.hold("mail", {"to": "ann"})
            return decision.status, decision.args

        self.assertEqual(asyncio.run(run()), ("allowed", {"to": "ann"}))


if __name__ == "__main__":
    unittest.main()
