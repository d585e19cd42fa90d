import { readFileSync } from 'node:fs';
import { argsDigest } from '../../src/actors/governance/governance.ts';
import {
  breakSentence,
  logFilesOf,
  type RecordedEvent,
  verifyFiles,
} from '../../src/actors/records/records.ts';
import { eventOfWait } from '../../src/machines/domain/hold-events.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { brokenHolds, isHold } from '../helpers/broken-hold.ts';
import { brokenTask } from '../helpers/broken-task.ts';
import { brokenRefunds } from '../helpers/limited-refunds.ts';
import { brokenApprovals } from './broken-approvals.ts';
import { refunds } from './cast.ts';
import { canary } from './simulated-agent.ts';
import type { SimulatedRequest } from './simulated-network.ts';
import type { ToolSeen } from './simulated-world.ts';
import type { Told } from './told.ts';

/** What is looked at when the invariants are. */
export interface Evidence {
  /** The path of the log. */
  log: string;
  seen: readonly ToolSeen[];
  requests: readonly SimulatedRequest[];
  logged: readonly string[];
  told: Told;
}

/** How the tools of a simulated agent are governed. */
const rules = { held: 'pay', denied: 'wipe' };

/** The hosts that the configuration opens, but for the one whose address no policy lets pass. */
const open = new Set(['desk', 'hook', 'api', 'platform'].map((name) => `${name}.example.com`));

/** For how long an answer of the platform counts, in milliseconds (docs/contract/governance.md). */
const admissionWindow = 5_000;

/** Returns which of the invariants do not hold, a sentence each; none when all do. */
export async function brokenInvariants(evidence: Evidence): Promise<string[]> {
  const files = logFilesOf(evidence.log);
  const text = files.map((file) => readFileSync(file, 'utf8')).join('');
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedEvent);
  const verdict = await verifyFiles(files);
  const byTask = Map.groupBy(events, ({ task_id: id }) => id ?? '');
  byTask.delete('');
  const holds = new Map([...byTask].filter(([, own]) => isHold(own)));
  return [
    ...(verdict.ok ? [] : [breakSentence(verdict)]),
    ...[...byTask].flatMap(([id, own]) =>
      isHold(own) ? [] : brokenTask(own, rules).map((what) => `task ${id}: ${what}`),
    ),
    ...brokenHolds(byTask, evidence.told.holds),
    ...brokenApprovals(holds, evidence.told.team),
    ...brokenRuns(byTask, evidence.seen),
    ...brokenRefunds(events, 'refund', refunds),
    ...brokenDecisions(byTask, evidence.told),
    ...leaks(text, evidence),
    ...brokenAdmission(evidence.requests),
    ...brokenDials(evidence.requests),
  ];
}

function brokenRuns(
  byTask: ReadonlyMap<string, readonly RecordedEvent[]>,
  seen: readonly ToolSeen[],
): string[] {
  const calls = Map.groupBy(seen, ({ callId }) => callId);
  const twice = [...calls].filter(([, runs]) => runs.length > 1);
  const nameOf = ({ taskId, tool, args }: ToolSeen) =>
    `${taskId} ${tool} ${argsDigest(tool, args)}`;
  const unlogged = [...Map.groupBy(seen, nameOf)].filter(([name, runs]) => {
    const [id = '', tool, digest] = name.split(' ');
    const starts = (byTask.get(id) ?? []).filter(({ event, ...rest }) => {
      const fields = (rest['fields'] ?? {}) as JsonObject;
      const isStart = event === 'tool_exec' && fields['phase'] === 'start';
      return isStart && fields['tool'] === tool && fields['args_sha256'] === digest;
    });
    return starts.length < runs.length;
  });
  return [
    ...twice.map(([id, { length }]) => `call ${id} ran ${length} times`),
    ...unlogged.map(([name]) => `a run of ${name} is not in the log`),
  ];
}

function brokenDecisions(
  byTask: ReadonlyMap<string, readonly RecordedEvent[]>,
  { decisions }: Told,
): string[] {
  return [...decisions].flatMap(([callId, told]) => {
    const twice = told.length > 1 ? [`call ${callId} was decided ${told.length} times`] : [];
    const lost = told.filter(
      ({ taskId, decision, approver }) =>
        !(byTask.get(taskId) ?? []).some(({ event, ...rest }) => {
          const fields = (rest['fields'] ?? {}) as JsonObject;
          return (
            eventOfWait(event) === 'task_deferred_decision' &&
            fields['decision'] === decision &&
            fields['approver'] === approver
          );
        }),
    );
    return [
      ...twice,
      ...lost.map(({ taskId }) => `a decision of task ${taskId} was told and is not in the log`),
    ];
  });
}

function leaks(log: string, { logged }: Evidence): string[] {
  return [
    ...(log.includes(canary) ? ['a secret is in the audit log'] : []),
    ...logged.filter((line) => line.includes(canary)).map((line) => `a secret was logged: ${line}`),
  ];
}

function brokenAdmission(requests: readonly SimulatedRequest[]): string[] {
  const asked = requests.filter(({ host }) => host === 'platform.example.com');
  return asked.flatMap(({ at, process }, index) => {
    const before = asked[index - 1];
    const isSoon = before !== undefined && before.process === process;
    return isSoon && at - before.at < admissionWindow
      ? [`the platform was asked again after ${at - before.at} ms`]
      : [];
  });
}

function brokenDials(requests: readonly SimulatedRequest[]): string[] {
  return requests
    .filter(({ host, address }) => !open.has(host) || address.startsWith('169.254.'))
    .map(({ host, address }) => `${host} was dialled at ${address}`);
}
