import {
  findLines,
  nodeKeyRing,
  type RecordedEvent,
  verdictSentence,
  verifyFiles,
  verifyReceipts,
} from '../../actors/records/records.ts';
import { eventOfWait } from '../../machines/domain/hold-events.ts';
import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import { readKeys } from '../audit/read-keys.ts';
import { plainLine } from '../plain-text.ts';
import type { Demo } from './demo.ts';

/** What the log proves of a task. */
export interface Proof {
  /** One line for each step of the last held call. */
  lines: string[];
  /** Why it does not; `null` if it does. */
  fault: string | null;
  audit: Awaited<ReturnType<typeof verifyFiles>>;
}

/** Sums up the last held call of a task from its events, and verifies its receipt against the log. */
export async function proofOf(
  demo: Demo,
  task: string,
  events: readonly RecordedEvent[],
): Promise<Proof> {
  const audit = await verifyFiles([demo.auditPath]);
  const held = events.findLast(({ event }) => eventOfWait(event) === 'task_deferred');
  const [started] = events;
  const asked = started === undefined ? [] : [step('asked', started.ts, requesterIn(started))];
  const chain = step('log', 'verified', verdictSentence(audit));
  if (held === undefined) return { lines: [...asked, chain], fault: faultOf(audit), audit };
  const call = text(held, 'call_id');
  const own = events.filter((event) => fieldsOf(event)['call_id'] === call);
  const of = (name: string) => own.filter(({ event }) => eventOfWait(event) === name);
  const starts = of('tool_exec').filter((event) => fieldsOf(event)['phase'] === 'start');
  const receipt = await receiptOf(demo, task, call);
  const runs = starts.length === 1 ? 'ran once' : `ran ${starts.length} times`;
  const ran = of('tool_exec').find((event) => fieldsOf(event)['phase'] === 'end');
  return {
    lines: [
      ...asked,
      step('held', held.ts, `${text(held, 'tool')}, by ${text(of('call_ruled').at(-1), 'rule')}`),
      ...of('task_deferred_decision').map((event) =>
        step(verbOf(text(event, 'decision')), event.ts, `by ${text(event, 'approver')}`),
      ),
      ...(ran === undefined ? [] : [step(runs, ran.ts, text(ran, 'outcome'))]),
      step('receipt', 'verified', verdictSentence(audit)),
    ],
    fault: faultOf(audit) ?? receipt ?? (starts.length > 1 ? `the call ${runs}` : null),
    audit,
  };
}

function step(name: string, at: string, rest: string): string {
  const time = /T(\d\d:\d\d:\d\d)/.exec(at)?.[1] ?? at;
  return plainLine(`${name.padEnd(8)}  ${time.padEnd(8)}  ${rest}`);
}

function verbOf(decision: string): string {
  return decision === 'approve' ? 'approved' : 'rejected';
}

function faultOf(audit: Proof['audit']): string | null {
  return audit.ok ? null : verdictSentence(audit);
}

/** Reads and verifies the receipt of a call; returns why it is not valid, or `null`. */
async function receiptOf({ client, url, auditPath, signal }: Demo, task: string, call: string) {
  const path = `/tasks/${encodeURIComponent(task)}/calls/${encodeURIComponent(call)}/receipt`;
  const receipt = await client.text({ method: 'GET', path, signal }, 'application/jose');
  const keys = nodeKeyRing(await readKeys(`${url}/.well-known/service-audit-keys`));
  const [verdict] = await verifyReceipts([receipt.trim()], {
    keys,
    findLines: findLines([auditPath]),
  });
  return verdict === undefined || verdict.ok ? null : `the receipt is not valid: ${verdict.reason}`;
}

function requesterIn(event: RecordedEvent): string {
  const by = text(event, 'email') || text(event, 'user_id');
  return by === '' || by === 'runtime' ? 'by the operator of this machine' : `by ${by}`;
}

function text(event: RecordedEvent | undefined, name: string): string {
  const value = event === undefined ? undefined : fieldsOf(event)[name];
  return typeof value === 'string' ? value : '';
}

function fieldsOf(event: RecordedEvent): JsonObject {
  return isJsonObject(event['fields']) ? event['fields'] : {};
}
