import type { Server } from 'node:net';
import { afterEach, expect } from 'vitest';
import type { Tool } from '../../src/actors/ports/tool.ts';
import { systemClock } from '../../src/actors/system-clock.ts';
import { attachSkill, planSkill, type SkillPlan } from '../../src/agent/skills/attach-skill.ts';
import { registrySkill } from '../../src/agent/skills/skill-registry.ts';
import { openEgress } from '../../src/agent/start/open-egress.ts';
import { readAgent } from '../../src/agent/start/read-agent.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { isWithoutBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';

const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const egress of opened.splice(0)) await egress[Symbol.asyncDispose]();
});

/** An agent with one skill of the registry, whose tools run as they do in a daemon. */
export interface SkillAgent {
  directory: string;
  plan: SkillPlan;
  /** Runs a tool and resolves with its answer. */
  call: (tool: string, args?: JsonObject) => Promise<JsonObject>;
  /** Runs a tool that fails, and resolves with what is said of it. */
  fail: (tool: string, args?: JsonObject) => Promise<string>;
}

export interface SkillAgentOptions {
  env?: Record<string, string>;
  /** Endpoints of this machine that are listed. */
  reaches?: string[];
  /** What `egress.sandbox` says. */
  sandbox?: 'auto' | 'env';
  /** Files of the agent. */
  files?: Record<string, string>;
  /** Makes more of them. */
  prepare?: (directory: string) => void | Promise<void>;
}

/** Adds a skill of the registry to a new agent, and opens its tools with the proxy and the sandbox of a daemon. */
export async function agentWithSkill(
  name: string,
  { env = {}, reaches = [], sandbox = 'auto', files = {}, prepare }: SkillAgentOptions = {},
): Promise<SkillAgent> {
  const service = `# an agent
agent_id: desk
model: {provider: scripted}
egress:
  allowed_private: ${JSON.stringify(reaches)}
  sandbox: ${sandbox}
`;
  const directory = agentFolder({ 'service.yaml': service, ...files });
  await prepare?.(directory);
  const skill = await registrySkill(name);
  if (skill === null) throw new Error(`there is no skill ${name}`);
  const place = { directory, env };
  const plan = await planSkill(place, skill);
  await attachSkill(place, skill, plan);
  let isolation: Awaited<ReturnType<typeof openEgress>>['isolation'] = null;
  const clock = systemClock();
  const reading = await readAgent(directory, env, clock, () => isolation);
  expect(reading.problems).toEqual([]);
  if (reading.agent === null) throw new Error('the agent cannot be read');
  const { config, toolbox, channels, writable } = reading.agent;
  const quiet = () => undefined;
  const egress = await openEgress({
    ...{ config, toolbox, channels, directory, writable, env },
    ...{ admissionUrl: null, isAuthOn: true, record: quiet },
    log: { info: quiet, warn: quiet, error: quiet },
  });
  opened.push(egress);
  isolation = egress.isolation;
  expect(isolation?.sandbox).toBe(isWithoutBwrap || sandbox === 'env' ? 'env' : 'bwrap');
  const run = (tool: string, args: JsonObject): Promise<string> =>
    toolNamed(toolbox.tools, tool).run(args, {
      ...{ taskId: 't1', callId: 'c1', correlationId: 'x', credential: null, tags: {} },
      signal: new AbortController().signal,
    });
  return {
    ...{ directory, plan },
    call: async (tool, args = {}) => JSON.parse(await run(tool, args)) as JsonObject,
    fail: (tool, args = {}) =>
      run(tool, args).then(
        (answer) => `no failure: ${answer}`,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
  };
}

/** The entry for a server on loopback. */
export function portOf(server: Server): string {
  const address = server.address();
  if (typeof address !== 'object' || address === null)
    throw new Error('the server does not listen');
  return `127.0.0.1:${address.port}`;
}

function toolNamed(tools: ReadonlyMap<string, Tool>, name: string): Tool {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`the agent has no tool ${name}`);
  return tool;
}
