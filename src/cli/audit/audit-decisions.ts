import {
  type DecidedCall,
  decisionCsv,
  decisionsOf,
  isDecision,
  loadSharedStore,
  type RecordedEvent,
  type TailedLine,
  type Tailing,
  tailLines,
} from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { cutToRunes } from '../../machines/text.ts';
import { rangeOf } from '../option-values.ts';
import { plainLine } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { openNewFile } from './audit-export.ts';
import { auditSourceOf, withLog } from './audit-source.ts';

export interface AuditDecisionsOptions {
  dir?: string;
  file?: string;
  task?: string;
  tool?: string;
  person?: string;
  from?: string;
  to?: string;
  output?: string;
  csv?: boolean;
}

/** Reads the wanted lines of a log, oldest first. */
type ReadLog = (filter: Pick<Tailing, 'task' | 'from' | 'to'>) => AsyncIterable<TailedLine>;

/**
 * `audit decisions`: prints one line for each decision on a call of a task or a hold, and for each wait that ended without
 * one, with the call, the people and the outcome. The range is that of the decisions; a call is read whole.
 */
export async function auditDecisions(
  session: Session,
  options: AuditDecisionsOptions,
): Promise<void> {
  const { dir, file } = options;
  const source = file === undefined ? await auditSourceOf(dir, session) : { path: file };
  const tailing = { limit: null, signal: session.interruption.listen(), clock: systemClock() };
  if ('path' in source) {
    const { path } = source;
    await print(session, options, (filter) => tailLines({ path, ...tailing, ...filter }));
    return;
  }
  const { tailDatabase } = await loadSharedStore();
  await withLog(source.address, (log) =>
    print(session, options, (filter) => tailDatabase(log, { ...tailing, ...filter })),
  );
}

async function print(
  session: Session,
  options: AuditDecisionsOptions,
  read: ReadLog,
): Promise<void> {
  const { output, interruption } = session;
  const stop = showProgress(output, 'reading the log');
  const rows = await decisionsIn(read, options).finally(stop);
  interruption.listen().throwIfAborted();
  const { output: target, csv: isCsv = false } = options;
  const text =
    isCsv || target !== undefined ? tableOf(rows) : rows.map((row) => `${lineOf(row)}\n`).join('');
  if (target !== undefined) {
    const file = await openNewFile(target);
    await file.write(text);
    await file.close();
    output.line(
      plainLine(
        `${rows.length} ${rows.length === 1 ? 'decision' : 'decisions'} written to ${target}`,
      ),
    );
    output.json({ decisions: rows.length, file: target });
    return;
  }
  if (output.isJson) for (const row of rows) output.json(row);
  else output.stdout.write(text);
  if (rows.length === 0)
    output.note('no decision matches; name another range, or another log with --dir or --file');
}

async function decisionsIn(
  read: ReadLog,
  { task, tool, person, from, to }: AuditDecisionsOptions,
): Promise<DecidedCall[]> {
  const range = rangeOf({ from, to });
  const tasks = new Map<string, RecordedEvent[]>();
  for await (const { event } of read({ ...range, ...(task === undefined ? {} : { task }) })) {
    if (event?.task_id !== undefined && isDecision(event)) tasks.set(event.task_id, []);
  }
  if (tasks.size === 0) return [];
  // The request of a call may be before the range, and its outcome after it.
  for await (const { event } of read(task === undefined ? {} : { task })) {
    if (event?.task_id !== undefined) tasks.get(event.task_id)?.push(event);
  }
  return [...tasks.values()]
    .flatMap((events) => decisionsOf(events, range))
    .filter((row) => tool === undefined || row.tool === tool)
    .filter((row) => person === undefined || namesIn(row).includes(person))
    .toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

/** Returns the people whom a row names: approvers and the requester. */
function namesIn(row: DecidedCall): unknown[] {
  return [row['approver'], row['for'], row['requester']];
}

function tableOf(rows: readonly DecidedCall[]): string {
  return [decisionCsv(), ...rows.map((row) => decisionCsv(row))].join('');
}

const words: Record<DecidedCall['decision'], string> = {
  approve: 'approved',
  reject: 'rejected',
  refused: 'not allowed to decide',
  granted: 'approved earlier',
  timed_out: 'timed out',
  withdrawn: 'withdrawn',
};

function lineOf(row: DecidedCall): string {
  const { at, decision, tool } = row;
  const text = (name: string) => (typeof row[name] === 'string' ? row[name] : '');
  const args =
    row['args'] === undefined
      ? `args_sha256 ${text('args_sha256').slice(0, 16)}`
      : cut(JSON.stringify(row['args']));
  const approver =
    nameIn(text('approver')) ||
    (decision === 'approve' || decision === 'reject' ? 'a person without a name' : '');
  const by = [
    approver && `by ${approver}`,
    text('for') && `for ${nameIn(text('for'))}`,
    text('method') && `(${text('method')})`,
  ];
  const parts = [
    [words[decision], ...by].filter((part) => part !== '').join(' '),
    ...(text('note') === '' ? [] : [JSON.stringify(cut(text('note')))]),
    `requested by ${nameIn(text('requester')) || 'an anonymous caller'}`,
    text('outcome').replaceAll('_', ' '),
  ];
  return plainLine(`${at}  ${tool} ${args}  ${parts.join(', ')}  ${text('task_id')}`);
}

/** Quotes a name that could be read as more than a name. */
function nameIn(name: string): string {
  return /[",():]|\s\s|^\s|\s$/.test(name) ? JSON.stringify(name) : name;
}

function cut(text: string): string {
  const short = cutToRunes(text, 120);
  return short.length < text.length ? `${short}…` : short;
}
