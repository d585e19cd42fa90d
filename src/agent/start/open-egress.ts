import { resolve } from 'node:path';
import type { ChannelsReading } from '../../actors/channels/channels.ts';
import { opensLoopback, type ServiceConfig } from '../../actors/config/config.ts';
import {
  createEgress,
  type Egress,
  egressCause,
  patientLimits,
  startEgressProxy,
} from '../../actors/outbound/outbound.ts';
import type { EgressRecord, EgressScope } from '../../actors/ports/egress.ts';
import type { Log } from '../../actors/ports/log.ts';
import { nearbyPorts } from '../../actors/process/process.ts';
import { loadTracing, readTracing } from '../../actors/telemetry/telemetry.ts';
import { probeSandbox, type ScriptIsolation, type Toolbox } from '../../actors/tools/tools.ts';
import { messageOf } from '../../machines/message-of.ts';
import { makeWritable } from './agent-writable.ts';
import { derivedEndpoints } from './derived-endpoints.ts';
import { openTogether } from './open-together.ts';
import { StartError } from './read-access.ts';
import { statePaths } from './state-paths.ts';

/** The outbound connections of an agent. */
export interface AgentEgress {
  egress: Egress;
  /** Script isolation; `null` if the agent has no scripts. */
  isolation: ScriptIsolation | null;
  /** A fetch for the log's sinks. Its deliveries are not written to the log. */
  deliver: typeof globalThis.fetch;
}

/**
 * The scope of deliveries to the log's sinks. If these were recorded, each delivery would add another line to deliver.
 */
const delivery: EgressScope = { taskId: null, correlationId: null, tags: {} };

/** Spans are exported in the call stack of the task that ended the last span, but the hop belongs to the daemon. */
const spans: EgressScope = { taskId: null, correlationId: null, tags: {} };

export interface EgressParts {
  config: ServiceConfig;
  toolbox: Pick<Toolbox, 'tools' | 'skills'>;
  channels: ChannelsReading;
  directory: string;
  /** Absolute paths of the folders that scripts may write to persistently. */
  writable: readonly string[];
  /** URL of the admission platform; `null` if admission is off. */
  admissionUrl: string | null;
  /** True if callers must authenticate. */
  isAuthOn: boolean;
  env: NodeJS.ProcessEnv;
  log: Log;
  /** Receives every hop. */
  record: (record: EgressRecord) => void;
}

/**
 * Opens an agent's egress: the egress policy, tracing through that policy, and the proxy and sandbox for scripts
 * (docs/contract/egress.md). Throws StartError if the required sandbox is unavailable.
 */
export function openEgress(parts: EgressParts): Promise<AgentEgress & AsyncDisposable> {
  return openTogether((stack) => openOn(stack, parts));
}

async function openOn(stack: AsyncDisposableStack, parts: EgressParts): Promise<AgentEgress> {
  const { config, log, record } = parts;
  warnOfLoopback(parts);
  const tracing = tracingSettings(parts);
  const { allowed_domains, allowed_private, allow_private_ips, allowed_private_cidrs, mode } =
    config.egress;
  const policy = createEgress({
    mode,
    allowedDomains: allowed_domains,
    allowedPrivate: allowed_private,
    allowPrivateIps: allow_private_ips,
    allowedPrivateCidrs: allowed_private_cidrs,
    neighbours: nearbyPorts(parts.directory),
    propagateTo: config.workflow_propagation.allowed_hosts,
    endpoints: derivedEndpoints(config, {
      env: parts.env,
      admissionUrl: parts.admissionUrl,
      tracingUrl: tracing?.endpoint ?? null,
      skills: parts.toolbox.skills,
      channels: parts.channels,
    }),
    record: (hop) => {
      if (hop.scope !== delivery || hop.reason !== null) record(hop);
    },
  });
  const egress = stack.adopt(policy, (opened) => opened.close());
  const fetchFor = (scope: EgressScope): typeof globalThis.fetch => {
    return (input, init) => egress.within(scope, () => egress.fetch(input, init), patientLimits);
  };
  if (tracing !== null) {
    const { startTracing } = await loadTracing();
    const ports = { log, version: config.version, fetch: fetchFor(spans) };
    const refusalOf = (error: unknown) => egressCause(error)?.message ?? null;
    stack.adopt(startTracing(tracing, { ...ports, refusalOf }), (started) => started.stop());
  }
  return {
    egress,
    isolation: await isolateScripts(stack, parts, egress),
    deliver: fetchFor(delivery),
  };
}

/** Warns if tools may reach other services on loopback. The agent itself and neighbouring agents stay blocked. */
function warnOfLoopback({ config, isAuthOn, log }: EgressParts): void {
  const setting = opensLoopback(config);
  if (setting !== null) log.warn({}, `${setting} ${isAuthOn ? openedToTools : openedToAll}`);
  if (config.store.kind === 'postgres' && !isAuthOn) log.warn({}, openToFellows);
}

const openedToTools =
  'opens loopback to tools: they reach every program on this machine but this agent, its dashboard and the other agents of its workspace; list single endpoints in egress.allowed_private instead';

const openedToAll =
  'opens loopback to tools while authentication is off: tools could approve calls of other agents on this machine that run without authentication; configure auth.providers, or list single endpoints in egress.allowed_private';

const openToFellows =
  'store: several daemons share the waiting calls in PostgreSQL, and authentication is off: anyone who reaches one of them decides for all; configure auth.providers';

function tracingSettings({ config, env }: EgressParts) {
  const { tracing } = config.observability;
  return tracing.enabled ? readTracing(tracing, { agentId: config.agent_id, env }) : null;
}

const exposedKey =
  'scripts run as the user of the daemon and can read its environment, the key of the audit log in it; set egress.sandbox to bwrap';

const exposedKeyFile =
  'scripts run as the user of the daemon and can read the key of the audit log in .service; set egress.sandbox to bwrap';

const exposedToken =
  "scripts run without a sandbox while tools wait for approval: a script could read the operator's token in .service and decide itself; install the package bubblewrap and set egress.sandbox to bwrap";

const tookWords = {
  bwrap: 'scripts run in a sandbox (bubblewrap)',
  env: 'scripts run without a sandbox, with an environment of their own',
};

async function isolateScripts(
  stack: AsyncDisposableStack,
  { config, toolbox, directory, writable, log }: EgressParts,
  egress: Egress,
): Promise<ScriptIsolation | null> {
  await makeWritable(writable).catch((error: unknown) => {
    throw new StartError(`a folder of egress.writable cannot be made: ${messageOf(error)}`);
  });
  const hasScripts = toolbox.skills.some(({ tools }) => tools.length > 0);
  const hasServers = config.mcp.servers.some(({ command }) => command !== undefined);
  const isForModels = toolbox.tools.has('cli_execute');
  if (!isForModels && !hasScripts && !hasServers) return null;
  const { sandbox } = config.egress;
  const { level, warning, problem } = await probeSandbox(sandbox);
  if (problem !== undefined) throw new StartError(problem);
  if (isForModels && level !== 'bwrap') throw new StartError(noSandbox(warning));
  log.info({ sandbox: level }, tookWords[level]);
  if (warning !== undefined) log.warn({}, warning);
  if (level === 'env') warnOfOpenScripts(config, log);
  const proxy = stack.adopt(await startEgressProxy({ egress, log }), (opened) => opened.close());
  return {
    proxy,
    sandbox: level,
    writable,
    hidden: statePaths(config).map((path) => resolve(directory, path)),
  };
}

/**
 * Without a sandbox, a program with model-written arguments could read the operator's token. Starting therefore fails
 * without a prompt.
 */
function noSandbox(warning: string | undefined): string {
  const why = warning?.replace('scripts run without a sandbox: ', '') ?? 'egress.sandbox is env';
  return `cli_execute runs in a sandbox alone, but ${why}; or take cli_execute out of builtin_tools`;
}

/** Warns about secrets that a script without a sandbox could read. */
function warnOfOpenScripts({ security: { defer }, audit }: ServiceConfig, log: Log): void {
  if (defer.enabled && Object.keys(defer.tools).length > 0) log.warn({}, exposedToken);
  if (audit.signing.enabled) log.warn({}, exposedKey);
  else if (audit.sign) log.warn({}, exposedKeyFile);
}
