import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RecordedEvent } from '../../src/actors/records/records.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { brokenTask } from '../helpers/broken-task.ts';
import { brokenInvariants, type Evidence } from './invariants.ts';
import { canary } from './simulated-agent.ts';
import type { SimulatedRequest } from './simulated-network.ts';
import { Told } from './told.ts';

const rules = { held: 'pay', denied: 'wipe' };

const story: [event: string, fields?: JsonObject][] = [
  ['session_start'],
  ['task_deferred', { tool: 'pay' }],
  ['task_deferred_decision', { decision: 'approve', approver: 'ann' }],
  ['tool_exec', { tool: 'pay', phase: 'start' }],
  ['tool_exec', { tool: 'pay', phase: 'end' }],
  ['session_end', { state: 'completed' }],
];

function eventsOf(lines: typeof story): RecordedEvent[] {
  return lines.map(([event, fields = {}], index) => ({
    ...{ event, fields, seq: index + 1, ts: '2026-07-01T09:00:00.000Z', task_id: 't-1' },
  }));
}

describe('the log of a task', () => {
  it('holds when each step follows from the one before', () => {
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
  ])('is broken when %s', (what, change) => {
    expect(brokenTask(eventsOf(change([...story])), rules)).toContain(what);
  });

  it('is broken by a gap', () => {
    expect(brokenTask(eventsOf(story).toSpliced(4, 1), rules)).toContain(
      'line 6 stands where 5 was due',
    );
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
    const evidence = { log, seen: [], requests: [], logged: [], told: new Told(), ...more };
    // These lines are not chained, which is the first sentence.
    return (await brokenInvariants(evidence)).slice(1);
  }

  it('hold when there is nothing against them', async () => {
    const told = new Told();
    told.decided('c-1', { taskId: 't-1', decision: 'approve', approver: 'ann' });
    const seen = [{ taskId: 't-1', callId: 'c-1', tool: 'pay' }];
    expect(await brokenBy({ told, seen, requests: [request] })).toEqual([]);
  });

  it('are broken by a chain that does not verify', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-invariants-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const log = join(folder, 'audit.ndjson');
    writeFileSync(log, '{"event":"session_start"}\n');
    const evidence = { log, seen: [], requests: [], logged: [], told: new Told() };
    expect(await brokenInvariants(evidence)).toEqual([expect.stringContaining('audit.ndjson:1 ')]);
  });

  it('are broken by a call that ran twice, and by one that the log does not have', async () => {
    const run = { taskId: 't-1', callId: 'c-1', tool: 'pay' };
    expect(await brokenBy({ seen: [run, run] })).toEqual([
      'call c-1 ran 2 times',
      'a run of t-1 pay is not in the log',
    ]);
  });

  it('are broken by a decision that was told and is not there, and by a second one', async () => {
    const told = new Told();
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

  it('are broken by a platform that is asked too often', async () => {
    const asked = { ...request, host: 'platform.example.com' };
    const requests = [
      asked,
      { ...asked, at: 4_999 },
      { ...asked, at: 9_999 },
      { ...asked, at: 9_999, process: 2 },
    ];
    expect(await brokenBy({ requests })).toEqual(['the platform was asked again after 4999 ms']);
  });

  it('are broken by a host that is not open, and by an address that is nobody’s', async () => {
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
