import { writeEnvironment } from '../../actors/secrets/secrets.ts';
import { readSkills, type Skill, toolsToHold } from '../../actors/tools/tools.ts';
import {
  addSkill,
  mergeEgress,
  readConfigText,
  writeConfigText,
} from '../../actors/workspace/workspace.ts';
import { type CustomSkill, foundSkill } from './custom-skill.ts';
import { type ReplacedSkill, replaceSkill } from './replace-skill.ts';
import type {
  HeldTools,
  MissingVariable,
  Remark,
  SaveOutcome,
  SavePorts,
  SaveRequest,
} from './save-order.ts';
import { SkillFileError } from './skill-file-error.ts';

/** A validated skill with the skill that it replaces; `null` for a new one. */
type Write = SaveRequest & { name: string; existing: CustomSkill | null };

/**
 * Writes a validated skill atomically: hold rules first, so that no tool exists without its rule, then files, declared
 * hosts and variables. Rejects as `saveSkill` does.
 */
export async function writeSkill(
  directory: string,
  request: Write,
  ports: SavePorts,
): Promise<SaveOutcome> {
  const { name, env } = request;
  if (Object.keys(env).length > 0 && ports.environment === null) {
    const message =
      'this agent reads no .env; keep its variables with the command secret set, and save the skill without them';
    throw new SkillFileError('refused', message);
  }
  const before = await readSkills(directory);
  const steps: (() => Promise<void>)[] = [];
  // Every rollback step runs, even if another one fails.
  const undo = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      await step().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const held = await holdTools(request, ports);
    steps.push(held.rollBack);
    const placed = await place(directory, request);
    if (placed === null) {
      await undo();
      return { kind: 'changed', name, now: await foundSkill(directory, name) };
    }
    steps.push(() => placed.restore());
    const after = await readSkills(directory);
    const known = new Set(before.problems.map(({ file, message }) => `${file} ${message}`));
    const problem = after.problems.find(({ file, message }) => !known.has(`${file} ${message}`));
    const path = `skills/${name}/SKILL.md`;
    const skill = after.skills.find(({ file }) => file === path);
    if (problem !== undefined || skill === undefined) {
      await undo();
      return { kind: 'invalid', findings: [remarkOf(name, problem)] };
    }
    const merged = await mergeEgress(directory, skill.egressDomains, `skill ${name}`, ports.check);
    if (merged.added.length > 0) steps.push(() => revert(directory, merged));
    if (ports.environment !== null) await writeEnvironment(ports.environment, env);
    const added = { egress_added: merged.added, held_added: held.added };
    const variables = variablesOf(skill, await ports.variables());
    // Point of no return: nothing is rolled back after this. The next save removes any leftovers.
    await placed.finish().catch(() => undefined);
    return { kind: 'saved', name, path, ...added, ...variables };
  } catch (error) {
    await undo().catch(() => undefined);
    throw error;
  }
}

async function holdTools(request: Write, ports: SavePorts): Promise<HeldTools> {
  const tools = request.hold ? toolsToHold(request) : [];
  return tools.length === 0 ? { added: [], rollBack: () => Promise.resolve() } : ports.hold(tools);
}

async function place(
  directory: string,
  { name, skill_md, scripts, existing }: Write,
): Promise<ReplacedSkill | null> {
  const files = { name, skill_md, scripts };
  if (existing !== null) return replaceSkill(directory, files, existing.etag);
  const { remove } = await addSkill(directory, files);
  return { restore: remove, finish: () => Promise.resolve() };
}

function remarkOf(
  name: string,
  problem: { message: string; file: string; line: number; column: number } | undefined,
): Remark {
  if (problem === undefined) {
    const message = `another file of the agent holds a skill ${name}, which it reads first; rename one`;
    return { level: 'error', rule: 'agent_reads', message };
  }
  const { message, file, line, column } = problem;
  const isOwn = file === `skills/${name}/SKILL.md`;
  const place = isOwn ? { line, column } : { line, column, file };
  return { level: 'error', rule: 'agent_reads', message, ...place };
}

function variablesOf(
  { requires: { env } }: Skill,
  variables: Readonly<Record<string, string | undefined>>,
): { env_configured: string[]; env_missing: MissingVariable[] } {
  const isSet = (name: string): boolean => (variables[name] ?? '') !== '';
  const isOneSet = env.oneOf.some(isSet);
  const missing = (kind: MissingVariable['kind'], names: readonly string[]): MissingVariable[] =>
    names.filter((name) => !isSet(name)).map((name) => ({ name, kind }));
  return {
    env_configured: [...env.required, ...env.oneOf, ...env.optional].filter(isSet),
    env_missing: [
      ...missing('required', env.required),
      ...(isOneSet ? [] : missing('one_of', env.oneOf)),
      ...missing('optional', env.optional),
    ],
  };
}

/** Restores `service.yaml` unless it has been changed again since. */
async function revert(
  directory: string,
  { before, after }: { before: string; after: string },
): Promise<void> {
  const { content, etag } = await readConfigText(directory);
  if (content === after) await writeConfigText(directory, { content: before, etag });
}
