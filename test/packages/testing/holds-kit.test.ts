import { describe, expect, it } from 'vitest';
import {
  type Arguments,
  type HoldReport,
  type HoldsAdapter,
  holdChecks,
  registerHoldChecks,
  runHoldChecks,
} from '../../../packages/testing/holds/holds.ts';
import { type Fault, MemoryHolds } from './memory-holds.ts';

/** The failed checks of each group by name. */
function failedIn({ results }: HoldReport): Record<string, string[]> {
  const failed = results.filter(({ status }) => status === 'failed');
  const groups = Object.groupBy(failed, ({ group }) => group);
  return Object.fromEntries(
    Object.entries(groups).map(([group, found]) => [group, found.map(({ id }) => nameOf(id))]),
  );
}

const nameOf = (id: string) => id.slice(id.indexOf('/') + 1);

/** Runs the checks against an implementation whose effects are never late. */
const check = (adapter: HoldsAdapter) => runHoldChecks(adapter, { patience: 0.1 });

describe('the checks of holds', () => {
  it('have unique names', () => {
    expect(new Set(holdChecks.map(({ id }) => id)).size).toBe(holdChecks.length);
  });

  it('pass for a correct implementation', async () => {
    const { passed, failed, notOffered } = await check(new MemoryHolds());
    expect({ passed, failed, notOffered }).toEqual({
      ...{ passed: holdChecks.length, failed: 0, notOffered: 0 },
    });
  });

  it.each<[Fault, Record<string, string[]>]>([
    [
      'loses data at a kill',
      {
        kill: [
          ...['keeps-waiting', 'keeps-approval', 'keeps-rejection', 'keeps-arguments'],
          ...['keeps-claim', 'keeps-cancellation', 'keeps-outcome', 'decision-cut-off'],
          'deadline-while-down',
        ],
        ...{ limits: ['kill'], effects: ['kill'] },
      },
    ],
    [
      'loses data at a stop',
      { restart: ['keeps-waiting', 'keeps-approval', 'keeps-rejection', 'keeps-arguments'] },
    ],
    ['loses outcomes', { restart: ['keeps-run'], kill: ['keeps-run'] }],
    [
      'compares no arguments',
      {
        binding: [
          ...['other-arguments', 'other-tool', 'other-type', 'added-member'],
          ...['other-arguments-at-once', 'other-arguments-after-approval'],
        ],
        restart: ['keeps-arguments'],
        kill: ['keeps-arguments'],
      },
    ],
    [
      'finds the key too late',
      {
        idempotency: ['at-once', 'shown-once'],
        binding: ['other-arguments-at-once'],
        kill: ['request-cut-off'],
      },
    ],
    [
      'accepts every decision',
      {
        'single decision': [
          ...['approve-approve', 'approve-reject', 'reject-approve', 'after-cancellation'],
        ],
        races: ['two-approvals', 'approve-reject', 'crowd'],
        restart: ['keeps-approval', 'keeps-rejection'],
        kill: ['keeps-approval', 'keeps-rejection', 'decision-cut-off', 'deadline-while-down'],
        expiry: ['late-approval'],
        people: ['approver-of-a-race'],
      },
    ],
    [
      'decides late',
      {
        races: ['two-approvals', 'approve-reject', 'crowd', 'approve-cancel'],
        people: ['approver-of-a-race'],
      },
    ],
    [
      'expires as approved',
      {
        kill: ['deadline-while-down'],
        expiry: [
          ...['closed', 'late-approval', 'one-call', 'asked-again', 'key-stays-closed'],
          'approval-at-the-deadline',
        ],
      },
    ],
    ['approves after the deadline', { expiry: ['late-approval'] }],
    [
      'asks again after an end',
      {
        idempotency: ['after-approval', 'after-rejection', 'after-cancellation'],
        binding: ['other-arguments-after-approval'],
        expiry: ['key-stays-closed'],
      },
    ],
    ['releases after the outcome', { outcome: ['closed-call'] }],
    ['releases to every claim', { idempotency: ['lost-answer'], kill: ['keeps-claim'] }],
    ['releases a waiting call', { 'fail closed': ['waiting-call'] }],
    ['ignores digests', { binding: ['digest-of-another'] }],
    ['ignores changes', { binding: ['edit-runs', 'edit-key'] }],
    ['lets every person decide', { people: ['stranger', 'stranger-edits'] }],
    ['lets requesters decide', { people: ['four-eyes'] }],
    [
      'shows all holds to all',
      {
        people: [
          ...['other-caller-reads', 'other-caller-cancels', 'other-caller-takes'],
          ...['other-caller-reports', 'same-key-of-another'],
        ],
      },
    ],
    [
      'keeps the last outcome',
      { races: ['outcomes'], kill: ['keeps-outcome'], outcome: ['first'] },
    ],
    ['reads any word as approval', { 'fail closed': ['other-words'] }],
    ['names the first approver', { people: ['approver'] }],
  ])('find an implementation that %s', async (fault, failed) => {
    expect(failedIn(await check(new MemoryHolds(fault)))).toEqual(failed);
  });

  it('describe the defect in one sentence', async () => {
    const only = ['single-decision/approve-reject'];
    const { results } = await runHoldChecks(new MemoryHolds('accepts every decision'), { only });
    expect(results).toEqual([
      {
        ...{ id: 'single-decision/approve-reject', group: 'single decision', status: 'failed' },
        title: 'a rejection after an approval is refused',
        why: '"reject" was accepted for a call that is already approved',
      },
    ]);
  });

  it('check an implementation that runs the calls itself', async () => {
    expect(failedIn(await check(runningHolds(1)))).toEqual({});
    const twice = failedIn(await check(runningHolds(2)));
    expect(twice['races']).toEqual(['runs-once', 'approve-cancel']);
  });

  it('skip features that an implementation does not offer', async () => {
    const { ask, read } = new MemoryHolds();
    const memory = new MemoryHolds();
    const adapter = { name: 'small', ask: ask.bind(memory), read: read.bind(memory) };
    const { failed, results } = await check(adapter);
    expect(failed).toBe(0);
    expect(results.find(({ id }) => id === 'kill/keeps-cancellation')).toEqual({
      ...{ id: 'kill/keeps-cancellation', group: 'kill', status: 'not offered' },
      title: 'a call that was cancelled before a kill stays cancelled',
      missing: ['kill', 'cancel'],
    });
  });
});

describe('a run of the checks', () => {
  it('refuses an unknown check name', async () => {
    await expect(runHoldChecks(new MemoryHolds(), { only: ['speed'] })).rejects.toThrow(
      'no check has the id or group "speed"; holdChecks lists them',
    );
  });

  it('closes an implementation that does not start, and rejects', async () => {
    const closed: string[] = [];
    const adapter = Object.assign(new MemoryHolds(), {
      start: () => Promise.reject(new Error('no port')),
      close: async () => void closed.push('closed'),
    });
    await expect(runHoldChecks(adapter)).rejects.toThrow('no port');
    expect(closed).toEqual(['closed']);
  });

  it('fails the checks of a restart after which the implementation does not start', async () => {
    const memory = new MemoryHolds();
    let starts = 0;
    const adapter = Object.assign(memory, {
      start: async () => {
        starts += 1;
        if (starts === 2) throw new Error('no port');
      },
    });
    const { passed, results } = await runHoldChecks(adapter, { only: ['restart'] });
    expect(passed).toBe(0);
    expect(results[0]).toMatchObject({ status: 'failed', why: 'the adapter failed: no port' });
  });

  it('stops at its signal, during a request that is never answered', async () => {
    const abort = new AbortController();
    const adapter = Object.assign(new MemoryHolds(), {
      read: () => {
        abort.abort(new Error('enough'));
        return new Promise<never>(() => undefined);
      },
    });
    await expect(runHoldChecks(adapter, { signal: abort.signal })).rejects.toThrow('enough');
  });

  it('fails a check that does not finish', async () => {
    const adapter = Object.assign(new MemoryHolds(), { read: () => new Promise<never>(() => {}) });
    const options = { only: ['fail-closed/unknown-hold'], timeout: 0.05 };
    const { results } = await runHoldChecks(adapter, options);
    expect(results[0]).toMatchObject({ why: 'the check did not end within 0.05 s' });
  });

  it('registers each check as a test, and one without support as skipped', async () => {
    const tests = new Map<string, () => Promise<void>>();
    const skipped: string[] = [];
    const groups: string[] = [];
    const runner = {
      describe: (title: string, define: () => void) => {
        groups.push(title);
        define();
      },
      it: Object.assign((title: string, test: () => Promise<void>) => void tests.set(title, test), {
        skip: (title: string) => void skipped.push(title),
      }),
    };
    const adapter = Object.assign(new MemoryHolds('lets requesters decide'), { cancel: undefined });
    const only = ['people', 'idempotency/after-cancellation'];
    registerHoldChecks(runner, adapter as unknown as HoldsAdapter, { only });
    expect(groups).toEqual(['idempotency', 'people']);
    expect(skipped).toEqual([
      'the key of a cancelled call does not ask again (not offered: cancel)',
      'another caller cannot cancel a hold (not offered: cancel)',
    ]);
    await tests.get('a hold is hidden from other callers')?.();
    const fourEyes = tests.get('the requester cannot approve the own call, and another person can');
    await expect(fourEyes?.()).rejects.toThrow(
      'people/four-eyes: the requester approved the own call',
    );
  });
});

/** Holds of an implementation that runs approved calls itself, some times each. */
function runningHolds(times: number): HoldsAdapter {
  const memory = new MemoryHolds();
  const ran = new Map<string, Arguments[]>();
  const { name, features, expiresWithin } = memory;
  return {
    ...{ name, features, expiresWithin },
    start: () => memory.start(),
    stop: () => memory.stop(),
    kill: () => memory.kill(),
    pass: (milliseconds) => memory.pass(milliseconds),
    ask: (call) => memory.ask(call),
    read: (id, by) => memory.read(id, by),
    cancel: (id, by) => memory.cancel(id, by),
    decide: async (id, decision) => {
      const refusal = await memory.decide(id, decision);
      const taken = await memory.take(id, 'rita');
      if (!('refused' in taken)) ran.set(id, Array<Arguments>(times).fill(taken as Arguments));
      return refusal;
    },
    runs: async (id) => ran.get(id) ?? [],
  };
}
