/** Where a piece of work stands in a trace, as W3C Trace Context has it. */
export interface TraceParent {
  /** 32 hexadecimal digits in lower case, not all zero. */
  traceId: string;
  /** 16 hexadecimal digits in lower case, not all zero. */
  spanId: string;
  /** 1 when the trace is recorded; other bits are reserved. */
  traceFlags: number;
}

const written = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads a `traceparent`; `null` for one that is malformed, which counts as none. */
export function readTraceParent(text: string): TraceParent | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = written.exec(text.trim()) ?? [];
  // Version 00 ends after the flags, later ones may go on, and ff is none.
  if (version === undefined || version === 'ff') return null;
  if (version === '00' && rest !== undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/** Writes a `traceparent` of version 00. */
export function writeTraceParent({ traceId, spanId, traceFlags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? '01' : '00'}`;
}
