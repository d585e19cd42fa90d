import { checkPart, hashOf, type LineBreak, takeKeys } from './log-check.ts';
import type { LogLine } from './log-line.ts';

/** What can be told of a line from those around it. */
export interface LineState {
  chain: 'fits' | 'broken' | 'unknown';
  signature: 'good' | 'bad' | 'unsigned' | 'unchecked';
  /** Why it is bad. */
  reason: string | null;
}

/** What the first line of a page follows on: a line, or what was removed before it; `null` where the log begins. */
export interface PageStart {
  line: string | null;
  pruned: { head: string } | null;
}

/** Checks lines that follow one another, and what they follow on. */
export async function checkPage(
  page: readonly LogLine[],
  { line, pruned }: PageStart,
  keys: readonly unknown[],
): Promise<Map<number, LineState>> {
  const ring = await takeKeys(keys);
  const breaks = new Map<number, LineBreak>();
  async function* chunks() {
    for (const { raw } of page) yield `${raw}\n`;
  }
  const continuedFrom = line === null ? (pruned?.head ?? null) : await hashOf(line);
  await checkPart(
    { chunks: chunks(), continuedFrom },
    { keys: ring, onBreak: (broken) => breaks.set(broken.line, broken) },
  );
  return new Map(
    page.map((one, index) => [one.line, stateOf(one, breaks.get(index + 1), ring !== null)]),
  );
}

function stateOf({ signed }: LogLine, broken: LineBreak | undefined, checked: boolean): LineState {
  const byKey = !signed ? 'unsigned' : checked ? 'good' : 'unchecked';
  if (broken === undefined) return { chain: 'fits', signature: byKey, reason: null };
  const { reason } = broken;
  if (/^(sig|kid) /.test(reason)) return { chain: 'fits', signature: 'bad', reason };
  // A line whose place is wrong is not looked at further.
  return { chain: 'broken', signature: signed ? 'unchecked' : 'unsigned', reason };
}
