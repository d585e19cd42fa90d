import { join } from 'node:path';
import type { EgressProxy } from '../../../../src/actors/outbound/proxy/egress-proxy.ts';
import type { Clock } from '../../../../src/actors/ports/clock.ts';
import type { Tool, ToolRun } from '../../../../src/actors/ports/tool.ts';
import type { SandboxLevel } from '../../../../src/actors/tools/sandbox/sandbox.ts';
import type { ScriptDefinition } from '../../../../src/actors/tools/skills/skills.ts';
import { type ScriptDependencies, scriptTool } from '../../../../src/actors/tools/tools.ts';
import { agentFolder } from '../skills/agent-folder.ts';

export const clock: Clock = {
  now: Date.now,
  setTimeout: (run, milliseconds) => setTimeout(run, milliseconds),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

/** A call of a task that carries one tag. */
export function aRun(overrides: Partial<ToolRun> = {}): ToolRun {
  return {
    taskId: 't1',
    callId: 'c1',
    correlationId: 'x',
    credential: null,
    tags: { workflow_id: 'refunds' },
    signal: new AbortController().signal,
    ...overrides,
  };
}

/** What a script tool under test is made of. */
export interface IsolatedScript {
  content: string;
  level: SandboxLevel;
  file?: string;
  proxy?: EgressProxy | null;
  /** More files of the agent's folder. */
  files?: Record<string, string>;
  limits?: ScriptDependencies['limits'];
  /** Names of folders that it may write and keep. */
  writable?: string[];
}

/** The definition of a tool `go` whose script is in a file of an agent's folder. */
export function aDefinition(script: string): ScriptDefinition {
  return {
    name: 'go',
    description: 'Goes.',
    parameters: { type: 'object' },
    idempotent: false,
    environment: [],
    skill: 's',
    file: 'SKILL.md',
    line: 1,
    script,
    code: new Map(),
  };
}

/** A tool `go` in an agent's own folder, isolated at a level. */
export function isolatedScript(script: IsolatedScript): { tool: Tool; agentDirectory: string } {
  const {
    content,
    level,
    file = 'go.sh',
    proxy = null,
    files = {},
    limits = {},
    writable = [],
  } = script;
  const agentDirectory = agentFolder({ [`scripts/${file}`]: content, ...files });
  const tool = scriptTool(aDefinition(join(agentDirectory, 'scripts', file)), {
    agentDirectory,
    env: {},
    clock,
    limits,
    isolation: () => ({
      ...{ proxy, sandbox: level },
      writable: writable.map((name) => join(agentDirectory, name)),
    }),
  });
  return { tool, agentDirectory };
}
