import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { argsDigest } from '../../src/actors/governance/governance.ts';
import type { RecordedEvent } from '../../src/actors/records/records.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { brokenHold, brokenHolds, type ToldHold } from '../helpers/broken-hold.ts';
import { brokenTask } from '../helpers/broken-task.ts';
import { brokenRefunds } from '../helpers/limited-refunds.ts';
import { brokenInvariants, type Evidence } from './invariants.ts';
import { canary } from './simulated-agent.ts';
import type { SimulatedRequest } from './simulated-network.ts';
import { groups } from './simulated-team.ts';
import { Told } from './told.ts';

const rules = { held: 'pay', denied: 'wipe' };

const digest = argsDigest('pay', {});
const pay = { tool: 'pay', args_sha256: digest };

const story: [event: string, fields?: JsonObject][] = [
  ['session_start'],
  ['task_deferred', pay],
  ['task_deferred_decision', { ...pay, decision: 'approve', approver: 'ann' }],
  ['tool_exec', { ...pay, phase: 'start' }],
  ['tool_exec', { ...pay, phase: 'end' }],
  ['session_end', { state: 'completed' }],
];

function eventsOf(lines: typeof story): RecordedEvent[] {
  return lines.map(([event, fields = {}], index) => ({
    ...{ event, fields, seq: index + 1, ts: '2026-07-01T09:00:00.000Z', task_id: 't-1' },
  }));
}

/** A team in which everybody may decide. */
const anyTeam = { rightsOf: () => new Set(groups) };

describe('the log of a task', () => {
  it('is valid when each step follows from the one before', () => {
    expect(brokenTask(eventsOf(story), rules)).toEqual([]);
  });

  it.each<[string, (lines: typeof story) => typeof story]>([
    ['a held tool was started without an approval', (lines) => lines.toSpliced(1, 2)],
    ['a wait began in the middle of another step', (lines) => lines.toSpliced(1, 0, story[1]!)],
    ['task_deferred_decision without a wait', (lines) => lines.toSpliced(2, 0, story[2]!)],
    ['a tool was started while another ran', (lines) => lines.toSpliced(3, 0, story[3]!)],
    ['a tool ended that did not run', (lines) => lines.toSpliced(4, 0, story[4]!)],
    ['the end came in the middle of a step', (lines) => lines.toSpliced(4, 1)],
    ['tool_exec after the end', (lines) => [...lines, story[3]!]],
    [
      'a tool that is denied was started',
      (lines) => lines.toSpliced(5, 0, ['tool_exec', { tool: 'wipe', phase: 'start' }]),
    ],
    [
      'a held tool was started without an approval',
      (lines) => lines.with(2, ['task_deferred_decision', { decision: 'reject' }]),
    ],
    [
      'a held tool was started with other arguments than were approved',
      (lines) => lines.with(3, ['tool_exec', { tool: 'pay', args_sha256: '1', phase: 'start' }]),
    ],
    [
      'a held tool was started with other arguments than were approved',
      (lines) =>
        lines.with(2, [
          'task_deferred_decision',
          { ...pay, decision: 'approve', edited_args_sha256: '1' },
        ]),
    ],
  ])('is invalid when %s', (what, change) => {
    expect(brokenTask(eventsOf(change([...story])), rules)).toContain(what);
  });

  it('is invalid with a gap', () => {
    expect(brokenTask(eventsOf(story).toSpliced(4, 1), rules)).toContain(
      'line 6 stands where 5 was due',
    );
  });
});

describe('the log of a hold', () => {
  const held: typeof story = [
    ['session_start', { key: 'k-1' }],
    ['call_ruled', { ...pay, decision: 'defer' }],
    ['hold_deferred', pay],
    ['hold_deferred_decision', { ...pay, decision: 'approve' }],
    ['session_end', { state: 'completed' }],
    ['hold_released', pay],
    ['hold_outcome', { ...pay, status: 'succeeded' }],
  ];
  const allowed: typeof story = [
    held[0]!,
    ['call_ruled', { ...pay, decision: 'allow' }],
    held[4]!,
    held[6]!,
  ];
  const answer: ToldHold = {
    ...{ holdId: 't-1', key: 'k-1', status: 'approved', argsSha256: digest, released: false },
  };

  const toldOf = (answers: ToldHold[], lines: typeof story, outcomes: string[] = []) =>
    brokenHolds(new Map([['t-1', eventsOf(lines)]]), {
      ...{ answers, outcomes: outcomes.map((status) => ({ holdId: 't-1', status })) },
    });

  it('is valid when each step follows from the one before', () => {
    expect(brokenHold(eventsOf(held))).toEqual([]);
    expect(brokenHold(eventsOf(allowed))).toEqual([]);
    expect(toldOf([answer, { ...answer, released: true }], held, ['succeeded'])).toEqual([]);
    const same = { ...answer, claim: 'p-1' };
    expect(toldOf([same, same], held)).toEqual([]);
    expect(brokenHold(eventsOf([...held.slice(0, 5), ['hold_withdrawn']]))).toEqual([]);
  });

  it.each<[string, (lines: typeof story) => typeof story]>([
    ['line 6 stands where 5 was due', (lines) => [...lines.slice(0, 4), ['', {}], ...lines]],
    ['the hold ran again', (lines) => [...lines, lines[0]!]],
    ['a second question was opened', (lines) => lines.toSpliced(4, 0, lines[2]!)],
    ['a wait began in another one', (lines) => lines.toSpliced(3, 0, lines[2]!)],
    ['a second decision counted', (lines) => lines.toSpliced(4, 0, lines[3]!)],
    ['a call was handed out without an approval', (lines) => lines.toSpliced(3, 1)],
    [
      'a call was handed out without an approval',
      (lines) => lines.with(3, ['hold_deferred_decision', { ...pay, decision: 'reject' }]),
    ],
    ['a call was handed out 2 times', (lines) => lines.toSpliced(5, 0, lines[5]!)],
    ['an outcome of a call that was not handed out', (lines) => lines.toSpliced(5, 1)],
    ['an outcome of a call that was not granted', (lines) => lines.toSpliced(3, 1)],
    ['2 outcomes counted', (lines) => [...lines, lines[6]!]],
    ['a call was withdrawn after its use', (lines) => [...lines, ['hold_withdrawn']]],
    ['a call was handed out after its end', (lines) => lines.toSpliced(5, 0, ['hold_withdrawn'])],
    ['a call with an outcome is unaccounted for', (lines) => [...lines, ['hold_unaccounted']]],
    ['the end came in a wait', (lines) => lines.toSpliced(3, 1)],
    [
      'a gate ran the call itself',
      (lines) => [...lines, ['tool_exec', { ...pay, phase: 'start' }]],
    ],
  ])('is invalid when %s', (what, change) => {
    const lines = change([...held]);
    const events = eventsOf(lines).filter(({ event }) => event !== '');
    expect(brokenHold(events)).toContain(what);
  });

  it.each<[string, ToldHold[], typeof story]>([
    [
      'hold t-1 was answered as approved, and nobody approved it',
      [answer],
      held.with(3, ['hold_deferred_decision', { ...pay, decision: 'reject' }]),
    ],
    ['hold t-1 was answered as approved, and the log has no release', [answer], held.slice(0, 5)],
    [
      'hold t-1 was answered as approved, and its arguments are not those of the decision',
      [{ ...answer, argsSha256: '1' }],
      held,
    ],
    [
      'hold t-1 was answered as allowed, and it waited for a person',
      [{ ...answer, status: 'allowed' }],
      held,
    ],
    [
      'hold t-1 was answered as allowed, and its arguments are not those of the ruling',
      [{ ...answer, status: 'allowed', argsSha256: '1' }],
      allowed,
    ],
    ['hold t-1 was answered as pending, and the log has no such hold', [answer], []],
    ['hold t-1 was answered as rejected, and nobody rejected it', [answer], held],
    ['hold t-1 was answered as expired, and the log has no expiry', [answer], held],
    ['hold t-1 was answered as cancelled, and the log has no cancellation', [answer], held],
    ['hold t-1 was answered as denied, and it was handed out', [answer], held],
    ['hold t-1 was handed out to 2 processes', [answer, { ...answer, claim: 'p-1' }], held],
    [
      'hold t-1 was answered as approved, then rejected',
      [answer, { ...answer, status: 'rejected' }],
      held,
    ],
    [
      'hold t-1 was answered with different arguments',
      [answer, { ...answer, argsSha256: '1' }],
      held,
    ],
  ])('is invalid when %s', (what, answers, lines) => {
    const status = /as (\w+), and/.exec(what)?.[1];
    const told = answers.map((one) => (status === undefined ? one : { ...one, status }));
    expect(toldOf(told, lines)).toContain(what);
  });

  it('is invalid with a key of two questions, and with a missing outcome', () => {
    const holds = new Map(['t-1', 't-2'].map((id) => [id, eventsOf(held.slice(0, 3))]));
    const outcomes = [{ holdId: 't-1', status: 'failed' }];
    expect(brokenHolds(holds, { answers: [], outcomes })).toEqual([
      'the key k-1 opened 2 questions',
      'the outcome failed of t-1 was accepted and is not in the log',
    ]);
  });
});

describe('the other invariants', () => {
  const request: SimulatedRequest = {
    ...{ host: 'api.example.com', address: '93.184.216.12', path: '/', at: 0, process: 1 },
  };

  async function brokenBy(more: Partial<Evidence>, lines = eventsOf(story)): Promise<string[]> {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-invariants-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const log = join(folder, 'audit.ndjson');
    writeFileSync(log, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const evidence = { log, seen: [], requests: [], logged: [], told: new Told(anyTeam), ...more };
    // These lines are not chained, which is the first sentence.
    return (await brokenInvariants(evidence)).slice(1);
  }

  it('are met without a violation', async () => {
    const told = new Told(anyTeam);
    told.decided('c-1', { taskId: 't-1', decision: 'approve', approver: 'ann' });
    const seen = [{ taskId: 't-1', callId: 'c-1', tool: 'pay', args: {} }];
    expect(await brokenBy({ told, seen, requests: [request] })).toEqual([]);
  });

  it('are broken by a chain that does not verify', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-invariants-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const log = join(folder, 'audit.ndjson');
    writeFileSync(log, '{"event":"session_start"}\n');
    const evidence = { log, seen: [], requests: [], logged: [], told: new Told(anyTeam) };
    expect(await brokenInvariants(evidence)).toEqual([expect.stringContaining('audit.ndjson:1 ')]);
  });

  it('are broken by a call that ran twice, and by one that the log does not have', async () => {
    const run = { taskId: 't-1', callId: 'c-1', tool: 'pay', args: {} };
    expect(await brokenBy({ seen: [run, run] })).toEqual([
      'call c-1 ran 2 times',
      `a run of t-1 pay ${digest} is not in the log`,
    ]);
    const other = { ...run, args: { to: 'eve' } };
    expect(await brokenBy({ seen: [other] })).toHaveLength(1);
  });

  it('are broken by an acknowledged decision that is missing, and by a second one', async () => {
    const told = new Told(anyTeam);
    told.decided('c-1', { taskId: 't-1', decision: 'approve', approver: 'ann' });
    told.decided('c-1', { taskId: 't-1', decision: 'reject', approver: 'bob' });
    expect(await brokenBy({ told })).toEqual([
      'call c-1 was decided 2 times',
      'a decision of task t-1 was told and is not in the log',
    ]);
  });

  it('are broken by a secret in the log, and in that of the daemon', async () => {
    const [first, ...rest] = eventsOf(story);
    const lines = [{ ...first!, correlation_id: canary }, ...rest];
    expect(await brokenBy({ logged: [`push: ${canary}`] }, lines)).toEqual([
      'a secret is in the audit log',
      `a secret was logged: push: ${canary}`,
    ]);
  });

  it('are broken by a platform that is called too often', async () => {
    const asked = { ...request, host: 'platform.example.com' };
    const requests = [
      asked,
      { ...asked, at: 4_999 },
      { ...asked, at: 9_999 },
      { ...asked, at: 9_999, process: 2 },
    ];
    expect(await brokenBy({ requests })).toEqual(['the platform was asked again after 4999 ms']);
  });

  it('are broken by a forbidden host, and by an unknown address', async () => {
    const requests = [
      { ...request, host: 'evil.example.net' },
      { ...request, address: '169.254.169.254' },
    ];
    expect(await brokenBy({ requests })).toEqual([
      'evil.example.net was dialled at 93.184.216.12',
      'api.example.com was dialled at 169.254.169.254',
    ]);
  });
});

describe('the refunds of a log', () => {
  const refund = (order: string, amount: number) => ({ shop: 'north', order, amount });
  const asked = [refund('o-1', 4), refund('o-2', 3), refund('o-3', 2)];
  /** The log of a task that starts a call and ends it with an outcome, if it does. */
  const run = (index: number, id: string, outcome?: string) => {
    const call = { ...{ tool: 'refund', call_id: id }, args_sha256: digestOf(index) };
    return [
      { event: 'tool_exec', task_id: `t-${id}`, fields: { ...call, phase: 'start' } },
      ...(outcome === undefined
        ? []
        : [{ event: 'tool_exec', task_id: `t-${id}`, fields: { ...call, phase: 'end', outcome } }]),
    ];
  };
  /** The log of a hold that a gate allows, and how it ends. */
  const hold = (index: number, id: string, end: { event: string; fields?: JsonObject }) => {
    const ruled = { tool: 'refund', decision: 'allow', args_sha256: digestOf(index) };
    return [
      { event: 'session_start', fields: { key: id } },
      { event: 'call_ruled', fields: ruled },
      end,
    ].map((line) => ({ ...line, task_id: `t-${id}` }));
  };
  const digestOf = (index: number) => argsDigest('refund', asked[index] ?? {});
  const broken = (...lines: ReturnType<typeof run | typeof hold>[]) =>
    brokenRefunds(lines.flat(), 'refund', asked);
  const ended = (status: string) => ({ event: 'hold_outcome', fields: { status } });

  it('are valid within the limit of their shop, and once for each order', () => {
    expect(
      broken(
        run(0, 'a', 'not_run'),
        run(0, 'b', 'failed'),
        hold(2, 'c', ended('succeeded')),
        hold(1, 'd', ended('not_run')),
        hold(1, 'e', { event: 'hold_withdrawn' }),
      ),
    ).toEqual([]);
  });

  it('are invalid over the limit, and for an order that may have been refunded before', () => {
    expect(broken(run(0, 'a', 'failed'), hold(1, 'b', { event: 'session_end' }))).toEqual([
      'the shop north refunded 7 of 6',
    ]);
    expect(broken(run(2, 'a'), hold(2, 'b', ended('succeeded')))).toEqual([
      'the order north o-3 was refunded 2 times',
    ]);
  });
});
