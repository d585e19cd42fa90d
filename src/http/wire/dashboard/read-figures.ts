import type { FigureJson } from './doctor-json.ts';

/**
 * Metrics of the current state. Counters since the start are omitted, because they need a time range to be meaningful.
 */
const told: ReadonlySet<string> = new Set([
  'holdpoint_tasks',
  'holdpoint_tasks_live',
  'holdpoint_deferrals_pending',
  'holdpoint_audit_lag_events',
  'holdpoint_audit_sink_lag_events',
  'holdpoint_channel_up',
  'holdpoint_channel_pending_messages',
  'holdpoint_channel_oldest_pending_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'process_resident_memory_bytes',
]);

const most = 100;

const line = /^([a-z_][a-z\d_]*)(?:\{([^}]*)\})? (\S+)/;
const label = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

/** Extracts the displayed metrics from the text of `GET /metrics`. The agent is not trusted. */
export function readFigures(text: string): FigureJson[] {
  const figures: FigureJson[] = [];
  for (const row of text.split('\n')) {
    const [, name = '', labels = '', number = ''] = line.exec(row) ?? [];
    const value = Number(number);
    if (!told.has(name) || number === '' || !Number.isFinite(value)) continue;
    const read = [...labels.matchAll(label)].map(([, key = '', said = '']) => [
      key,
      said.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign)).slice(0, 128),
    ]);
    figures.push({ name, labels: Object.fromEntries(read) as Record<string, string>, value });
    if (figures.length === most) break;
  }
  return figures;
}
