import {
  LogIndexes,
  LogView,
  LongLineError,
  type NumberedLine,
  verifyLog,
} from '../../actors/records/records.ts';
import type { AuditJson, AuditVerdictJson } from '../../http/wire/dashboard/audit-json.ts';
import type { TimelineEntryJson } from '../../http/wire/dashboard/task-detail-json.ts';
import { eventOfWait } from '../../machines/domain/hold-events.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../machines/json.ts';
import type { TimeRange } from '../../machines/time-range.ts';
import { type OpenAuditLog, openAuditLog, refused } from './audit-files.ts';
import { AuditVerdicts } from './audit-verdicts.ts';

/** Maximum number of events shown for one task. */
const mostOfTask = 1_000;

/** A query for lines of an audit log. */
export interface AuditQuery {
  limit: number;
  /** Returns lines before this line number; `null` for the end of the log. */
  before: number | null;
  /** Filter texts and a range of time; an empty text matches anything. `null` disables the filter. */
  wanted: ({ event: string; task: string; decision: string } & TimeRange) | null;
  isVerified: boolean;
}

/** Reads agents' audit logs. Every method rejects with the reason of the signal when aborted. */
export type AuditReader = ReturnType<typeof auditReader>;

interface OpenLog {
  log: OpenAuditLog;
  view: LogView;
}

/** Creates the reader of agents' audit logs. Verdicts and indexes are cached in it. */
export function auditReader(env: NodeJS.ProcessEnv) {
  const indexes = new LogIndexes();
  const verdicts = new AuditVerdicts();
  const opened = (directory: string, signal: AbortSignal) =>
    openView(directory, { env, indexes, signal });
  return {
    async page(
      directory: string,
      { limit, before, wanted, isVerified }: AuditQuery,
      signal: AbortSignal,
    ): Promise<Omit<AuditJson, 'keys'>> {
      const { log, view } = await opened(directory, signal);
      try {
        const end = before ?? view.last + 1;
        const { lines, from } =
          wanted === null
            ? { lines: await view.before(end, limit, signal), from: null }
            : await view.search({ before: end, limit, wanted }, signal);
        const first = from ?? lines[0]?.number ?? Math.min(end, view.last + 1);
        const { pruned, last: total } = view;
        const files = log.files.map(({ path }) => path);
        const found = { events: lines.map(asEvent), first, total, pruned, path: log.path, files };
        if (!isVerified) return found;
        const name = files.at(-1) ?? log.path;
        const state = log.files.map(({ id, version }) => `${id} ${version}`).join('\n');
        const verify = (left: AbortSignal) => verdictOf(() => opened(directory, left), left);
        return { ...found, verified: await verdicts.of({ name, state }, verify, signal) };
      } finally {
        await log.close();
      }
    },
    /** Opens a range of lines by number, inclusive; `null` for the first or the last line. The files stay open until `close`. */
    async lines(
      directory: string,
      { from, to }: { from: number | null; to: number | null },
      signal: AbortSignal,
    ) {
      const { log, view } = await opened(directory, signal);
      try {
        const range = { from: from ?? view.first, to: to ?? view.last };
        const bytes = await view.bytesOf(range, signal);
        return { bytes, chunks: view.chunks(range, signal), close: log.close };
      } catch (error) {
        await log.close();
        throw error;
      }
    },
    /** Passes on the newest lines of a range of time, oldest first; returns how many earlier ones were omitted. */
    async each(
      directory: string,
      { range, most }: { range: TimeRange; most: number },
      take: (line: JsonValue | undefined) => void,
      signal: AbortSignal,
    ): Promise<number> {
      const { log, view } = await opened(directory, signal);
      try {
        const { from, to } = await view.rangeOf(range, signal);
        const first = Math.max(from, to - most + 1);
        const decoder = new TextDecoder();
        for await (const { bytes } of view.lines({ from: first, to }, signal)) {
          take(parseJson(decoder.decode(bytes)));
        }
        return first - from;
      } finally {
        await log.close();
      }
    },
    async timeline(
      directory: string,
      task: string,
      signal: AbortSignal,
    ): Promise<TimelineEntryJson[]> {
      const { log, view } = await opened(directory, signal);
      try {
        const wanted = { event: '', task, decision: '', isWholeTask: true };
        let found: NumberedLine[] = [];
        for (let before = view.last + 1; before > view.first && found.length < mostOfTask; ) {
          const { lines, from } = await view.search({ before, limit: mostOfTask, wanted }, signal);
          found = [...lines, ...found];
          before = from;
        }
        return found.slice(-mostOfTask).flatMap(asEntry);
      } finally {
        await log.close();
      }
    },
  };
}

async function openView(
  directory: string,
  how: { env: NodeJS.ProcessEnv; indexes: LogIndexes; signal: AbortSignal },
): Promise<OpenLog> {
  const log = await openAuditLog(directory, how.env);
  try {
    return { log, view: await LogView.of(log.files, how.indexes, how.signal) };
  } catch (error) {
    await log.close();
    if (error instanceof LongLineError) {
      throw refused(error.path, 'has a line that is longer than 4 MiB, in');
    }
    throw error;
  }
}

async function verdictOf(
  open: () => Promise<OpenLog>,
  signal: AbortSignal,
): Promise<AuditVerdictJson> {
  const { log, view } = await open();
  try {
    const events = view.last - view.first + 1;
    const verdict = await verifyLog(view, signal);
    if (verdict.ok) return { ok: true, events };
    return { ok: false, events, problem: verdict.reason, line: verdict.line + view.first - 1 };
  } finally {
    await log.close();
  }
}

function asEvent({ number, bytes }: NumberedLine): { seq: number; line: string } {
  return { seq: number, line: new TextDecoder().decode(bytes) };
}

function asEntry({ number, bytes }: NumberedLine): TimelineEntryJson[] {
  const value = JSON.parse(new TextDecoder().decode(bytes)) as JsonValue;
  if (!isJsonObject(value)) return [];
  const { event, ts, seq, fields = {} } = value as JsonObject;
  if (typeof event !== 'string' || typeof ts !== 'string') return [];
  return [
    {
      line: number,
      seq: typeof seq === 'number' ? seq : 0,
      at: ts,
      // The wait of a hold is shown as that of a task.
      event: eventOfWait(event),
      fields: fields as Record<string, unknown>,
    },
  ];
}
