import { join } from 'node:path';
import { openDatabase } from '../src/actors/records/sqlite/database.ts';
import { SqliteTaskRows } from '../src/actors/records/sqlite/sqlite-task-rows.ts';
import type { Task } from '../src/machines/domain/task.ts';
import { taskMachineVersion } from '../src/machines/task/snapshot-steps.ts';
import { get } from './connections.ts';
import { makeAgentFolder, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { percentile } from './load.ts';

const kept = 100_000;

/** Every way to a list, with each of its filters. */
const lists: readonly [what: string, path: string][] = [
  ['GET /tasks', '/tasks'],
  ['GET /tasks, of a state', '/tasks?state=completed'],
  ['GET /tasks, of a state that few have', '/tasks?state=canceled'],
  ['GET /tasks, 500 with what was said', '/tasks?limit=500&include=artifacts'],
  ['GET /deferrals', '/deferrals'],
  ['ListTasks', '/a2a/tasks'],
  ['ListTasks, of a state', '/a2a/tasks?status=TASK_STATE_COMPLETED'],
  ['ListTasks, of the context of half of them', '/a2a/tasks?contextId=one'],
  ['ListTasks, of no context', '/a2a/tasks?contextId=nope'],
  [
    'ListTasks, by every filter',
    '/a2a/tasks?contextId=one&status=TASK_STATE_COMPLETED&statusTimestampAfter=2026-07-01T09:00:00Z',
  ],
];

/** Lists of a store with 100,000 tasks, and what answers behind 20 of them. */
export async function listFigures(): Promise<Figure[]> {
  const folder = makeAgentFolder();
  fillTasks(folder.directory);
  const daemon = await startDaemon(folder.directory);
  const figures: Figure[] = [];
  for (const [what, path] of lists) {
    const ask = () => timed(`${daemon.url}${path}`);
    for (let round = 0; round < 20; round += 1) await ask();
    const times: number[] = [];
    const spent = await daemon.cpu();
    for (let round = 0; round < 50; round += 1) times.push(await ask());
    const cpu = ((await daemon.cpu()) - spent) / 50;
    const together = Array.from({ length: 20 }, ask);
    const health = await timed(`${daemon.url}/healthz`);
    await Promise.all(together);
    const at = (share: number) => `${percentile(times, share).toFixed(1)} ms`;
    figures.push({
      what: `${what}, 100,000 tasks kept`,
      measured: `${cpu.toFixed(1)} ms of CPU, p50 ${at(0.5)}, p95 ${at(0.95)}; /healthz behind 20 of them ${health.toFixed(1)} ms`,
      aim: '20 ms, 50 ms',
    });
  }
  await daemon.stop();
  folder.remove();
  return figures;
}

async function timed(url: string): Promise<number> {
  const began = performance.now();
  const { status, text } = await get(url, { 'a2a-version': '1.0' });
  if (status !== 200) throw new Error(`${url}: ${status} ${text}`);
  return performance.now() - began;
}

/** A week of tasks at ten a minute; every hundredth waits. */
export function fillTasks(directory: string): void {
  const database = openDatabase(join(directory, '.service/tasks.db'));
  const rows = new SqliteTaskRows(database);
  database.exec('BEGIN');
  for (let index = 0; index < kept; index += 1) {
    const task = aTask(index, Date.now() - (kept - index) * 6_000);
    const snapshot = task.state === 'completed' ? null : {};
    const machineVersion = taskMachineVersion;
    rows.write({ task, expected: 0, snapshot, machineVersion, auditSeq: 5, startedCall: null });
  }
  database.exec('COMMIT');
  database.close();
}

function aTask(index: number, at: number): Task {
  const messageId = `m${index}`;
  const said = [{ kind: 'text', text: 'The refund of order 7 is on its way. '.repeat(8) } as const];
  const isHeld = index % 100 === 0;
  return {
    id: `0198-${index}`,
    contextId: index % 2 === 0 ? 'one' : `c${index}`,
    state: isHeld ? 'deferred' : 'completed',
    text: said[0]?.text ?? '',
    changedAt: at,
    createdAt: at,
    revision: 1,
    history: [
      { role: 'user', parts: said, messageId },
      { role: 'agent', parts: said, messageId },
    ],
    answer: isHeld ? null : said,
    requester: null,
    surface: 'legacy',
    deferral: isHeld ? aDeferral(messageId, at) : null,
    stage: isHeld ? 'asked' : null,
    wakeAt: isHeld ? at + 1e12 : null,
    settled: null,
    failure: null,
    records: [],
  };
}

function aDeferral(id: string, at: number): NonNullable<Task['deferral']> {
  return {
    ...{ id, tool: 'datetime_now', args: {}, argsSha256: 'a1'.repeat(32), context: 'now?' },
    ...{
      to: 'channel:dashboard:*',
      targets: ['channel:dashboard:*'],
      timeout: 1e12,
      approvers: null,
      quorum: 1,
    },
    ...{
      bindApprover: false,
      distinctCallers: false,
      onReject: 'fail',
      approvals: [],
      requestedAt: at,
      expiresAt: at + 1e12,
    },
    ...{ remindAt: null, escalateAt: null, escalateTo: null },
  };
}
