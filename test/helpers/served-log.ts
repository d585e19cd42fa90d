import type { AuditJson } from '../../src/http/wire/dashboard/audit-json.ts';
import { parseJson } from '../../src/machines/json.ts';
import { checkpointedLog, testKey } from '../actors/records/log/log-of.ts';

/** A log that a test serves; it may change while it is looked at. */
export interface ServedLog {
  /** With their newlines. */
  lines: readonly string[];
  keys?: unknown[];
  /** What was removed with the oldest files. */
  pruned?: AuditJson['pruned'];
  files?: string[];
}

/** A signed log that verifies, and its lines with one of them changed. */
export function aSignedLog(): { log: ServedLog; changed: string[] } {
  const { signer, publicKey } = testKey('service-audit-v1', 1);
  const { lines } = checkpointedLog(3, signer);
  const changed = lines.with(1, (lines[1] ?? '').replace('"n":1', '"n":9'));
  return { log: { lines, keys: [publicKey] }, changed };
}

const path = '/agents/refunds/.service/audit.ndjson';

/** Answers what is asked of the log of an agent as the dashboard's server does; `undefined` for another path. */
export function answerLog(
  url: URL,
  agent: string,
  log: ServedLog,
): AuditJson | Response | undefined {
  const base = `/api/agents/${agent}/audit`;
  const { lines, keys = [], pruned = null, files = [path] } = log;
  const gone = pruned?.count ?? 0;
  const number = (name: string) => Number(url.searchParams.get(name)) || null;
  const total = gone + lines.length;
  if (url.pathname === `${base}/lines`) {
    const part = lines.slice((number('from') ?? 1) - 1 - gone, (number('to') ?? total) - gone);
    return new Response(part.join(''));
  }
  if (url.pathname !== base) return undefined;
  const end = Math.min(total, (number('before') ?? total + 1) - 1);
  const wanted = ['event', 'task', 'decision'].map((name) => url.searchParams.get(name) ?? '');
  const [from = '', to = ''] = ['from', 'to'].map((name) => url.searchParams.get(name) ?? '');
  const isSearch = [...wanted, from, to].some((text) => text !== '');
  const first = isSearch ? gone + 1 : Math.max(gone + 1, end - (number('limit') ?? 200) + 1);
  const events = lines
    .slice(first - 1 - gone, end - gone)
    .map((line, index) => ({ seq: first + index, line: line.replace(/\n$/, '') }))
    .filter(({ line }) => wanted.every((text) => line.includes(text)))
    .filter(({ line }) => {
      if (!isSearch) return true;
      const { ts = '' } = Object(parseJson(line)) as { ts?: string };
      return (from === '' || ts >= from) && (to === '' || ts <= to);
    });
  return { events, first, total, pruned, keys, path, files };
}
