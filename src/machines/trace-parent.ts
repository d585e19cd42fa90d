/** A position in a trace, as defined by W3C Trace Context. */
export interface TraceParent {
  /** 32 hexadecimal digits in lower case, not all zero. */
  traceId: string;
  /** 16 hexadecimal digits in lower case, not all zero. */
  spanId: string;
  /** 1 if the trace is recorded; other bits are reserved. */
  traceFlags: number;
}

const written = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Parses a `traceparent`; `null` for a malformed one, which is ignored. */
export function readTraceParent(text: string): TraceParent | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = written.exec(text.trim()) ?? [];
  // Version 00 ends after the flags, later versions may have more fields, and ff is invalid.
  if (version === undefined || version === 'ff') return null;
  if (version === '00' && rest !== undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/** Formats a `traceparent` of version 00. */
export function writeTraceParent({ traceId, spanId, traceFlags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? '01' : '00'}`;
}
