import { resolve } from 'node:path';
import type { AuditEvent, Clock, Log } from '../../ports.ts';
import { AuditSink, type SinkFlip, type SinkStats } from './audit-sink.ts';
import { httpTarget } from './http-target.ts';
import type { BatchBounds, QueueBounds } from './line-queue.ts';
import type { SinkTarget } from './sink-target.ts';
import { stdoutTarget } from './stdout-target.ts';
import { unixTarget } from './unix-target.ts';

export type { SinkStats } from './audit-sink.ts';

/** A sink as `audit.sinks` of `service.yaml` has it; the timeout is milliseconds. */
export type SinkSettings =
  | { type: 'stdout' }
  | { type: 'unix'; path: string }
  | { type: 'http'; url: string; token_env?: string | undefined; batch: number; timeout: number };

export interface AuditSinksOptions {
  sinks: readonly SinkSettings[];
  /** What paths of sockets are relative to. */
  directory: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
  /** Writes what happened to a sink into the audit log; the envelope is the caller's. */
  record: (event: Pick<AuditEvent, 'event' | 'fields'>) => void;
  /** The egress policy's own where there is one. */
  fetch?: typeof globalThis.fetch;
  /** What each queue holds; 10,000 lines and 16 MiB unless said otherwise. */
  bounds?: QueueBounds;
}

/** The sinks of an agent. */
export interface AuditSinks {
  /** Queues the bytes of whole lines for every sink. Never throws and never waits. */
  offer(lines: Uint8Array): void;
  /** Returns the state of each sink, in the order of the configuration. */
  stats(): SinkStats[];
  /** Waits up to two seconds for queued lines to arrive, then closes every sink. Never rejects. */
  close(): Promise<void>;
}

/** How long a shutdown waits for lines to arrive, in milliseconds. */
const grace = 2_000;

const newline = 0x0a;

/** The most bytes of a batch. */
const batchBytes = 1024 * 1024;

/** Lines of a batch for sinks that say nothing about it. */
const batchLines = 500;

/** Opens the sinks of an agent, each with a queue and a life of its own. */
export function createAuditSinks(options: AuditSinksOptions): AuditSinks {
  const { clock, bounds } = options;
  const report = (flip: SinkFlip): void => tell(flip, options);
  const sinks = options.sinks.map((settings, index) => {
    const name = nameOf(settings, options.sinks.slice(0, index));
    const target = targetOf(settings, options);
    const batch: BatchBounds = {
      lines: settings.type === 'http' ? settings.batch : batchLines,
      bytes: batchBytes,
    };
    return new AuditSink({ name, target, batch, clock, report, ...(bounds && { bounds }) });
  });
  return {
    offer(bytes) {
      if (sinks.length === 0) return;
      const lines = linesOf(bytes);
      for (const sink of sinks) sink.offer(lines);
    },
    stats: () => sinks.map((sink) => sink.stats()),
    close: async () => void (await Promise.all(sinks.map((sink) => sink.close(grace)))),
  };
}

function targetOf(settings: SinkSettings, options: AuditSinksOptions): SinkTarget {
  switch (settings.type) {
    case 'stdout':
      return stdoutTarget();
    case 'unix':
      return unixTarget(resolve(options.directory, settings.path));
    case 'http': {
      const { url, timeout, token_env: variable } = settings;
      const token = variable === undefined ? null : (options.env[variable] ?? null);
      return httpTarget({ url, token, timeout, fetch: options.fetch ?? globalThis.fetch });
    }
  }
}

/** The type of a sink, numbered when it is not the first of its type. */
function nameOf({ type }: SinkSettings, earlier: readonly SinkSettings[]): string {
  const number = earlier.filter((other) => other.type === type).length + 1;
  return number === 1 ? type : `${type}-${number}`;
}

function tell(flip: SinkFlip, { log, record }: AuditSinksOptions): void {
  const { sink, state, dropped, error } = flip;
  const fields = { sink, state, dropped, ...(error === null ? {} : { error }) };
  if (state === 'down') log.warn(fields, 'audit: a sink takes no lines');
  else log.info(fields, 'audit: a sink takes lines again');
  record({ event: 'audit_sink', fields });
}

/** Each line with its newline, as views of the same bytes. */
function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    lines.push(bytes.subarray(start, end + 1));
    start = end + 1;
  }
  return lines;
}
