import type { AuditJson } from '../../../../http/wire/dashboard/audit-json.ts';
import { parseJson } from '../../../../machines/json.ts';
import { type Happening, happeningOf } from '../task/happening.ts';

/** A log line for display. */
export interface LogLine {
  /** Number of the line in the log, from 1. */
  line: number;
  /** The unmodified line. */
  raw: string;
  /** Name of the event; `null` for an unreadable line. */
  event: string | null;
  /** Number of the event within its invocation. */
  seq: number | null;
  task: string | null;
  /** The ID of its call, if it has one. */
  call: string | null;
  /** The ID of its signing key, as claimed. */
  kid: string | null;
  signed: boolean;
  happening: Happening;
}

/** Parses a line; accepts any content. */
export function logLine({ seq: line, line: raw }: AuditJson['events'][number]): LogLine {
  const read = objectOf(parseJson(raw));
  const event = text(read?.['event']);
  const fields = objectOf(read?.['fields']) ?? {};
  const seq = typeof read?.['seq'] === 'number' ? read['seq'] : null;
  const at = text(read?.['ts']) ?? '';
  return {
    line,
    raw,
    event,
    seq,
    task: text(read?.['task_id']),
    call: text(fields['call_id']),
    kid: text(read?.['kid']),
    signed: text(read?.['sig']) !== null,
    happening:
      event === null
        ? {
            seq: line,
            at,
            tone: 'deny',
            says: 'Unreadable line',
            about: null,
            detail: '',
          }
        : happeningOf({ seq: line, at, event, fields }),
  };
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
