import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { CredentialVault } from '../../../../src/actors/governance/credentials/credentials.ts';
import { argsDigest } from '../../../../src/actors/governance/policy/args-digest.ts';
import type { Policy } from '../../../../src/actors/governance/policy/policy.ts';
import { runsDigest } from '../../../../src/actors/governance/policy/runs-digest.ts';
import { type RemoteCalls, type Tool, ToolError } from '../../../../src/actors/ports/tool.ts';
import { createRunTool } from '../../../../src/actors/tasks/effects/run-tool.ts';
import type { RemoteTask } from '../../../../src/machines/domain/task.ts';
import { aPolicy } from '../../../helpers/a-policy.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { onePolicy } from '../../../helpers/one-policy.ts';
import { gate, toolCalled } from '../../../helpers/system-story.ts';
import { aCall } from '../../../helpers/task-fixtures.ts';

const args = { amount: 5 };

/** The options of a run of a call, without its tool. */
interface Setting {
  approvedSha256?: string | null;
  approvedRuns?: string;
  needsCredential?: boolean;
  remote?: RemoteTask;
  calls?: RemoteCalls;
  policy?: Policy;
  vault?: CredentialVault;
}

function start(tool: Tool | null, setting: Setting = {}) {
  const { approvedSha256 = null, needsCredential = false } = setting;
  const logged: unknown[] = [];
  const detached: unknown[] = [];
  const phases: string[] = [];
  const quiet = (): void => undefined;
  const actor = createActor(
    createRunTool({
      tools: new Map(tool === null ? [] : [[tool.name, tool]]),
      policies: onePolicy(setting.policy ?? aPolicy()),
      vault: setting.vault ?? new CredentialVault(),
      outbound: null,
      clock: new ManualClock(7_000),
      log: { info: quiet, warn: quiet, error: (fields, message) => logged.push([fields, message]) },
      onToolProgress: () => undefined,
      onWait: quiet,
      remote: setting.calls ?? null,
      ask: async () => ({ action: 'cancel' }),
      onDetached: (taskId, task) => detached.push([taskId, task]),
      hasEnded: async () => true,
      onPhase: (taskId, phase, name) => phases.push(`${taskId} ${phase} ${name}`),
    }),
    {
      input: {
        taskId: 't-1',
        correlationId: 'c-1',
        tags: {},
        call: aCall({
          ...{ tool: 'pay', args, argsSha256: argsDigest('pay', args) },
          ...(setting.remote === undefined ? {} : { remote: setting.remote }),
        }),
        approvedSha256,
        ...(setting.approvedRuns === undefined ? {} : { approvedRuns: setting.approvedRuns }),
        needsCredential,
      },
    },
  ).start();
  return { actor, outcome: toPromise(actor), logged, phases, detached };
}

describe('running a tool', () => {
  it('passes it the call, and returns its result', async () => {
    const pay = toolCalled('pay', () => Promise.resolve('paid \ud800'));
    const { outcome, phases } = start(pay);
    expect(await outcome).toEqual({
      kind: 'returned',
      result: 'paid \ufffd',
      resultSha256: hash('sha256', 'paid \ufffd', 'hex'),
      at: 7_000,
      duration: expect.any(Number),
      checking: expect.any(Number),
      findings: [],
      rewrites: [],
    });
    expect(pay.runs).toEqual([
      {
        args,
        taskId: 't-1',
        callId: 'call-1',
        correlationId: 'c-1',
        tags: {},
        credential: null,
        signal: expect.any(AbortSignal),
        onWait: expect.any(Function),
        onProgress: expect.any(Function),
        onExtras: expect.any(Function),
        onDetached: expect.any(Function),
        hasEnded: expect.any(Function),
        ask: expect.any(Function),
      },
    ]);
    expect(phases).toEqual(['t-1 tool_start pay', 't-1 tool_end pay']);
  });

  const remote: RemoteTask = { id: 'w-1', place: 'p-1', since: 1, ttl: null };

  it('reports the task of another program that continues it', async () => {
    const pay = toolCalled('pay', async (_, { onDetached }) => {
      onDetached?.(remote);
      return 'paid';
    });
    const { outcome, detached } = start(pay);
    expect(await outcome).toMatchObject({ kind: 'returned', result: 'paid' });
    expect(detached).toEqual([['t-1', remote]]);
  });

  it('follows a call that another program continues, even if its tool was removed', async () => {
    const pay = toolCalled('pay', () => Promise.resolve('paid'));
    const asked: unknown[] = [];
    const calls: RemoteCalls = {
      async follow(tool, task, { taskId, callId }) {
        asked.push([tool, task, taskId, callId]);
        return 'built';
      },
    };
    const setting = { remote, calls, needsCredential: true, approvedRuns: 'other' };
    for (const tool of [pay, null]) {
      expect(await start(tool, setting).outcome).toMatchObject({ result: 'built' });
    }
    const once = ['pay', remote, 't-1', 'call-1'];
    expect([asked, pay.runs]).toEqual([[once, once], []]);
    expect(await start(pay, { remote }).outcome).toMatchObject({
      kind: 'failed',
      error: 'pay had started at a program that is not configured; its outcome is unknown',
      failure: 'not configured',
    });
    expect(pay.runs).toEqual([]);
  });

  it('returns the parts of the result next to its text, unless a rule has changed the text', async () => {
    const extras = { structured: { card: 4 }, parts: [{ type: 'image', data: 'AA==' }] };
    const pay = toolCalled('pay', async (_, { onExtras }) => {
      onExtras?.(extras);
      return 'card 4';
    });
    const changing: Policy = {
      ...aPolicy(),
      checkOutput: async () => ({ kind: 'passed', text: 'card [x]', findings: [], rewrites: [1] }),
    };
    const outcomes = [start(pay), start(pay, { policy: changing })].map(({ outcome }) => outcome);
    const digested = (result: string) => ({
      result,
      resultSha256: hash('sha256', result, 'hex'),
    });
    const rest = { kind: 'returned', at: 7_000, duration: expect.any(Number), findings: [] };
    expect(await Promise.all(outcomes)).toEqual([
      { ...rest, ...digested('card 4'), ...extras, rewrites: [], checking: expect.any(Number) },
      { ...rest, ...digested('card [x]'), rewrites: [1], checking: expect.any(Number) },
    ]);
  });

  it('runs only the approved call', async () => {
    const pay = toolCalled('pay');
    expect((await start(pay, { approvedSha256: argsDigest('pay', args) }).outcome).kind).toBe(
      'returned',
    );
    const { outcome, phases } = start(pay, {
      approvedSha256: argsDigest('pay', { amount: 500 }),
    });
    expect(await outcome).toMatchObject({
      kind: 'barred',
      error: 'the arguments of pay are not the ones that were approved',
    });
    expect(pay.runs).toHaveLength(1);
    expect(phases).toEqual(['t-1 tool_start pay', 't-1 tool_end pay']);
  });

  it('lets a tool compare its definition with the approved one right before the start', async () => {
    const paid: string[] = [];
    let version = 'approved';
    const pay = toolCalled(
      'pay',
      async (_, run) => {
        await run.confirm?.();
        paid.push(version);
        return 'paid';
      },
      { identity: async () => ({ version }) },
    );
    const approvedRuns = await runsDigest(pay, aPolicy());
    expect((await start(pay, { approvedRuns }).outcome).kind).toBe('returned');
    version = 'changed';
    expect(await start(pay, { approvedRuns }).outcome).toMatchObject({
      kind: 'barred',
      error: 'what would run has changed since the approval was requested',
      failure: 'changed since approval',
    });
    expect((await start(pay).outcome).kind).toBe('returned');
    expect(paid).toEqual(['approved', 'changed']);
  });

  it("reports the tool's own failure text, and separately its kind", async () => {
    const declined = new ToolError('the card was declined', { kind: 'exit code 1' });
    const pay = toolCalled('pay', () => Promise.reject(declined));
    const { outcome, logged } = start(pay);
    expect(await outcome).toMatchObject({
      kind: 'failed',
      error: 'the card was declined',
      failure: 'exit code 1',
    });
    expect(logged).toEqual([]);
    expect(await outcome).not.toHaveProperty('isUnknown');
    const late = new ToolError('pay took too long', { kind: 'timeout', isUnknown: true });
    const cut = toolCalled('pay', () => Promise.reject(late));
    expect(await start(cut).outcome).toMatchObject({ failure: 'timeout', isUnknown: true });
  });

  it.each<[string, () => Promise<string>]>([
    [
      'throws',
      () => {
        throw new TypeError('secret of undefined at /srv/x.ts');
      },
    ],
    ['rejects', () => Promise.reject(new Error('ECONNREFUSED 10.0.0.1'))],
    ['returns no string', () => Promise.resolve(undefined as never)],
  ])('hides internal details when a tool %s, and logs them', async (_name, run) => {
    const { outcome, logged, phases } = start(toolCalled('pay', run));
    expect(await outcome).toMatchObject({
      ...{ kind: 'failed', error: 'pay failed inside the service', isUnknown: true },
    });
    expect(logged).toEqual([
      [{ error: expect.any(Error), task_id: 't-1', tool: 'pay' }, 'tool: failed unexpectedly'],
    ]);
    expect(phases).toHaveLength(2);
  });

  it('reports a tool that was removed after governance', async () => {
    expect(await start(null).outcome).toMatchObject({ kind: 'failed', error: 'unknown tool: pay' });
  });

  it.each<[string, () => Promise<string>, string]>([
    ['returns', () => Promise.resolve('a secret'), 'returned'],
    ['fails with', () => Promise.reject(new ToolError('a secret')), 'failed'],
  ])('checks what it %s before anyone can read it', async (_name, run, kind) => {
    const checked: unknown[] = [];
    const finding = { gate: 'redact', decision: 'redact', rule: 'redact.email' } as const;
    const policy = aPolicy({
      checkOutput: async (...asked) => {
        checked.push(asked.slice(0, 3));
        return { kind: 'passed', text: 'a [redacted]', findings: [finding], rewrites: [1] };
      },
    });
    const outcome = await start(toolCalled('pay', run), { policy }).outcome;
    expect(outcome).toMatchObject({ kind, findings: [finding], rewrites: [1] });
    expect(JSON.stringify(outcome)).not.toContain('secret');
    expect(JSON.stringify(outcome)).toContain('a [redacted]');
    expect(checked).toEqual([['pay', 'a secret', []]]);
  });

  it('withholds output that the rules block', async () => {
    const findings = [{ gate: 'deny_output', decision: 'block', rule: 'deny_output[0]' } as const];
    const policy = aPolicy({
      checkOutput: async () => ({ kind: 'withheld', reason: 'denied', findings, rewrites: [] }),
    });
    expect(await start(toolCalled('pay'), { policy }).outcome).toEqual({
      kind: 'withheld',
      error: 'denied',
      findings,
      rewrites: [],
      at: 7_000,
      duration: expect.any(Number),
      checking: expect.any(Number),
    });
  });

  it('withholds output that cannot be checked, and logs the reason', async () => {
    const error = new Error('the rules are gone');
    const policy = aPolicy({
      checkOutput: async () => {
        throw error;
      },
    });
    const { outcome, logged } = start(toolCalled('pay'), { policy });
    expect(await outcome).toMatchObject({
      kind: 'withheld',
      error: 'governance failed: the output could not be checked',
      findings: [
        { gate: 'governance', decision: 'block', rule: 'the output could not be checked' },
      ],
    });
    expect(logged).toEqual([
      [{ error, tool: 'pay' }, 'governance: the output could not be checked'],
    ]);
  });

  it('needs the credentials that were issued for it', async () => {
    const pay = toolCalled('pay');
    expect(await start(pay, { needsCredential: true }).outcome).toMatchObject({
      kind: 'barred',
      error: 'the credentials of pay are missing',
    });
    expect(pay.runs).toEqual([]);
  });

  it('aborts the tool when it is stopped', async () => {
    const aborted = gate();
    const pay = toolCalled('pay', (_args, { signal }) => {
      signal.addEventListener('abort', aborted.open);
      return new Promise(() => undefined);
    });
    const { actor, outcome } = start(pay);
    outcome.catch(() => undefined);
    actor.stop();
    await aborted.opened;
    expect(pay.runs[0]?.signal.aborted).toBe(true);
  });
});
