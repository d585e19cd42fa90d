import { resolve } from 'node:path';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { AuditSink, type SinkFlip, type SinkStats } from './audit-sink.ts';
import { httpTarget } from './http-target.ts';
import type { BatchBounds, QueueBounds } from './line-queue.ts';
import type { SinkTarget } from './sink-target.ts';
import { stdoutTarget } from './stdout-target.ts';
import { unixTarget } from './unix-target.ts';

export type { SinkStats } from './audit-sink.ts';

/** A sink of `audit.sinks` in `service.yaml`; the timeout is in milliseconds. */
export type SinkSettings =
  | { type: 'stdout' }
  | { type: 'unix'; path: string }
  | { type: 'http'; url: string; token_env?: string | undefined; batch: number; timeout: number };

export interface AuditSinksOptions {
  sinks: readonly SinkSettings[];
  /** Base of relative socket paths. */
  directory: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
  /** Records an event about a sink in the audit log; the caller adds the envelope. */
  record: (event: Pick<AuditEvent, 'event' | 'fields'>) => void;
  /** Fetch under the egress policy, if there is one. */
  fetch?: typeof globalThis.fetch;
  /** Limits of each queue; 10,000 lines and 16 MiB by default. */
  bounds?: QueueBounds;
}

/** The sinks of an agent. */
export interface AuditSinks {
  /** Queues the bytes of complete lines for every sink. Never throws or blocks. */
  offer(lines: Uint8Array): void;
  /** Returns the statistics of each sink, in the order of the configuration. */
  stats(): SinkStats[];
  /** Waits up to two seconds for queued lines to be delivered, then closes every sink. Never rejects. */
  close(): Promise<void>;
}

/** Time that a shutdown waits for deliveries, in milliseconds. */
const grace = 2_000;

const newline = 0x0a;

/** Maximum bytes of a batch. */
const batchBytes = 1024 * 1024;

/** Maximum lines of a batch for sinks without their own setting. */
const batchLines = 500;

/** Opens the sinks of an agent, each with its own queue and connection. */
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

/** Returns the type of a sink, numbered unless it is the first of its type. */
function nameOf({ type }: SinkSettings, earlier: readonly SinkSettings[]): string {
  const number = earlier.filter((other) => other.type === type).length + 1;
  return number === 1 ? type : `${type}-${number}`;
}

function tell(flip: SinkFlip, { log, record }: AuditSinksOptions): void {
  const { sink, state, dropped, error } = flip;
  const fields = { sink, state, dropped, ...(error === null ? {} : { error }) };
  if (state === 'down') log.warn(fields, 'audit: a sink rejects lines');
  else log.info(fields, 'audit: a sink accepts lines again');
  record({ event: 'audit_sink', fields });
}

/** Splits bytes into lines with their newlines, as views of the same buffer. */
function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    lines.push(bytes.subarray(start, end + 1));
    start = end + 1;
  }
  return lines;
}
