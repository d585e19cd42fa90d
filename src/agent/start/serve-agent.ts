import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Admission } from '../../actors/access/access.ts';
import type { ChannelStatus } from '../../actors/channels/channels.ts';
import {
  dashboardProvider,
  decisionPage,
  providerOfIssuer,
  type ServiceConfig,
} from '../../actors/config/config.ts';
import type {
  Egress,
  ListeningAddress,
  PushNotifications,
} from '../../actors/outbound/outbound.ts';
import { pageOfCall } from '../../actors/page-of-call.ts';
import type { Delegating } from '../../actors/people/people.ts';
import type { AuditEvent } from '../../actors/ports/audit-event.ts';
import type { Authenticator } from '../../actors/ports/authentication.ts';
import type { CardSource } from '../../actors/ports/card-source.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { OperatedServers } from '../../actors/ports/mcp-servers.ts';
import { writeHookFile } from '../../actors/process/process.ts';
import type { TaskSystem } from '../../actors/tasks/tasks.ts';
import type { McpServers, Toolbox } from '../../actors/tools/tools.ts';
import { createApp } from '../../http/app.ts';
import { AuthLog } from '../../http/auth-log.ts';
import { listen } from '../../http/listen.ts';
import type { McpFace } from '../../http/mcp/mcp-face.ts';
import type { DashboardSignIn } from '../../http/middleware/act-for-person.ts';
import type { PolicyReloadPorts } from '../../http/routes/policy-reload.ts';
import { offeredTools } from '../policy/offered-tools.ts';
import type { PolicyFigures } from '../policy/policy-reload.ts';
import { approvalsPage } from './approvals-page.ts';
import type { AgentPolicies } from './create-system.ts';
import { daemonFigures } from './daemon-figures.ts';
import { mcpResource } from './mcp-resource.ts';
import type { AgentRecords } from './open-records.ts';
import { openTogether } from './open-together.ts';
import type { AccessSettings } from './read-access.ts';

const defaultPort = 8080;

export interface ServingParts extends AccessSettings {
  config: ServiceConfig;
  env: NodeJS.ProcessEnv;
  host: string;
  /** `null` selects 8080, one of the next ten ports, or any free port. */
  port: number | null;
  /** The agent's tools, which may change at run time. */
  toolbox: Pick<Toolbox, 'tools'>;
  /** The MCP servers; reports changes of their tools. */
  mcp: Pick<McpServers, 'onChange'> & OperatedServers;
  policies: Pick<AgentPolicies, 'policies'>;
  /** Puts the policy of the agent's files into force. */
  reloadPolicy: PolicyReloadPorts['reloadPolicy'];
  policyFigures: () => PolicyFigures;
  /** Absolute path of the agent's folder. */
  directory: string;
  system: TaskSystem;
  delegating: Delegating;
  push: PushNotifications;
  audit: AgentRecords;
  egress: Egress;
  authenticator: Authenticator;
  card: CardSource;
  /** Answers a challenge that arrived at a port. */
  prove: (challenge: string, port: number) => string | null;
  channels: () => Promise<ChannelStatus[]>;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Serves an agent until the result is disposed. Returns once the server listens. Throws ListenError. */
export function serveAgent(parts: ServingParts): Promise<{ port: number } & AsyncDisposable> {
  return openTogether((stack) => serveOn(stack, parts));
}

async function serveOn(
  stack: AsyncDisposableStack,
  parts: ServingParts,
): Promise<{ port: number }> {
  const { config, system, push, audit, egress, clock, ids, log, limits } = parts;
  const { store, keys, sinks, entity } = audit;
  const { server: settings, security, agent_id: agentId } = config;
  const admission =
    parts.admission &&
    stack.adopt(
      new Admission({ settings: parts.admission, agentId, clock, log, outbound: egress }),
      (asked) => asked.stop(),
    );
  const record = (event: AuditEvent): Promise<void> => store.record([event]);
  // Flushed after the last request, while the log is still writable.
  const authLog = stack.adopt(new AuthLog({ clock, record }), (opened) => opened.flush());
  const approvals = stack.adopt(await approvalsPage(parts), (page) => page?.stop());
  const app = createApp({
    ...(approvals === null ? {} : { approvals }),
    system,
    push,
    authenticator: parts.authenticator,
    authLog,
    dashboard: dashboardSignIn(parts),
    resource: mcpResource(config),
    hasMetricsToken: parts.metricsToken !== null,
    ids,
    card: parts.card,
    schemaOf({ tool, args }) {
      const found = parts.toolbox.tools.get(tool);
      return found?.schemaOf?.(args) ?? found?.parameters ?? null;
    },
    prove: parts.prove,
    clock,
    log,
    onDisconnect: security.defer.on_stream_disconnect,
    limits,
    origins: settings.cors_origins,
    publicUrl: settings.public_url,
    writeTimeout: settings.write_timeout,
    holdHeartbeat: settings.hold_heartbeat,
    taskAccess: settings.task_access,
    a2aHold: settings.a2a_hold,
    a2aAnswer: settings.a2a_answer,
    gate: config.gate === undefined ? null : gateSettings(config.gate, parts),
    mcp:
      settings.mcp === false || (config.gate !== undefined && config.mcp.servers.length === 0)
        ? null
        : mcpFace(parts, settings.mcp.answer_within),
    ...(config.mcp.servers.length === 0 ? {} : { mcpServers: parts.mcp }),
    admission,
    record,
    entity,
    auditKeys: keys.published,
    receipts: audit.receipts,
    reloadPolicy: parts.reloadPolicy,
    delegating: parts.delegating,
    auditLag: audit.lag,
    auditSinks: () => sinks.stats(),
    shared: audit.shared?.figures,
    channels: parts.channels,
    daemon: daemonFigures(parts),
  });
  const listening = {
    host: parts.host,
    port: parts.port ?? defaultPort,
    isFixed: parts.port !== null,
    ids,
    trustedProxies: limits.trustedProxies,
  };
  const server = stack.adopt(await listen(app, listening), closeServer);
  const { address, port } = server.address() as AddressInfo;
  egress.listensAt({ address, port });
  await audit.shared?.store.listensAt(placesOf(address, port), (fellows) =>
    egress.fellowsListenAt(fellows),
  );
  return { port };
}

/** Returns the sign-in of the dashboard whose people the agent accepts; `null` for none. */
function dashboardSignIn({ config, policies }: ServingParts): DashboardSignIn | null {
  const issuer = config.auth.dashboard_issuer;
  if (issuer === undefined) return null;
  const provider = providerOfIssuer(config, issuer) ?? dashboardProvider;
  return { issuer, provider, reads: () => policies.policies.current.policy.callerReads };
}

/** Lists the addresses that other machines can use for a listening address, which may be the wildcard address. */
function placesOf(address: string, port: number): ListeningAddress[] {
  const outer = Object.values(networkInterfaces())
    .flatMap((found = []) => found)
    .filter(({ internal }) => !internal);
  const isEach = address === '0.0.0.0' || address === '::';
  const addresses = [address, ...(isEach ? outer.map((one) => one.address) : [])];
  return addresses.map((one) => ({ address: one, port }));
}

function gateSettings(
  { release_within, outcome_within, acs }: NonNullable<ServiceConfig['gate']>,
  { audit, directory, log }: Pick<ServingParts, 'audit' | 'directory' | 'log'>,
) {
  const { acsSessions: sessions } = audit.store;
  let wasAsked = false;
  return {
    onHookAsked(dialect: string) {
      if (wasAsked) return;
      wasAsked = true;
      log.info({ dialect }, 'gate: the hook of a coding agent has asked');
      try {
        writeHookFile(join(directory, '.service'), dialect);
      } catch (error) {
        log.warn({ error }, 'gate: hook.json could not be written');
      }
    },
    ...{ releaseWithin: release_within, outcomeWithin: outcome_within },
    acs: acs === undefined ? null : { ...acs, sessions },
  };
}

/** The agent as presented to MCP clients. */
function mcpFace(
  { config, policies: { policies }, toolbox, mcp, system, audit }: ServingParts,
  answerWithin: number,
): McpFace {
  const { agent_id: agentId, version } = config;
  const page = decisionPage(config);
  return {
    agentId,
    version,
    ready: () => (config.mcp.views.length === 0 ? null : system.people.refresh(system.now())),
    tools(caller) {
      const sees = policies.current.policy.sightOf({ caller, surface: 'mcp' });
      return offeredTools(policies.current, toolbox.tools).filter(sees);
    },
    hasTool: (name) =>
      offeredTools(policies.current, toolbox.tools).some(
        (tool) => tool.name === name && tool.isElsewhere !== true,
      ),
    onToolsChanged(listener) {
      mcp.onChange(listener);
      system.people.onReplaced(listener);
      policies.onReplaced(listener);
    },
    key: (purpose) => audit.store.keys.of(purpose),
    answerWithin,
    pageOf: (id) => (page === null ? null : pageOfCall(page, id)),
    keptFor: config.store.retention,
    mayHold(tool) {
      const { policy } = policies.current;
      if (tool !== null) return policy.mayHold(tool);
      return [...toolbox.tools.values()].some(
        ({ name, isElsewhere }) => isElsewhere !== true && policy.mayHold(name),
      );
    },
    get changesOutput() {
      const { security, included } = policies.current;
      return [security, ...included.map((one) => one.security)].some(
        ({ guardrails, modify }) => guardrails.enabled || modify.enabled,
      );
    },
  };
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  server.closeIdleConnections();
  const cutOff = setTimeout(() => server.closeAllConnections(), 1_000);
  await closed;
  clearTimeout(cutOff);
}
