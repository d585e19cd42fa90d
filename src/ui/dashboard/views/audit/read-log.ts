import type { AuditJson } from '../../../../http/wire/dashboard/audit-json.ts';
import { agentPath } from '../../api/paths.ts';
import { type Culprit, culpritOf } from './culprit.ts';
import type { LineBreak } from './log-check.ts';
import { logLine } from './log-line.ts';
import type { Outcome } from './verification-machine.ts';
import type { Verify } from './verify-stream.ts';
import type { Wanted } from './wanted.ts';

/** Reads from the server. */
interface LogClient {
  /** Throws an ApiError. */
  get<T>(path: string, signal?: AbortSignal): Promise<T>;
  /** What a worker asks the server with. */
  addressOf(path: string): { url: string; headers: Record<string, string> };
}

/** Lines from the one to the other, both among them. */
interface Lines {
  from: number;
  to: number;
}

/** Reads and verifies the log of one agent. */
export class LogReader {
  readonly #client: LogClient;
  readonly #path: string;
  readonly #verify: Verify;
  /** How far the log came when it was last verified, by which a cut tail shows. */
  #kept: { count: number; head: string } | null = null;

  constructor(client: LogClient, agent: string, verify: Verify) {
    this.#client = client;
    this.#path = agentPath(agent, 'audit');
    this.#verify = verify;
  }

  /** Reads up to `limit` lines before line `before`; the last ones of the log where that is `null`. Throws an ApiError. */
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

  /** Verifies the whole log, as long as it was when that began. Throws an ApiError, or what is wrong with its keys. */
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

  /** Verifies some lines and how they follow on the one before them. Throws as `verify` does. */
  async verifyPart({ from, to }: Lines, signal: AbortSignal): Promise<Outcome> {
    const log = await this.read(1, from, signal);
    if (log.total < from) throw new Error('The log is shorter than it was; read the task again.');
    const anchor = log.events[0];
    const lines = { from: anchor?.seq ?? from, to: Math.min(to, log.total) };
    // The line before is where it starts, and so its own link is not looked at.
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

/** What a line says that it follows on; `null` where it says nothing that could be. */
function linkOf(line: string): string | null {
  try {
    const { prev_hash: link } = Object(JSON.parse(line)) as { prev_hash?: unknown };
    return typeof link === 'string' ? link : null;
  } catch {
    return null;
  }
}
