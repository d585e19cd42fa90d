import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { Tool } from '../../actors/ports/tool.ts';
import { serverOfTool } from '../../actors/tools/tools.ts';
import { createGovernance, type Governance } from '../../agent/policy/agent-governance.ts';
import type { AgentReading } from '../../agent/start/read-agent.ts';

/** The governance of an agent whose files have been read. It makes no outbound request on its own. */
export interface OpenPolicy extends Governance {
  tools: ReadonlyMap<string, Tool>;
}

/** Explained calls are not stored. */
const scrub = (text: string): string => text;

/**
 * Assembles an agent's governance. Does not connect to MCP servers: tools that the configuration names are assumed to
 * exist, without a description or schema.
 */
export function openPolicy(
  { config, toolbox, guardrails, modify }: NonNullable<AgentReading['agent']>,
  names: readonly string[],
  parts: { env: NodeJS.ProcessEnv; clock: Clock; log: Log },
): OpenPolicy {
  const unseen = names.filter(
    (name) => !toolbox.tools.has(name) && serverOfTool(name, config.mcp.servers) !== undefined,
  );
  const tools = withUnseen(unseen, toolbox.tools);
  const isAuthOn = config.auth.providers.length > 0;
  return {
    ...createGovernance({ config, isAuthOn, tools, guardrails, modify, scrub, ...parts }),
    tools,
  };
}

function withUnseen(
  names: readonly string[],
  tools: ReadonlyMap<string, Tool>,
): ReadonlyMap<string, Tool> {
  if (names.length === 0) return tools;
  const added = names.map((name): [string, Tool] => {
    const run = (): Promise<never> =>
      Promise.reject(new Error(`${name} is explained and never run`));
    return [name, { name, description: '', parameters: {}, idempotent: false, run }];
  });
  return new Map([...tools, ...added]);
}
