import type { Measurement } from '../../src/http/metrics/measurement.ts';
import type { RegistryPorts } from '../../src/http/metrics/metrics-ports.ts';
import { openRegistry } from '../../src/http/metrics/open-registry.ts';
import { ManualClock } from './manual-clock.ts';

/** A metric of a scrape. */
export interface ScrapedMetric {
  type: string;
  help: string;
  /** Names of the labels of its samples, without `le`. */
  labels: Set<string>;
}

/** Reads the metrics of a scrape by name. */
export function readScrape(text: string): Map<string, ScrapedMetric> {
  const metrics = new Map<string, ScrapedMetric>();
  for (const line of text.split('\n')) {
    const [, name = '', help = ''] = /^# HELP (\S+) (.*)$/.exec(line) ?? [];
    if (name !== '') metrics.set(name, { type: '', help, labels: new Set() });
    const [, typed = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    const found = metrics.get(typed);
    if (found !== undefined) found.type = type;
    const [, sample = '', labels = ''] = /^([a-z]\w*)(?:\{(.*)\})? \S+$/i.exec(line) ?? [];
    const owner = metrics.get(sample) ?? metrics.get(sample.replace(/_(bucket|sum|count)$/, ''));
    for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) {
      if (label !== 'le') owner?.labels.add(label);
    }
  }
  return metrics;
}

/** One measurement of each kind, with every label. */
const measurements: Measurement[] = [
  { type: 'call', tool: 'pay', error: 'exit code 3', milliseconds: 20 },
  {
    ...{ type: 'model', provider: 'openai', model: 'gpt-5', error: 'busy', milliseconds: 900 },
    ...{ inputTokens: 0, outputTokens: 0 },
  },
  {
    ...{ type: 'model', provider: 'openai', model: 'gpt-5', error: null, milliseconds: 900 },
    ...{ inputTokens: 40, outputTokens: 7 },
  },
  { type: 'ruling', tool: 'pay', decision: 'defer', layer: 'defer' },
  { type: 'decision', decision: 'approve', source: 'slack', outcome: 'counted' },
  { type: 'notice', notice: 'reminder' },
  { type: 'notice', notice: 'escalation' },
  { type: 'wait', decision: 'approve', kind: 'task', milliseconds: 5_000 },
  { type: 'grant', tool: 'pay' },
  { type: 'limit', limit: 'refunds', decision: 'defer' },
  { type: 'shadow', rule: 'defer.tools.pay', would: 'defer' },
  { type: 'hold', state: 'granted' },
  { type: 'request', route: '/tasks', status: 200, outcome: 'ok', milliseconds: 3 },
  { type: 'authFailure', reason: 'invalid' },
  { type: 'rateLimited' },
  { type: 'commit', milliseconds: 2 },
];

/** Ports of a daemon with everything that has metrics. */
export const everyPort = {
  system: {
    intake: { isReady: () => true },
    metrics: {
      census: async () => ({ deferred: 1 }),
      openHolds: async () => ({ waiting: 1 }),
      waits: async () => ({ oldestAt: 0, expiresAt: 1, overdue: 0 }),
      strangers: async () => 0,
      live: () => 0,
    },
    limits: {
      standings: async () => [{ name: 'refunds', used: '1', reserved: '0', max: '5' }],
      outcomes: async () => ({ outcomes: [], cursor: null }),
    },
  },
  admission: null,
  auditLag: async () => 0,
  auditSinks: () => [{ name: 'siem', delivered: 1, dropped: 0, lag: 0 }],
  channels: async () => [{ adapter: 'slack', state: 'connected', pending: 0, oldestAt: null }],
  shared: () => ({
    conflicts: 0,
    lag: 0,
    takeovers: 0,
    isKeeper: true,
    jobs: async () => [{ queue: 'tasks', scheduled: 0, ready: 0, active: 0 }],
  }),
  mcpServers: {
    states: () => [{ name: 'shop', state: 'connected', calls: 1, failures: 0, total: 3 }],
  },
  daemon: {
    ...{ version: '1.0.0', agent: 'refunds', isWritable: () => true },
    disk: async () => ({ available: 1, size: 2 }),
    policy: () => ({ generation: 1, isCurrent: true, needsRestart: false }),
    push: () => ({ pending: 0, givenUp: 0 }),
    listedTool: (tool: string) => tool,
    onCommit: () => undefined,
  },
  clock: new ManualClock(0),
  log: { info() {}, warn() {}, error() {} },
  inFlight: () => 0,
} as unknown as RegistryPorts;

/** Returns every metric that a daemon registers, with all labels. */
export async function registeredMetrics(): Promise<Map<string, ScrapedMetric>> {
  const registry = openRegistry(everyPort);
  for (const measurement of measurements) registry.observe(measurement);
  return readScrape(await registry.text());
}
