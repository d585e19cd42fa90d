import { readSection } from '../../actors/config/config.ts';
import { writeEnvironment } from '../../actors/secrets/secrets.ts';
import { readSkills, type Skill, toolsToHold, variableOfHost } from '../../actors/tools/tools.ts';
import {
  type AgentText,
  addSkill,
  mergeEgress,
  readAgentText,
  revertConfig,
} from '../../actors/workspace/workspace.ts';
import {
  type AgentPlace,
  planHeldRules,
  usableAgent,
  writeHeldRules,
} from '../../agent/policy/held-rules.ts';
import { missingVariables } from '../../agent/skills/attach-skill.ts';
import { environmentFolder } from '../../agent/start/agent-environment.ts';
import { checkAgent } from '../../agent/start/agent-findings.ts';
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
      throw new SkillConflictError('skill_changed', name, await foundSkill(directory, name));
    }
    undo.defer(() => placed.restore());
    const skill = await readWritten(directory, name, skills);
    const check = async (folder: string, content: string) => ({
      errors: (await checkAgent(folder, place.env, content)).problems,
    });
    // A host named by a variable is open to the scripts alone.
    const hosts = skill.egressDomains.filter((host) => variableOfHost(host) === null);
    const merged = await mergeEgress(held.text, hosts, `skill ${name}`, check);
    if (merged.added.length > 0) undo.defer(() => revertConfig(merged));
    if (environment !== null) await writeEnvironment(environment, request.env);
    const now = await variables();
    const needed = skill.requires.env;
    const declared = [...needed.required, ...needed.oneOf, ...needed.optional];
    const result = {
      name,
      path: skill.file,
      egress_added: merged.added,
      held_added: held.added,
      env_configured: declared.filter((variable) => (now[variable] ?? '') !== ''),
      env_missing: missingVariables(needed, now),
    };
    // Point of no return: nothing is rolled back after this. The next save removes any leftovers.
    undo.move();
    await placed.finish().catch(() => undefined);
    return result;
  } catch (error) {
    const isRefusal = error instanceof SkillInvalidError || error instanceof SkillConflictError;
    await undo.disposeAsync().catch((failure: unknown) => {
      // A refusal promises that nothing was saved.
      if (isRefusal) throw failure;
    });
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

/** Reads a written skill as the agent does. Rejects with a SkillInvalidError if the agent would not load it. */
async function readWritten(directory: string, name: string, before: AgentSkills): Promise<Skill> {
  const { skills, problems } = await readSkills(directory);
  const known = new Set(before.problems.map(({ file, message }) => `${file} ${message}`));
  const problem = problems.find(({ file, message }) => !known.has(`${file} ${message}`));
  const path = `skills/${name}/SKILL.md`;
  const skill = skills.find(({ file }) => file === path);
  if (problem === undefined && skill !== undefined) return skill;
  const hidden = `another file of the agent holds a skill ${name}, which it reads first; rename one`;
  const { message = hidden, file = path, line = null, column = null } = problem ?? {};
  const place = { file: file === path ? null : file, line, column };
  const errors = [{ rule: 'agent_reads', message, ...place }];
  throw new SkillInvalidError({ valid: false, errors, warnings: [] });
}
