import type { CheckJson, FigureJson } from '../../../../http/wire/dashboard/doctor-json.ts';
import type { Tone } from '../../components/tone.ts';

/** The colour of a check's result. Warnings have none, because amber is reserved for waiting calls. */
export const toneOfCheck: Record<CheckJson['status'], Tone> = {
  pass: 'allow',
  warn: 'plain',
  fail: 'deny',
};

/** Summarises the results of the checks in one line. */
export function summaryOf(checks: readonly CheckJson[]): string {
  const count = (status: CheckJson['status']) =>
    checks.filter((check) => check.status === status).length;
  const [failed, warned] = [count('fail'), count('warn')];
  if (failed + warned === 0) return `all ${checks.length} checks pass`;
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(warned > 0 ? [`${warned} warned`] : []),
  ];
  return `${parts.join(', ')}, ${count('pass')} passed`;
}

/** Sorts failures first, then warnings; otherwise keeps the order. */
export function worstFirst(checks: readonly CheckJson[]): CheckJson[] {
  const rank = { fail: 0, warn: 1, pass: 2 };
  return checks.toSorted((one, other) => rank[one.status] - rank[other.status]);
}

/** Returns true if a fix is a command that can be run unchanged. */
export function isCommand(fix: string): boolean {
  return /^(?:[\w./-]*holdpoint|chmod|ollama|rm|npx) /.test(fix);
}

const names: Record<string, string> = {
  holdpoint_tasks: 'tasks in the store',
  holdpoint_tasks_live: 'tasks in memory',
  holdpoint_deferrals_pending: 'waiting calls',
  holdpoint_audit_lag_events: 'lines not yet in the log',
  holdpoint_audit_sink_lag_events: 'lines pending for a sink',
  holdpoint_channel_up: 'channel is up',
  holdpoint_channel_pending_messages: 'messages not yet delivered',
  holdpoint_channel_oldest_pending_seconds: 'oldest pending',
  nodejs_eventloop_lag_p99_seconds: 'event loop delay',
  process_resident_memory_bytes: 'memory',
};

/** Formats a metric for display. */
export function figureWords({ name, labels, value }: FigureJson): { name: string; value: string } {
  const of = Object.values(labels).join(', ');
  const title = names[name] ?? name;
  return { name: of === '' ? title : `${title}: ${of}`, value: valueWords(name, value) };
}

function valueWords(name: string, value: number): string {
  if (name.endsWith('_bytes')) return `${Math.round(value / 1024 / 1024)} MiB`;
  if (name === 'nodejs_eventloop_lag_p99_seconds') return `${(value * 1_000).toFixed(1)} ms`;
  if (name.endsWith('_seconds')) return `${Math.round(value)} s`;
  if (name.endsWith('_up')) return value === 1 ? 'yes' : 'no';
  return value.toLocaleString('en');
}
