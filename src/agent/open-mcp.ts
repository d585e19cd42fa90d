import { realpath } from 'node:fs/promises';
import type { ServiceConfig } from '../actors/config/config.ts';
import type { Policies } from '../actors/governance/governance.ts';
import type { Egress } from '../actors/outbound/outbound.ts';
import type { Clock } from '../actors/ports/clock.ts';
import type { Ids } from '../actors/ports/ids.ts';
import type { Log } from '../actors/ports/log.ts';
import { normalName } from '../actors/tool-name.ts';
import {
  type McpServers,
  openMcpServers,
  type ScriptGate,
  type Toolbox,
} from '../actors/tools/tools.ts';
import { version } from '../version.ts';
import type { AgentPolicy } from './create-system.ts';
import type { AgentRecords } from './open-records.ts';
import { heldTools, rulesOfServers } from './ruled-tools.ts';

export interface McpParts {
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
export async function openMcp(parts: McpParts): Promise<McpServers> {
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
