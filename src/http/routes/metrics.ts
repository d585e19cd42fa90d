import type * as library from 'prom-client';
import type { Registry } from 'prom-client';
import type { OperatedServers } from '../../actors/ports/mcp-servers.ts';
import type { Measured, TaskSystem } from '../../actors/tasks/tasks.ts';
import { taskStates } from '../../machines/domain/task.ts';
import { MeasuredCounts, type MeasuredRequest } from '../measured-counts.ts';
import type { RoutedContext } from '../request-state.ts';

export interface MetricsPorts {
  system: Pick<TaskSystem, 'metrics'>;
  /** `null` if admission is off. */
  admission: { fallbacks(): number } | null;
  /** Number of audit events that are committed but not yet synced to the log file. */
  auditLag?: () => number;
  /** The state of the audit sinks. */
  auditSinks?: () => { name: string; delivered: number; dropped: number; lag: number }[];
  /** The state of the channels. */
  channels?: () => Promise<
    { adapter: string; state: string; pending: number; oldestAt: number | null }[]
  >;
  /** Sharing metrics of several daemons; absent for a single daemon. */
  shared?:
    | (() => { conflicts: number; lag: number; takeovers: number; isKeeper: boolean })
    | undefined;
  /** The MCP servers of the agent; absent without one. */
  mcpServers?: Pick<OperatedServers, 'states'>;
  clock: { now(): number };
}

/** Histogram bounds for requests in seconds: a read takes a millisecond, a held send as long as an approver needs. */
const requestBuckets = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600];

/** Histogram bounds for model turns in seconds. */
const modelBuckets = [0.25, 0.5, 1, 2, 5, 10, 30, 60, 300];

/** Gauges whose names end like counters, which Prometheus linters reject. Each value also exists by type. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

type Library = typeof library;

/** Histogram bounds for decisions in seconds, from one second to two days. */
const decisionBuckets = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 172_800];

/** An agent's metrics and their route. */
export interface Metrics {
  /** Counts a request. */
  hear: (measured: MeasuredRequest) => void;
  /** `GET /metrics`: the state of the agent and its process in Prometheus format (docs/contract/transports.md). */
  route: (ctx: RoutedContext) => Promise<void>;
}

/** Creates an agent's metrics. */
export function metricsOf(ports: MetricsPorts): Metrics {
  const counts = new MeasuredCounts();
  let loading: ReturnType<typeof createRegistry> | null = null;
  const load = (): ReturnType<typeof createRegistry> => (loading ??= createRegistry(ports, counts));
  const hear = (measured: Measured | MeasuredRequest): void => {
    if (counts.hear(measured)) void load().then(({ observe }) => observe());
  };
  ports.system.metrics.onMeasured(hear);
  return {
    hear,
    async route(ctx) {
      const { registry, observe } = await load();
      observe();
      ctx.body = await registry.metrics();
      ctx.type = registry.contentType;
    },
  };
}

/** The metrics library is loaded at the first metrics request instead of at startup. */
async function createRegistry(ports: MetricsPorts, counts: MeasuredCounts) {
  const loaded = await import('prom-client');
  const registry = new loaded.Registry();
  loaded.collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  addTasks(loaded, registry, ports.system.metrics);
  const observe = addTimes(loaded, registry, counts);
  addCalls(loaded, registry, counts);
  addAccess(loaded, registry, ports);
  if (ports.shared !== undefined) addShared(loaded, registry, ports.shared);
  if (ports.channels !== undefined) addChannels(loaded, registry, ports.channels, ports.clock);
  if (ports.mcpServers !== undefined) addServers(loaded, registry, ports.mcpServers);
  return { registry, observe };
}

function addTasks({ Gauge }: Library, registry: Registry, tasks: TaskSystem['metrics']): void {
  const registers = [registry];
  new Gauge({
    name: 'holdpoint_deferrals_pending',
    help: 'Tool calls that wait for a decision.',
    registers,
    async collect() {
      this.set((await tasks.load()).deferred);
    },
  });
  new Gauge({
    name: 'holdpoint_tasks',
    help: 'Tasks in the store, by state.',
    labelNames: ['state'],
    registers,
    async collect() {
      const census = await tasks.census();
      for (const state of taskStates) this.set({ state }, census[state] ?? 0);
    },
  });
  new Gauge({
    name: 'holdpoint_tasks_of_other_releases',
    help: 'Unfinished tasks that only another release can continue.',
    registers,
    async collect() {
      this.set(await tasks.strangers());
    },
  });
  new Gauge({
    name: 'holdpoint_tasks_live',
    help: 'Tasks that have an actor in memory.',
    registers,
    async collect() {
      this.set((await tasks.load()).live);
    },
  });
}

function addTimes(
  { Counter, Histogram }: Library,
  registry: Registry,
  counts: MeasuredCounts,
): () => void {
  const registers = [registry];
  const latency = new Histogram({
    name: 'holdpoint_decision_latency_seconds',
    help: 'How long deferred calls waited, by how the wait ended.',
    labelNames: ['decision'],
    buckets: decisionBuckets,
    registers,
  });
  const requests = new Histogram({
    name: 'holdpoint_http_request_duration_seconds',
    help: 'How long requests took until their answer was out, held ones included.',
    labelNames: ['route', 'code', 'outcome'],
    buckets: requestBuckets,
    registers,
  });
  const turns = new Histogram({
    name: 'holdpoint_model_call_duration_seconds',
    help: 'How long calls to models took.',
    labelNames: ['provider', 'model', 'outcome'],
    buckets: modelBuckets,
    registers,
  });
  const tokens = new Counter({
    name: 'holdpoint_model_tokens_total',
    help: 'Tokens that models counted, as input and as output.',
    labelNames: ['provider', 'model', 'direction'],
    registers,
  });
  return () => {
    for (const measured of counts.takeTimes()) {
      const seconds = measured.milliseconds / 1_000;
      if (measured.type === 'wait') latency.observe({ decision: measured.decision }, seconds);
      else if (measured.type === 'request') {
        const { route, status: code, outcome } = measured;
        requests.observe({ route, code, outcome }, seconds);
      } else {
        const { provider, model, outcome, inputTokens, outputTokens } = measured;
        turns.observe({ provider, model, outcome }, seconds);
        tokens.inc({ provider, model, direction: 'input' }, inputTokens);
        tokens.inc({ provider, model, direction: 'output' }, outputTokens);
      }
    }
  };
}

function addCalls({ Counter }: Library, registry: Registry, counts: MeasuredCounts): void {
  new Counter({
    name: 'holdpoint_tool_calls_total',
    help: 'Tool calls that ended, by tool and outcome.',
    labelNames: ['tool', 'outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { tool, outcome, count } of counts.calls()) this.inc({ tool, outcome }, count);
    },
  });
}

function addAccess(
  { Counter, Gauge }: Pick<Library, 'Counter' | 'Gauge'>,
  registry: Registry,
  { admission, auditLag, auditSinks }: MetricsPorts,
): void {
  const registers = [registry];
  new Counter({
    name: 'holdpoint_admission_fallbacks_total',
    help: 'Requests admitted because the platform was unavailable.',
    registers,
    collect() {
      this.reset();
      this.inc(admission?.fallbacks() ?? 0);
    },
  });
  if (auditSinks !== undefined) addSinks({ Counter, Gauge }, registry, auditSinks);
  if (auditLag === undefined) return;
  new Gauge({
    name: 'holdpoint_audit_lag_events',
    help: 'Events of the audit log that are committed and not yet synced to its file.',
    registers,
    collect() {
      this.set(auditLag());
    },
  });
}

function addChannels(
  { Gauge }: Library,
  registry: Registry,
  status: NonNullable<MetricsPorts['channels']>,
  clock: MetricsPorts['clock'],
): void {
  const common = { labelNames: ['adapter'], registers: [registry] };
  new Gauge({
    ...common,
    name: 'holdpoint_channel_up',
    help: 'Whether the way to approvers and other people is open.',
    async collect() {
      for (const { adapter, state } of await status()) {
        this.set({ adapter }, state === 'connected' || state === 'draining' ? 1 : 0);
      }
    },
  });
  new Gauge({
    ...common,
    name: 'holdpoint_channel_pending_messages',
    help: 'Messages about releases that are not delivered yet.',
    async collect() {
      for (const { adapter, pending } of await status()) this.set({ adapter }, pending);
    },
  });
  new Gauge({
    ...common,
    name: 'holdpoint_channel_oldest_pending_seconds',
    help: 'How long ago the oldest call was held that a message not delivered yet tells of.',
    async collect() {
      const now = clock.now();
      for (const { adapter, oldestAt } of await status()) {
        this.set({ adapter }, oldestAt === null ? 0 : Math.max(0, now - oldestAt) / 1_000);
      }
    },
  });
}

function addServers(
  { Counter, Gauge }: Pick<Library, 'Counter' | 'Gauge'>,
  registry: Registry,
  servers: NonNullable<MetricsPorts['mcpServers']>,
): void {
  const common = { labelNames: ['server'], registers: [registry] };
  new Gauge({
    ...common,
    name: 'holdpoint_mcp_server_up',
    help: 'Whether the agent is connected to the MCP server.',
    collect() {
      for (const { name, state } of servers.states()) {
        this.set({ server: name }, state === 'connected' ? 1 : 0);
      }
    },
  });
  new Counter({
    ...common,
    name: 'holdpoint_mcp_calls_total',
    help: 'Calls to the MCP server, by outcome: answered, or failed without an answer.',
    labelNames: ['server', 'outcome'],
    collect() {
      this.reset();
      for (const { name: server, calls, failures } of servers.states()) {
        this.inc({ server, outcome: 'answered' }, calls - failures);
        this.inc({ server, outcome: 'failed' }, failures);
      }
    },
  });
  new Counter({
    ...common,
    name: 'holdpoint_mcp_call_seconds_total',
    help: 'Time of all calls to the MCP server.',
    collect() {
      this.reset();
      for (const { name: server, total } of servers.states()) this.inc({ server }, total / 1_000);
    },
  });
}

function addShared(
  { Counter, Gauge }: Pick<Library, 'Counter' | 'Gauge'>,
  registry: Registry,
  figures: NonNullable<MetricsPorts['shared']>,
): void {
  const registers = [registry];
  for (const [name, key, help] of [
    ['holdpoint_store_conflicts_total', 'conflicts', 'Write conflicts with another daemon.'],
    [
      'holdpoint_store_takeovers_total',
      'takeovers',
      'Tasks of daemons that were gone, taken up here.',
    ],
  ] as const) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(figures()[key]);
      },
    });
  }
  new Gauge({
    name: 'holdpoint_store_lag_seconds',
    help: 'How long changes of other daemons have waited to be taken in.',
    registers,
    collect() {
      this.set(figures().lag / 1_000);
    },
  });
  new Gauge({
    name: 'holdpoint_store_keeper',
    help: 'Whether this daemon keeps the chats, the pushes and the log file of the agent.',
    registers,
    collect() {
      this.set(figures().isKeeper ? 1 : 0);
    },
  });
}

function addSinks(
  { Counter, Gauge }: Pick<Library, 'Counter' | 'Gauge'>,
  registry: Registry,
  stats: NonNullable<MetricsPorts['auditSinks']>,
): void {
  const common = { labelNames: ['sink'], registers: [registry] };
  const counted = [
    ['holdpoint_audit_sink_delivered_total', 'delivered', 'Lines of the audit log a sink took.'],
    [
      'holdpoint_audit_sink_dropped_total',
      'dropped',
      'Lines dropped because a sink accepted none.',
    ],
  ] as const;
  for (const [name, key, help] of counted) {
    new Counter({
      ...common,
      name,
      help,
      collect() {
        this.reset();
        for (const sink of stats()) this.inc({ sink: sink.name }, sink[key]);
      },
    });
  }
  new Gauge({
    ...common,
    name: 'holdpoint_audit_sink_lag_events',
    help: 'Lines of the audit log that wait for a sink.',
    collect() {
      for (const { name, lag } of stats()) this.set({ sink: name }, lag);
    },
  });
}
