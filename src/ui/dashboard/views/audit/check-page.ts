import { checkPart, hashOf, type LineBreak, takeKeys } from './log-check.ts';
import type { LogLine } from './log-line.ts';

/** The result of checking a line against its neighbours. */
export interface LineState {
  chain: 'fits' | 'broken' | 'unknown';
  signature: 'good' | 'bad' | 'unsigned' | 'unchecked';
  /** The reason why the line is bad. */
  reason: string | null;
}

/** The predecessor of a page's first line: a line, or the removed lines before it; `null` at the start of the log. */
export interface PageStart {
  line: string | null;
  pruned: { head: string } | null;
}

/** Checks consecutive lines and their predecessor. */
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
  // A line at the wrong position is not checked further.
  return { chain: 'broken', signature: signed ? 'unchecked' : 'unsigned', reason };
}
