import type { AuditJson } from '../../../../http/wire/dashboard/audit-json.ts';
import { agentPath } from '../../api/paths.ts';
import { type Culprit, culpritOf } from './culprit.ts';
import { checkLines, type LineBreak, takeKeys } from './log-check.ts';
import { type LogLine, logLine } from './log-line.ts';
import type { Outcome } from './verification-machine.ts';

/** Lines of one answer where the whole log is read. */
const perAnswer = 1_000;

/** Reads JSON from the server. Throws an ApiError. */
interface JsonReader {
  get<T>(path: string, signal?: AbortSignal): Promise<T>;
}

/** Reads the log of one agent. */
export class LogReader {
  readonly #client: JsonReader;
  readonly #path: string;

  constructor(client: JsonReader, agent: string) {
    this.#client = client;
    this.#path = agentPath(agent, 'audit');
  }

  /** Reads up to `limit` lines before line `before`; the last ones of the log where that is `null`. Throws an ApiError. */
  read(limit: number, before: number | null, signal: AbortSignal): Promise<AuditJson> {
    const query = new URLSearchParams({ limit: String(limit) });
    if (before !== null) query.set('before', String(before));
    return this.#client.get<AuditJson>(`${this.#path}?${query}`, signal);
  }

  /** Verifies the whole log, as long as it was when that began. Throws an ApiError, or what is wrong with its keys. */
  async verify(
    progress: (done: number, total: number) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const head = await this.read(1, null, signal);
    const keys = await takeKeys(head.keys);
    const breaks: LineBreak[] = [];
    const lines = this.#all(head.total, (done) => progress(done, head.total), signal);
    let signed = 0;
    const onBreak = (broken: LineBreak): void => {
      // Two are enough to say where it is.
      if (breaks.length < 2) breaks.push(broken);
    };
    const verdict = await checkLines({ lines, before: null }, { keys, onBreak });
    if (verdict.ok) signed = verdict.signed;
    const [first, second] = breaks;
    const found = { events: head.total, signed, checked: keys !== null };
    if (first === undefined) return { ...found, culprit: null };
    return { ...found, culprit: await this.#culprit(first, second, keys !== null, signal) };
  }

  async #culprit(
    first: LineBreak,
    second: LineBreak | undefined,
    checked: boolean,
    signal: AbortSignal,
  ): Promise<Culprit> {
    const { events, total } = await this.read(1, first.line, signal);
    const previous = events[0] === undefined ? null : logLine(events[0]);
    return culpritOf(first, {
      nextFollows: first.line < total && second?.line !== first.line + 1,
      previousProven: checked && previous?.signed === true,
    });
  }

  async *#all(
    total: number,
    progress: (done: number) => void,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    for (let done = 0; done < total; ) {
      const limit = Math.min(perAnswer, total - done);
      const { events } = await this.read(limit, done + limit + 1, signal);
      for (const { line } of events) yield line;
      // A log that has become shorter meanwhile ends here; the chain tells.
      if (events.length === 0) return;
      done += events.length;
      progress(done);
    }
  }
}

/** What can be told of a line from those around it. */
export interface LineState {
  chain: 'fits' | 'broken' | 'unknown';
  signature: 'good' | 'bad' | 'unsigned' | 'unchecked';
  /** Why it is bad. */
  reason: string | null;
}

/**
 * Checks lines that follow one another, and what they follow on.
 *
 * @param before the line before the first one; `null` where the log begins
 */
export async function checkPage(
  page: readonly LogLine[],
  before: string | null,
  keys: readonly unknown[],
): Promise<Map<number, LineState>> {
  const ring = await takeKeys(keys);
  const breaks = new Map<number, LineBreak>();
  async function* lines() {
    for (const { raw } of page) yield raw;
  }
  await checkLines(
    { lines: lines(), before },
    { keys: ring, onBreak: (broken) => breaks.set(broken.line, broken) },
  );
  return new Map(
    page.map((line, index) => [line.line, stateOf(line, breaks.get(index + 1), ring !== null)]),
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
