import type { AuditJson } from '../../../../http/wire/dashboard/audit-json.ts';
import { parseJson } from '../../../../machines/json.ts';
import { agentPath } from '../../api/paths.ts';
import { type Culprit, culpritOf } from './culprit.ts';
import type { LineBreak } from './log-check.ts';
import { logLine } from './log-line.ts';
import type { Outcome } from './verification-machine.ts';
import type { Verify } from './verify-stream.ts';
import type { Wanted } from './wanted.ts';

interface LogClient {
  /** Throws an ApiError. */
  get<T>(path: string, signal?: AbortSignal): Promise<T>;
  /** Returns the URL and headers for a worker's request. */
  addressOf(path: string): { url: string; headers: Record<string, string> };
}

/** A range of lines, inclusive. */
interface Lines {
  from: number;
  to: number;
}

/** Reads and verifies the log of one agent. */
export class LogReader {
  readonly #client: LogClient;
  readonly #path: string;
  readonly #verify: Verify;
  /** Count and last hash of the last verification, which reveal a truncated log. */
  #kept: { count: number; head: string } | null = null;

  constructor(client: LogClient, agent: string, verify: Verify) {
    this.#client = client;
    this.#path = agentPath(agent, 'audit');
    this.#verify = verify;
  }

  /** Reads up to `limit` lines before line `before`, or the last lines of the log if it is `null`. Throws ApiError. */
  read(
    limit: number,
    before: number | null,
    signal: AbortSignal,
    wanted: Partial<Wanted> = {},
  ): Promise<AuditJson> {
    const query = new URLSearchParams({ verified: 'false', limit: String(limit) });
    if (before !== null) query.set('before', String(before));
    for (const [name, text] of Object.entries(wanted)) if (text !== '') query.set(name, text);
    return this.#client.get<AuditJson>(`${this.#path}?${query}`, signal);
  }

  /** Verifies the whole log up to its length at the start. Throws ApiError, or the error of invalid keys. */
  async verify(
    progress: (done: number, total: number) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const log = await this.read(1, null, signal);
    const before = log.pruned?.count ?? 0;
    const lines = { from: before + 1, to: log.total };
    const started = { log, continuedFrom: log.pruned?.head ?? null, kept: this.#kept };
    const outcome = await this.#verifyLines(lines, started, progress, signal);
    if (outcome.head !== null) this.#kept = { count: before + outcome.events, head: outcome.head };
    return outcome;
  }

  /** Verifies a range of lines and their link to the line before. Throws like `verify`. */
  async verifyPart({ from, to }: Lines, signal: AbortSignal): Promise<Outcome> {
    const log = await this.read(1, from, signal);
    if (log.total < from) throw new Error('The log is shorter than before. Reload the task.');
    const anchor = log.events[0];
    const lines = { from: anchor?.seq ?? from, to: Math.min(to, log.total) };
    // The line before is only the anchor, so its own link is not checked.
    const continuedFrom = anchor === undefined ? (log.pruned?.head ?? null) : linkOf(anchor.line);
    return this.#verifyLines(lines, { log, continuedFrom, kept: null }, () => undefined, signal);
  }

  async #verifyLines(
    lines: Lines,
    {
      log,
      continuedFrom,
      kept,
    }: {
      log: AuditJson;
      continuedFrom: string | null;
      kept: { count: number; head: string } | null;
    },
    progress: (done: number, total: number) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { keys } = log;
    const events = Math.max(0, lines.to - lines.from + 1);
    const query = new URLSearchParams({ from: String(lines.from), to: String(lines.to) });
    progress(0, events);
    const { verdict, breaks } = await this.#verify(
      { ...this.#client.addressOf(`${this.#path}/lines?${query}`), keys, continuedFrom, kept },
      (done) => progress(done, events),
      signal,
    );
    const found = { events, checked: keys.length > 0 };
    if (verdict.ok) {
      const { signed, head, checkpoint = null } = verdict;
      return { ...found, signed, head, checkpoint, culprit: null };
    }
    const [first, second] = breaks.map((broken) => ({
      ...broken,
      line: broken.line + lines.from - 1,
    }));
    const culprit =
      first === undefined
        ? null
        : await this.#culprit([first, second], { last: lines.to, checked: found.checked }, signal);
    return { ...found, signed: 0, head: null, checkpoint: null, culprit };
  }

  async #culprit(
    [first, second]: [LineBreak, LineBreak | undefined],
    { last, checked }: { last: number; checked: boolean },
    signal: AbortSignal,
  ): Promise<Culprit> {
    const { events } = await this.read(1, first.line, signal);
    const previous = events[0] === undefined ? null : logLine(events[0]);
    return culpritOf(first, {
      nextFollows: first.line < last && second?.line !== first.line + 1,
      previousProven: checked && previous?.signed === true,
    });
  }
}

/** Returns the previous hash in a line; `null` if it has no valid one. */
function linkOf(line: string): string | null {
  const { prev_hash: link } = Object(parseJson(line)) as { prev_hash?: unknown };
  return typeof link === 'string' ? link : null;
}
