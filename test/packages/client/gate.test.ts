import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import {
  createGate,
  GateUnavailable,
  HoldDenied,
  HoldReleased,
  StepUpRequired,
} from '../../../packages/client/client.ts';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { startInFolder } from '../../helpers/test-agent.ts';
import { decide, gateSettings, startGate, waitingIn } from './a-gate.ts';

const ls = { tool: 'Bash', args: { command: 'ls' } };
const rm = { tool: 'Bash', args: { command: 'rm -rf build' }, key: 's-1:1' };

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Resolves with the error of a call that must not run. */
async function errorOf(running: Promise<unknown>): Promise<any> {
  return running.then(
    (value) => expect.fail(`the call may run: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
}

describe('hold', () => {
  it('prints once that the gate lists no tool of this name', async () => {
    const { gate } = gateSettings as { gate: object };
    const { url } = await startGate({ gate: { ...gate, unknown: 'defer' } });
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const client = createGate({ url });
    const hint = 'gate.tools lists no such tool; the nearest is Bash';
    for (const key of ['s-1:1', 's-1:2']) {
      expect(await client.ask({ ...rm, tool: 'Bsah', key })).toMatchObject({ hint });
    }
    expect(warn.mock.calls).toEqual([[`holdpoint: "Bsah" waits for a person: ${hint}`]]);
    warn.mockRestore();
  });

  it('resolves with a call that a rule allows', async () => {
    const { url } = await startGate();
    const { report, run: _, ...decision } = await createGate({ url }).hold(ls);
    expect(decision).toEqual({
      ...{ status: 'allowed', holdId: decision.holdId, key: decision.key, args: ls.args },
      ...{
        argsSha256: sha256('{"args":{"command":"ls"},"tool":"Bash"}'),
        note: null,
        approver: null,
      },
      ...{ receipt: decision.receipt, wasReleased: false },
    });
    expect(decision.receipt).toContain(`/tasks/${decision.holdId}/calls/`);
    await report({ status: 'not_run' });
  });

  it('waits for the approval, and resolves with the changed arguments and the note', async () => {
    const agent = await startGate();
    const held = createGate({ url: agent.url }).hold({ ...rm, agent: 'tester', session: 's-1' });
    const changed = { command: 'rm -rf build/old' };
    await decide(agent, { decision: 'approve', args: changed, note: 'only the old one' });
    expect(await held).toMatchObject({
      ...{ status: 'approved', key: 's-1:1', args: changed, note: 'only the old one' },
      ...{ approver: 'unknown', wasReleased: false },
    });
  });

  it('sends the agent, the session, the person and the workflow to approvers', async () => {
    const agent = await startGate();
    const gate = createGate({ url: agent.url, agent: 'tester', session: 's-1' });
    const stated = { subject: 'ann', context: { cwd: '/app' }, workflow: { workflow_id: 'w-1' } };
    const pending = await gate.ask({ ...rm, ...stated });
    expect(pending).toMatchObject({ status: 'pending', key: rm.key, to: 'channel:console:*' });
    const [{ context }] = (await agent.get('/deferrals')).body.deferrals;
    expect(context).toContain('agent="tester"\nsession="s-1"\nsubject="ann"\ncontext={"cwd"');
  });

  it('throws HoldDenied with a message for the model', async () => {
    const agent = await startGate();
    const gate = createGate({ url: agent.url });
    const unknown = await errorOf(gate.hold({ tool: 'Write', args: {} }));
    expect(unknown).toBeInstanceOf(HoldDenied);
    expect({ ...unknown, message: unknown.message }).toEqual({
      ...{ name: 'HoldDenied', status: 'denied', holdId: unknown.holdId, note: null },
      ...{ reason: 'unknown tool: Write', approver: null, repeats: null },
      message: 'Write did not run: unknown tool: Write',
    });
    const held = errorOf(gate.hold(rm));
    await decide(agent, { decision: 'reject', note: 'not today' });
    expect(await held).toMatchObject({
      ...{ status: 'rejected', note: 'not today', approver: 'unknown' },
      message: 'Bash did not run: defer: rejected by unknown: not today',
    });
  });

  it('throws HoldDenied with the earlier call for a denied repeat', async () => {
    const { url } = await startGate({
      gate: { tools: { pay: {} } },
      security: { effects: { pay: { key: 'pay:{args.order}', repeat: 'deny' } } },
    });
    const gate = createGate({ url });
    const pay = (key: string) => ({ key, tool: 'pay', args: { order: 'A-1', note: key } });
    const first = await gate.hold(pay('k-1'));
    const denied = await errorOf(gate.hold(pay('k-2')));
    expect(denied).toBeInstanceOf(HoldDenied);
    expect(denied).toMatchObject({
      repeats: {
        ...{ callId: expect.any(String), taskId: first.holdId },
        ...{ key: 'pay:A-1', outcome: 'running' },
      },
      message: expect.stringContaining(`task ${first.holdId} has the same effect pay:A-1`),
    });
  });

  it('throws StepUpRequired, and accepts a retry with a token of a higher level', async () => {
    const provider = (level: string) => ({
      ...{ type: 'static_token', name: level },
      settings: { token: `token-${level}`, identity: { user_id: 'ann', claims: { acr: level } } },
    });
    const { url } = await startGate({
      auth: { required: true, providers: [provider('low'), provider('high')] },
      security: { step_up: { enabled: true, tools: { Bash: 'high' } } },
    });
    let token = 'token-low';
    const gate = createGate({ url, token: () => token });
    const error = await errorOf(gate.hold(rm));
    expect(error).toBeInstanceOf(StepUpRequired);
    expect({ ...error }).toEqual({
      ...{ name: 'StepUpRequired', requiredAcr: 'high' },
      challenge: 'Bearer error="step_up_required", acr_values="high"',
    });
    token = 'token-high';
    expect(await gate.hold(rm)).toMatchObject({ status: 'allowed' });
    token = 'wrong';
    const refused = await errorOf(gate.hold(rm));
    expect([refused.name, refused.status]).toEqual(['GateUnavailable', 401]);
    expect(refused.message).not.toContain('wrong');
  });

  it.each([
    ['a Date', { at: new Date(0) }, 'args.at is not plain JSON'],
    ['a function', { toJSON: () => ({}) }, 'args.toJSON is not plain JSON'],
    ['NaN', { n: [1, Number.NaN] }, 'args.n[1] is not plain JSON'],
    ['a rounded integer', { n: 2 ** 53 }, 'args.n is not plain JSON'],
    ['half a character', { t: '\ud800' }, 'args.t is not plain JSON'],
    ['a gap', { list: [, 1] }, 'args.list[0] is not plain JSON'], // oxlint-disable-line no-sparse-arrays
    ['a prototype', JSON.parse('{"__proto__":{}}'), 'args.__proto__ is a name that is not allowed'],
    ['an array', [], 'args must be a plain object'],
  ])('refuses %s in the arguments, and sends nothing', async (_, args, message) => {
    const fetch = vi.fn();
    const gate = createGate({ url: 'http://gate.invalid', fetch });
    expect(await errorOf(gate.hold({ tool: 'Bash', args }))).toEqual(new TypeError(message));
    expect(fetch).not.toHaveBeenCalled();
  });

  it('derives the key from session and call, and separates sessions', async () => {
    const { url } = await startGate();
    const gate = createGate({ url });
    const keys = [
      await gate.hold({ ...ls, session: 's-1', callId: 'c' }),
      await gate.hold({ ...ls, session: 'a', callId: 'b:c' }),
      await gate.hold({ ...ls, session: 'a:b', callId: 'c' }),
      await gate.hold({ ...ls, session: 's', callId: 'x'.repeat(300) }),
    ].map(({ key }) => key);
    expect(keys).toEqual(['s-1:c', 'a:b:c', 'a%3Ab:c', sha256(`s:${'x'.repeat(300)}`)]);
  });
});

describe('a process that is killed', () => {
  it('finds its hold again with the same key, and learns that the call was received', async () => {
    const agent = await startGate();
    const killed = new AbortController();
    const first = errorOf(createGate({ url: agent.url }).hold({ ...rm, signal: killed.signal }));
    const id = await waitingIn(agent);
    killed.abort();
    expect(await first).toBe(killed.signal.reason);
    const second = createGate({ url: agent.url }).hold(rm);
    expect(await decide(agent, { decision: 'approve' })).toBe(id);
    expect(await second).toMatchObject({ holdId: id, wasReleased: false });
    expect(await createGate({ url: agent.url }).hold(rm)).toMatchObject({
      ...{ holdId: id, wasReleased: true },
    });
    expect(agent.audit(id).filter(({ event }) => event === 'hold_released')).toHaveLength(1);
  });

  it('does not run a received call a second time, unless requested', async () => {
    const agent = await startGate();
    const held = createGate({ url: agent.url }).hold(rm);
    await decide(agent, { decision: 'approve' });
    await held;
    const run = vi.fn(() => 'gone');
    const guarded = createGate({ url: agent.url }).guard('Bash', run);
    const error = await errorOf(guarded(rm.args, { key: rm.key }));
    expect(error).toBeInstanceOf(HoldReleased);
    expect(error.decision).toMatchObject({ key: rm.key, wasReleased: true });
    expect(run).not.toHaveBeenCalled();
    expect(await guarded(rm.args, { key: rm.key, runAgain: true })).toBe('gone');
  });

  it('does not run an allowed call again that another process received', async () => {
    const { url } = await startGate();
    await createGate({ url }).hold({ ...ls, key: 's-1:received' });
    const second = createGate({ url }).guard('Bash', () => 'file');
    expect(await errorOf(second(ls.args, { key: 's-1:received' }))).toBeInstanceOf(HoldReleased);
    const run = vi.fn(() => 'file');
    const key = 's-1:ls';
    await createGate({ url }).guard('Bash', run)(ls.args, { key });
    const again = createGate({ url }).guard('Bash', run)(ls.args, { key });
    expect(await errorOf(again)).toBeInstanceOf(HoldReleased);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('may receive a lost answer again, and another process may not', async () => {
    const agent = await startGate();
    let lost = 0;
    const losing = async (url: string, init: RequestInit) => {
      const answer = await fetch(url, init);
      const text = await answer.text();
      if (!text.includes('"approved"') || lost++ > 0) return new Response(text, answer);
      throw new TypeError('connection reset');
    };
    const held = createGate({ url: agent.url, fetch: losing }).hold(rm);
    const id = await decide(agent, { decision: 'approve' });
    expect([await held, lost]).toMatchObject([{ holdId: id, wasReleased: false }, 2]);
    const other = createGate({ url: agent.url }).hold(rm);
    expect(await other).toMatchObject({ holdId: id, wasReleased: true });
  });

  it('waits through a restart of the gate', async () => {
    const folder = new AgentFolder(gateSettings);
    const before = await startInFolder(folder);
    let current = before.url;
    const moving = (url: string, init: RequestInit) =>
      fetch(url.replace('http://gate.invalid', current), init);
    const held = createGate({ url: 'http://gate.invalid', fetch: moving }).hold(rm);
    const id = await waitingIn(before);
    await before.stop();
    const after = await startInFolder(folder);
    current = after.url;
    await decide(after, { decision: 'approve' });
    expect(await held).toMatchObject({ holdId: id, status: 'approved' });
    folder.remove();
  });
});

describe('a signal', () => {
  it('keeps the call on hold', async () => {
    const agent = await startGate();
    const leaving = new AbortController();
    const held = errorOf(createGate({ url: agent.url }).hold({ ...rm, signal: leaving.signal }));
    const id = await waitingIn(agent);
    leaving.abort(new Error('left'));
    expect(await held).toEqual(new Error('left'));
    expect((await agent.get(`/holds/${id}`)).body).toMatchObject({ status: 'pending' });
  });

  it('cancels the hold on request, also before the gate has named it', async () => {
    const agent = await startGate();
    const sent = Promise.withResolvers<void>();
    const slow = async (url: string, init: RequestInit) => {
      const answer = await fetch(url, init);
      if (init.method === 'POST') await sent.promise;
      return answer;
    };
    const leaving = new AbortController();
    const call = { ...rm, signal: leaving.signal, cancelOnAbort: true };
    const held = errorOf(createGate({ url: agent.url, fetch: slow }).hold(call));
    const id = await waitingIn(agent);
    leaving.abort();
    expect(await held).toBe(leaving.signal.reason);
    sent.resolve();
    await agent.reached(id, 'canceled');
    const gone = errorOf(createGate({ url: agent.url }).hold(rm));
    expect(await gone).toMatchObject({ status: 'cancelled', holdId: id });
  });

  it('that aborted before the call sends nothing', async () => {
    const send = vi.fn();
    const gate = createGate({ url: 'http://gate.invalid', fetch: send });
    const held = gate.hold({ ...rm, signal: AbortSignal.abort('gone') });
    expect(await errorOf(held)).toBe('gone');
    expect(send).not.toHaveBeenCalled();
  });
});

describe('guard', () => {
  it('runs the approved arguments and reports the digest of the result', async () => {
    const agent = await startGate();
    const run = vi.fn(({ command }: { command: string }) => ({ ran: command, at: 1.5 }));
    const running = createGate({ url: agent.url }).guard('Bash', run)(rm.args, { key: rm.key });
    const changed = { command: 'true' };
    const id = await decide(agent, { decision: 'approve', args: changed });
    expect(await running).toEqual({ ran: 'true', at: 1.5 });
    expect(run.mock.calls.map(([args]) => args)).toEqual([changed]);
    const result_sha256 = sha256('{"at":1.5,"ran":"true"}');
    expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
      outcome: { status: 'succeeded', result_sha256 },
    });
  });

  it('reports the failure of the call, and throws it', async () => {
    const agent = await startGate();
    const failure = new Error('no such folder');
    let id = '';
    const guarded = createGate({ url: agent.url }).guard('Bash', (_: object, { holdId }) => {
      id = holdId;
      throw failure;
    });
    expect(await errorOf(guarded(ls.args))).toBe(failure);
    expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
      outcome: { status: 'failed', error: 'Error: no such folder' },
    });
  });

  it('returns the result if the outcome cannot be reported, and reports that error', async () => {
    const { url } = await startGate();
    const onUnreported = vi.fn();
    const mute = (address: string, init: RequestInit) =>
      address.endsWith('/outcome') ? Promise.reject(new TypeError('gone')) : fetch(address, init);
    const gate = createGate({ url, fetch: mute, timeout: 0, onUnreported });
    expect(await gate.guard('Bash', () => 'done')(ls.args)).toBe('done');
    const [[error, decision]] = onUnreported.mock.calls as [[GateUnavailable, object]];
    expect(error).toBeInstanceOf(GateUnavailable);
    expect(decision).toMatchObject({ status: 'allowed' });
  });

  it('reports a call that was canceled right after its approval as not run', async () => {
    const agent = await startGate();
    const leaving = new AbortController();
    const abortAtApproval = async (url: string, init: RequestInit) => {
      const answer = await fetch(url, { ...init, signal: null });
      const text = await answer.text();
      if (text.includes('"allowed"')) queueMicrotask(() => leaving.abort('late'));
      return new Response(text, answer);
    };
    const run = vi.fn();
    const gate = createGate({ url: agent.url, fetch: abortAtApproval });
    const running = gate.guard('Bash', run)(ls.args, { key: 'k', signal: leaving.signal });
    expect(await errorOf(running)).toBe('late');
    expect(run).not.toHaveBeenCalled();
  });

  it('refuses another outcome of the same call', async () => {
    const { url } = await startGate();
    const { report } = await createGate({ url }).hold(ls);
    await report({ status: 'succeeded', result: 'a' });
    await report({ status: 'succeeded', result: 'a' });
    expect(await errorOf(report({ status: 'failed' }))).toMatchObject({
      ...{ name: 'GateUnavailable', status: 409, code: 'outcome_differs' },
      message:
        'the gate refused the outcome with 409: the hold has another outcome, and only the first one counts',
    });
  });
});
