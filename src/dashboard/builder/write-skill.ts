import { readSection } from '../../actors/config/config.ts';
import { writeEnvironment } from '../../actors/secrets/secrets.ts';
import { readSkills, toolsToHold } from '../../actors/tools/tools.ts';
import {
  type AgentText,
  addSkill,
  mergeEgress,
  readAgentText,
  revertConfig,
} from '../../actors/workspace/workspace.ts';
import { environmentFolder } from '../../agent/agent-environment.ts';
import { checkAgent } from '../../agent/agent-findings.ts';
import { missingVariables } from '../../agent/attach-skill.ts';
import {
  type AgentPlace,
  planHeldRules,
  usableAgent,
  writeHeldRules,
} from '../../agent/held-rules.ts';
import type {
  CustomSkillContentJson,
  SkillSaveResultJson,
} from '../../http/wire/dashboard/builder-json.ts';
import { foundSkill } from './custom-skill.ts';
import type { AgentSkills } from './list-skills.ts';
import { type ReplacedSkill, replaceSkill } from './replace-skill.ts';
import type { SavePlace, SaveRequest } from './save-request.ts';
import { SkillConflictError, SkillFileError, SkillInvalidError } from './skill-file-error.ts';

/** What was read for a save. */
interface Before {
  name: string;
  /** The skill that is replaced; `null` for a new one. */
  existing: CustomSkillContentJson | null;
  skills: AgentSkills;
}

/**
 * Writes a validated skill atomically: hold rules first, so that no tool exists without its rule, then files, declared
 * hosts and variables. Rejects as `saveSkill` does.
 */
export async function writeSkill(
  { directory, env, variables }: SavePlace,
  request: SaveRequest,
  { name, existing, skills }: Before,
): Promise<SkillSaveResultJson> {
  const { providers } = readSection(directory, 'secrets', env);
  const environment = providers.includes('env') ? environmentFolder(directory, env) : null;
  if (Object.keys(request.env).length > 0 && environment === null) {
    const message =
      'this agent reads no .env; keep its variables with the command secret set, and save the skill without them';
    throw new SkillFileError('skill_refused', message);
  }
  const place = { directory, env: await variables() };
  // Every step of the rollback runs, even if another one fails.
  const undo = new AsyncDisposableStack();
  try {
    const held = await holdTools(place, request, undo);
    const placed = await writeFiles(directory, { ...request, name, existing });
    if (placed === null) {
      await undo.disposeAsync();
      throw new SkillConflictError('skill_changed', name, await foundSkill(directory, name));
    }
    undo.defer(() => placed.restore());
    const after = await readSkills(directory);
    const known = new Set(skills.problems.map(({ file, message }) => `${file} ${message}`));
    const problem = after.problems.find(({ file, message }) => !known.has(`${file} ${message}`));
    const path = `skills/${name}/SKILL.md`;
    const skill = after.skills.find(({ file }) => file === path);
    if (problem !== undefined || skill === undefined) {
      await undo.disposeAsync();
      throw unreadable(name, problem);
    }
    const merged = await mergeEgress(
      held.text,
      skill.egressDomains,
      `skill ${name}`,
      async (folder, content) => ({
        errors: (await checkAgent(folder, place.env, content)).problems,
      }),
    );
    if (merged.added.length > 0) undo.defer(() => revertConfig(merged));
    if (environment !== null) await writeEnvironment(environment, request.env);
    const now = await variables();
    const needed = skill.requires.env;
    const declared = [...needed.required, ...needed.oneOf, ...needed.optional];
    const result = {
      ...{ name, path, egress_added: merged.added, held_added: held.added },
      env_configured: declared.filter((variable) => (now[variable] ?? '') !== ''),
      env_missing: missingVariables(needed, now),
    };
    // Point of no return: nothing is rolled back after this. The next save removes any leftovers.
    undo.move();
    await placed.finish().catch(() => undefined);
    return result;
  } catch (error) {
    await undo.disposeAsync().catch(() => undefined);
    throw error;
  }
}

/** Writes rules for the tools that the skill recommends to hold, and returns the `service.yaml` as it is then. */
async function holdTools(
  place: AgentPlace,
  request: SaveRequest,
  undo: AsyncDisposableStack,
): Promise<{ added: string[]; text: AgentText }> {
  const text = await readAgentText(place.directory);
  const tools = request.hold ? toolsToHold(request) : [];
  if (tools.length === 0) return { added: [], text };
  const rules = planHeldRules(await usableAgent(place, text), tools);
  const written = await writeHeldRules(place, rules);
  undo.defer(() => revertConfig(rules.config));
  return { added: rules.heldAdded, text: written };
}

async function writeFiles(
  directory: string,
  { name, skill_md, scripts, existing }: SaveRequest & Pick<Before, 'name' | 'existing'>,
): Promise<ReplacedSkill | null> {
  const files = { name, skill_md, scripts };
  if (existing !== null) return replaceSkill(directory, files, existing.etag);
  const { remove } = await addSkill(directory, files);
  return { restore: remove, finish: () => Promise.resolve() };
}

function unreadable(
  name: string,
  problem: { message: string; file: string; line: number; column: number } | undefined,
): SkillInvalidError {
  const rule = 'agent_reads';
  if (problem === undefined) {
    const message = `another file of the agent holds a skill ${name}, which it reads first; rename one`;
    const error = { rule, message, file: null, line: null, column: null };
    return new SkillInvalidError({ valid: false, errors: [error], warnings: [] });
  }
  const { message, line, column } = problem;
  const file = problem.file === `skills/${name}/SKILL.md` ? null : problem.file;
  const error = { rule, message, file, line, column };
  return new SkillInvalidError({ valid: false, errors: [error], warnings: [] });
}
