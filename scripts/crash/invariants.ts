import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { breakSentence, logFilesOf, verifyFiles } from '../../src/actors/records/records.ts';
import { brokenTask } from '../../test/helpers/broken-task.ts';
import { brokenRefunds } from '../../test/helpers/limited-refunds.ts';
import { type AuditLine, readAudit } from '../../test/helpers/test-agent.ts';
import type { Cluster } from './cluster.ts';
import type { Crowd } from './crowd.ts';
import type { Load } from './load.ts';

const final = new Set(['completed', 'failed', 'canceled']);

/** Returns what of the invariants does not hold, each as a sentence; none when all do (ux-and-security C.4). */
export async function brokenInvariants(cluster: Cluster, load: Crowd): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-crash-'));
  try {
    await load.lookAgain();
    const files = await logOf(cluster, folder);
    const verdict = await verifyFiles(files);
    const lines = files.flatMap((file) => readAudit(file));
    return [
      ...(verdict.ok ? [] : [breakSentence(verdict)]),
      ...brokenRefunds(lines, 'grant', load.refunds),
      ...(await load.broken(lines)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns what of the tasks of agents does not hold, each as a sentence. */
export async function brokenTasks(
  cluster: Cluster,
  load: Load,
  lines: readonly AuditLine[],
): Promise<string[]> {
  return [
    ...brokenLines(lines),
    ...brokenDecisions(lines, load),
    ...brokenRuns(lines, cluster.paid, load),
    ...(await unfinished(cluster, load, lines)),
    ...(await receiversBehind(cluster, load)),
  ];
}

async function logOf({ server, database, folders }: Cluster, folder: string): Promise<string[]> {
  if (server === null) return logFilesOf(join(folders[0]?.path ?? '', '.service/audit.ndjson'));
  const sql = 'SELECT text FROM holdpoint.audit_lines ORDER BY line';
  const rows = await server.query(sql, [], database);
  const file = join(folder, 'audit.ndjson');
  writeFileSync(file, rows.map(({ text }) => `${String(text)}\n`).join(''));
  return [file];
}

function brokenLines(lines: readonly AuditLine[]): string[] {
  const byTask = Map.groupBy(lines, ({ task_id }) => task_id ?? '');
  byTask.delete('');
  return [...byTask].flatMap(([id, own]) =>
    brokenTask(own, { held: 'pay' }).map((what) => `task ${id}: ${what}`),
  );
}

function brokenDecisions(lines: readonly AuditLine[], { decisions }: Load): string[] {
  const made = lines.filter(
    ({ event, fields }) => event === 'task_deferred_decision' && fields?.['authorized'] !== false,
  );
  const byTask = Map.groupBy(made, ({ task_id }) => task_id ?? '');
  const twice = [...byTask].filter(([, events]) => events.length > 1);
  const lost = decisions.filter(({ taskId, decision, approver }) => {
    const fields = byTask.get(taskId)?.[0]?.fields;
    return fields?.['decision'] !== decision || fields?.['approver'] !== approver;
  });
  return [
    ...twice.map(([id, { length }]) => `task ${id} was decided ${length} times`),
    ...lost.map(
      ({ taskId }) => `a decision of task ${taskId} was acknowledged and is not in the log`,
    ),
  ];
}

/** A call that was held has the id of its deferral, and its tool leaves a trace of each run. */
function brokenRuns(
  lines: readonly AuditLine[],
  paid: readonly string[],
  { calls }: Load,
): string[] {
  const approved = new Set(
    lines
      .filter(({ fields }) => fields?.['decision'] === 'approve' && fields['authorized'] !== false)
      .map(({ task_id: id }) => id),
  );
  const runs = Map.groupBy(paid, (call) => call);
  return [...runs].flatMap(([call, { length }]) => {
    const id = calls.get(call);
    return [
      ...(length > 1 ? [`call ${call} ran ${length} times`] : []),
      ...(id !== undefined && !approved.has(id) ? [`call ${call} ran without an approval`] : []),
    ];
  });
}

async function unfinished(
  { alive }: Cluster,
  { accepted, answered }: Load,
  lines: readonly AuditLine[],
): Promise<string[]> {
  const broken: string[] = [];
  for (const id of accepted) {
    const answer = await alive[0]?.get(`/tasks/${id}`);
    const { status } = (answer?.body ?? {}) as { status?: { state?: string } };
    const state = status?.state ?? 'unknown';
    const told = answered.get(id);
    if (!final.has(state)) {
      const decided = await Promise.all(
        alive.map((agent) => agent.decide(id, { decision: 'approve', approver: 'nobody' })),
      );
      const answers = decided.map(({ status, body }) => `${status} ${JSON.stringify(body)}`);
      const own = lines.filter(({ task_id: task }) => task === id).map(({ event }) => event);
      broken.push(
        `task ${id} is ${state} in the end; its log: ${own.join(', ')}; a decision is answered with ${answers.join(', ')}`,
      );
    } else if (told !== undefined && told !== state) {
      broken.push(`task ${id} was answered as ${told} and is ${state}`);
    }
  }
  return broken;
}

/** How late receivers may be notified, in milliseconds. */
const patience = 60_000;

async function receiversBehind({ people, alive }: Cluster, { followed }: Load): Promise<string[]> {
  const states = new Map<string, string>();
  for (const id of followed) {
    const answer = await alive[0]?.get(`/tasks/${id}`);
    const { status } = (answer?.body ?? {}) as { status?: { state?: string } };
    states.set(id, status?.state ?? 'unknown');
  }
  const look = () => people.receiversBehind(followed, (id) => states.get(id) ?? 'unknown');
  for (const latest = Date.now() + patience; Date.now() < latest; await wait(200)) {
    if (look().length === 0) return [];
  }
  return look();
}
