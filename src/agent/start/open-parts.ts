import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CardPublisher } from '../../actors/card/card.ts';
import type { ServiceConfig } from '../../actors/config/config.ts';
import type { Policies } from '../../actors/governance/governance.ts';
import { type Egress, PushNotifications } from '../../actors/outbound/outbound.ts';
import { Delegating } from '../../actors/people/people.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { EgressRecord } from '../../actors/ports/egress.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import { keptInspectorToken } from '../../actors/process/process.ts';
import type { TaskSystem } from '../../actors/tasks/tasks.ts';
import { type Inspector, loadInspector } from '../../actors/telemetry/telemetry.ts';
import { normalName } from '../../actors/tool-name.ts';
import {
  type McpServers,
  openMcpServers,
  type ScriptGate,
  type Toolbox,
} from '../../actors/tools/tools.ts';
import { watchClock } from '../../actors/watch-clock.ts';
import { writePush } from '../../http/a2a/push-writer.ts';
import { version } from '../../version.ts';
import { heldTools, rulesOfServers } from '../policy/ruled-tools.ts';
import {
  type AgentPolicies,
  type AgentPolicy,
  createPolicies,
  createSystem,
} from './create-system.ts';
import { PeopleKeeper } from './keep-people.ts';
import { lockFiles } from './lock-files.ts';
import { openEgress } from './open-egress.ts';
import { type AgentRecords, openRecords } from './open-records.ts';
import type { Start } from './read-start.ts';

export interface PartsOptions {
  /** Port of the inspector's stream; `null` turns the inspector off. */
  inspectPort: number | null;
  /** If true, starts with a store older than its log: the log is kept, and the tasks that it names are ended. */
  keepLog?: boolean;
  /**
   * If true, applies the agent's egress policy to every fetch in this process. Only for a process dedicated to the
   * agent.
   */
  ownsProcess?: boolean;
  log: Log;
}

/** The parts of an agent that need no address. */
export interface AgentParts {
  inspector: Inspector | null;
  egress: Egress;
  audit: AgentRecords;
  policies: AgentPolicies;
  system: TaskSystem;
  push: PushNotifications;
  mcp: McpServers;
  card: CardPublisher;
  delegating: Delegating;
  /** The sandbox level of scripts; `null` if there are no scripts. */
  sandbox: string | null;
}

/** Opens the parts of an agent step by step, until it can listen. The stack closes them in reverse order. */
export async function openParts(
  stack: AsyncDisposableStack,
  start: PartsOptions & Start,
): Promise<AgentParts> {
  const { config, directory, log } = start;
  lockFiles(stack, directory, config);
  const inspector = stack.adopt(await openInspector(start), (opened) => opened?.stop());

  const hops = new Later<TaskSystem['egress']>();
  const record = (hop: EgressRecord): void => hops.value.record(hop);
  const admissionUrl = start.admission?.url ?? null;
  const outbound = stack.use(await openEgress({ ...start, admissionUrl, record }));
  const { egress, isolation, deliver: fetch } = outbound;
  if (isolation !== null) start.scripts.open(isolation);
  if (start.ownsProcess === true) stack.defer(egress.guardProcess());
  if (inspector !== null) egress.listensAt(inspector.listening);

  const sandbox = isolation?.sandbox ?? null;
  const keepLog = start.keepLog ?? false;
  const audit = stack.use(await openRecords({ ...start, fetch, sandbox, keepLog }));
  const { clock } = audit;
  const servers = new Later<McpServers>();
  const remote: McpServers['calls'] = {
    follow: (...call) => servers.value.calls.follow(...call),
  };
  const governed = { ...start, clock, egress, audit, remote, inspect: inspector?.inspect };
  const policies = createPolicies(governed);
  const system = stack.adopt(createSystem(governed, policies), (opened) => opened.stop());
  hops.value = system.egress;
  const push = stack.adopt(
    new PushNotifications({
      rows: audit.store.push,
      find: (id) => system.reads.find(id),
      isShared: audit.shared !== null,
      write: (task, version) => writePush(task, version, config.server.a2a_answer),
      egress,
      clock,
      log,
    }),
    (opened) => opened.stop(),
  );
  await audit.recordStart();
  const delegating = new Delegating({
    ...{ rows: audit.store.delegations, directory: system.people, clock, ids: start.ids },
    record: ({ event, delegation: { id, from, to, until } }) =>
      audit.record({ event, fields: { id, from, to, until: new Date(until).toISOString() } }),
  });
  const into = system.people;
  const people = new PeopleKeeper({ ...start, clock, into, delegating, record: audit.record });
  stack.defer(() => people.stop());
  await people.start();
  for (const hop of start.hops) record(hop);
  const mcp = stack.adopt(
    await openMcp({ ...start, ...policies, ...audit, clock, egress }),
    (opened) => opened.stop(),
  );
  servers.value = mcp;
  stack.defer(watchClock({ clock: start.clock, record: audit.record, log }));
  const card = stack.adopt(
    new CardPublisher({ clock, record: (event) => audit.record(event) }),
    (published) => published.stop(),
  );
  return { inspector, egress, audit, policies, system, push, mcp, card, sandbox, delegating };
}

/** A value that is set after the parts that use it were opened; reading it earlier throws. */
class Later<Value> {
  #value: Value | null = null;

  get value(): Value {
    if (this.#value === null) throw new Error('a part was used before it was opened');
    return this.#value;
  }

  set value(value: Value) {
    this.#value = value;
  }
}

/** Starts an agent's inspector. Its code is loaded only if the inspector is on. Throws InspectorError. */
async function openInspector(options: {
  directory: string;
  inspectPort: number | null;
  log: Log;
}): Promise<Inspector | null> {
  const { directory, inspectPort: port, log } = options;
  if (port === null) return null;
  const { startInspector } = await loadInspector();
  const token = keptInspectorToken(join(directory, '.service'));
  return startInspector({ port, token, log });
}

interface McpParts {
  config: ServiceConfig;
  policies: Policies<AgentPolicy>;
  directory: string;
  toolbox: Toolbox;
  scripts: ScriptGate;
  egress: Egress;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
  /** Writes to the audit log. */
  record: AgentRecords['record'];
  /** The store of the agent's tokens for servers. */
  store: Pick<AgentRecords['store'], 'webRecords' | 'keys'>;
  /** Sharing of the tasks with other daemons; `null` if this is the only daemon. */
  shared: AgentRecords['shared'];
  ids: Ids;
}

/**
 * Starts connecting an agent's MCP servers. Their tools are added to the agent as the servers connect
 * (docs/contract/models.md).
 */
async function openMcp(parts: McpParts): Promise<McpServers> {
  const { config, policies, directory, toolbox, scripts, egress, env, clock, log, record } = parts;
  const { store, shared, ids } = parts;
  const idempotent = new Set(
    config.tools.filter((tool) => tool.idempotent).map(({ name }) => normalName(name)),
  );
  return openMcpServers({
    servers: config.mcp.servers,
    egress,
    env,
    clock,
    log,
    record,
    version,
    ...(shared === null ? {} : { pins: store.webRecords }),
    tokens: {
      records: store.webRecords,
      key: (purpose) => store.keys.of(purpose),
      owner: ids.next(),
    },
    tools: toolbox.tools,
    ruled: () => rulesOfServers({ ...config, ...policies.current }),
    isHeld: (tool) => heldTools(policies.current, [tool]).length > 0,
    isIdempotent: (tool) => idempotent.has(normalName(tool)),
    isolation: () => scripts.isolation(),
    agentDirectory: await realpath(directory),
  });
}
