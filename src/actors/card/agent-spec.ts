import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AgentSkill } from '../../machines/card/agent-card.ts';
import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import { commandLine } from '../command-line.ts';
import type { ServiceConfig } from '../config/config.ts';
import { replaceFile } from '../replace-file.ts';
import type { Skill } from '../tools/tools.ts';
import { distinctTags, inOrder, skillOfFile } from './agent-skill.ts';

/** Path of the build spec within the agent's folder. */
export const agentSpecPath = join('.service', 'build', 'agent-spec.json');

const largestFile = 16 * 1024 * 1024;

const text = z.string().default('');
const schemes = z.custom<JsonObject>(isJsonObject, { error: 'must be an object' }).default({});

const skillSchema = z
  .object({
    id: z.string().min(1),
    name: text,
    description: text,
    tags: z.array(z.string()).default([]),
  })
  .transform((skill) => ({
    id: skill.id,
    name: skill.name || skill.id,
    description: skill.description,
    tags: distinctTags(skill.tags, 'skill'),
  }));

const specSchema = z.object({
  name: text,
  version: text,
  description: text,
  a2a: z
    .object({ skills: z.array(skillSchema).default([]), security_schemes: schemes })
    .prefault({}),
});

/** Output of `holdpoint build`, read at start-up; unset fields are empty (docs/contract/agent-card.md). */
export interface AgentSpec {
  name: string;
  version: string;
  description: string;
  skills: AgentSkill[];
  /** Manually written security schemes of the card. */
  securitySchemes: JsonObject;
}

/** The build spec of a folder, with a message about the problem if the file is unusable. */
export interface AgentSpecReading {
  spec: AgentSpec;
  warning: string | null;
}

const noSpec: AgentSpec = {
  name: '',
  version: '',
  description: '',
  skills: [],
  securitySchemes: {},
};

/**
 * Reads the build spec of an agent's folder. A missing file gives an empty spec; an invalid one is ignored with a
 * warning.
 */
export function readAgentSpec(directory: string): AgentSpecReading {
  try {
    const path = join(directory, agentSpecPath);
    if (statSync(path).size > largestFile) return ignored('it is larger than 16 MiB');
    const parsed = specSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    if (!parsed.success) return ignored(`${whereOf(parsed.error)} is not what it should be`);
    const { a2a, ...spec } = parsed.data;
    const { skills, security_schemes: securitySchemes } = a2a;
    return { spec: { ...spec, skills, securitySchemes }, warning: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { spec: noSpec, warning: null };
    return ignored(error instanceof SyntaxError ? 'it is not JSON' : `it cannot be read (${code})`);
  }
}

/** Serialises the build spec of an agent's folder: JSON with a trailing newline. Deterministic for the same files. */
export function formatAgentSpec(config: ServiceConfig, skills: readonly Skill[]): string {
  const { agent_id: name, version, description, card } = config;
  const spec = {
    name,
    version,
    ...(description === '' ? {} : { description }),
    a2a: {
      skills: inOrder(skills.map(skillOfFile)),
      ...(Object.keys(card.security_schemes).length === 0
        ? {}
        : { security_schemes: card.security_schemes }),
    },
  };
  return `${JSON.stringify(spec, null, 2)}\n`;
}

/** Writes the build spec of an agent's folder atomically and resolves with its path. */
export async function writeAgentSpec(directory: string, content: string): Promise<string> {
  const path = join(directory, agentSpecPath);
  await replaceFile(path, content);
  return path;
}

function ignored(reason: string): AgentSpecReading {
  const warning = `${agentSpecPath} is ignored: ${reason}; write it anew with ${commandLine('build')}`;
  return { spec: noSpec, warning };
}

function whereOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join('.') ?? '';
  return path === '' ? 'the whole' : path;
}
