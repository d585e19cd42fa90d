import type { AuditJson } from '../../../../http/wire/dashboard/audit-json.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import { checkPage, type LineState } from './check-page.ts';
import { type LogLine, logLine } from './log-line.ts';
import type { LogReader } from './read-log.ts';
import type { MergedPlace, Wanted } from './wanted.ts';

/** A line with its agent. */
export interface MergedLine {
  agent: string;
  line: LogLine;
  /** `null` if it was not checked. */
  state: LineState | null;
}

/** A page over the logs of several agents. */
export interface MergedPage {
  /** By time, newest last; the lines of one agent keep the order of its log. */
  lines: MergedLine[];
  /** The position of the next older page; `null` if there are no older lines. */
  older: MergedPlace | null;
  /** The reason why the log of an agent could not be read. */
  problems: { agent: string; text: string }[];
}

export interface MergeOptions {
  wanted: Wanted;
  place: MergedPlace;
  /** Number of lines on a page. */
  perPage: number;
  /** If true, the hashes and signatures of the lines are verified; only possible without search terms. */
  isChecked: boolean;
  signal: AbortSignal;
}

/** Reads one page over the logs of several agents. A log that cannot be read does not affect the others. */
export async function mergeLogs(
  readers: ReadonlyMap<string, Pick<LogReader, 'read'>>,
  options: MergeOptions,
): Promise<MergedPage> {
  const { perPage, signal, isChecked } = options;
  const logs = [...readers].map(([agent, reader]) => new LogBackwards(agent, reader, options));
  await Promise.all(logs.map((log) => log.fill()));
  const taken: { log: LogBackwards; line: LogLine }[] = [];
  while (taken.length < perPage) {
    const newest = newestOf(logs);
    if (newest === null) break;
    taken.push({ log: newest, line: newest.take() });
    await newest.fill();
  }
  const states = new Map<LogBackwards, Map<number, LineState>>(
    await Promise.all(
      logs.map(
        async (log) => [log, isChecked ? await log.check() : new Map<number, LineState>()] as const,
      ),
    ),
  );
  signal.throwIfAborted();
  const lines = taken.toReversed().map(({ log, line }) => ({
    ...{ agent: log.agent, line, state: states.get(log)?.get(line.line) ?? null },
  }));
  const oldest = lines[0]?.line.happening.at ?? options.place.until;
  return {
    lines,
    older: logs.some((log) => !log.isOver) ? placeBefore(logs, oldest) : null,
    problems: logs.flatMap(({ agent, problem }) =>
      problem === null ? [] : [{ agent, text: problem }],
    ),
  };
}

function newestOf(logs: readonly LogBackwards[]): LogBackwards | null {
  let newest: LogBackwards | null = null;
  for (const log of logs) {
    if (log.isOver) continue;
    if (newest === null || log.time > newest.time) newest = log;
  }
  return newest;
}

function placeBefore(logs: readonly LogBackwards[], until: string): MergedPlace {
  const before = logs.flatMap(({ agent, cursor }) =>
    cursor === null ? [] : [[agent, cursor] as const],
  );
  return { before: new Map(before), until };
}

/** The log of one agent, read backwards. */
class LogBackwards {
  readonly agent: string;
  readonly #reader: Pick<LogReader, 'read'>;
  readonly #wanted: Partial<Wanted>;
  readonly #limit: number;
  readonly #signal: AbortSignal;
  /** Read and not taken, newest last. */
  #lines: LogLine[] = [];
  #taken: LogLine[] = [];
  #next: number | null;
  #last: AuditJson | null = null;
  #isAtStart = false;
  /** The line before which the lines that are not taken end; `null` until the log was read. */
  cursor: number | null;
  problem: string | null = null;
  /** Time of the newest line that is not taken. It never increases, even if the times of the lines do. */
  time = Infinity;

  constructor(
    agent: string,
    reader: Pick<LogReader, 'read'>,
    { wanted, place: { before, until }, perPage, signal }: MergeOptions,
  ) {
    this.agent = agent;
    this.#reader = reader;
    this.#next = before.get(agent) ?? null;
    this.cursor = this.#next;
    // An agent that had no line on the page before continues where that page began.
    this.#wanted = this.#next === null && until !== '' ? { ...wanted, to: until } : wanted;
    this.#limit = perPage;
    this.#signal = signal;
  }

  get isOver(): boolean {
    return this.#lines.length === 0;
  }

  /** Reads older lines if there is none left. */
  async fill(): Promise<void> {
    while (this.#lines.length === 0 && !this.#isAtStart && this.problem === null) {
      await this.#read();
    }
    const at = Date.parse(this.#lines.at(-1)?.happening.at ?? '');
    // A line without a time keeps its place in its log.
    if (!Number.isNaN(at)) this.time = Math.min(this.time, at);
  }

  /** Removes the newest line. */
  take(): LogLine {
    const line = this.#lines.pop();
    if (line === undefined) throw new Error('there is no line');
    this.#taken.unshift(line);
    this.cursor = line.line;
    return line;
  }

  /** Verifies the taken lines against each other and the line before them. */
  async check(): Promise<Map<number, LineState>> {
    if (this.#taken.length === 0 || this.#last === null) return new Map();
    const { keys, pruned } = this.#last;
    const start = { line: this.#lines.at(-1)?.raw ?? null, pruned };
    return checkPage(this.#taken, start, keys);
  }

  async #read(): Promise<void> {
    try {
      const log = await this.#reader.read(this.#limit, this.#next, this.#signal, this.#wanted);
      const { events, first, total, pruned } = log;
      this.#last = log;
      this.#lines = [...events.map(logLine), ...this.#lines];
      this.cursor ??= total + 1;
      this.#isAtStart = first <= (pruned?.count ?? 0) + 1 || first === this.#next;
      this.#next = first;
    } catch (error) {
      this.#signal.throwIfAborted();
      this.problem = sentenceOf(error);
    }
  }
}
