import { join } from 'node:path';
import type { Clock } from '../../actors/ports/clock.ts';
import { toolsToHold } from '../../actors/tools/tools.ts';
import { ConfigFileError } from '../../actors/workspace/workspace.ts';
import { planHeldRules, usableAgent } from '../../agent/policy/held-rules.ts';
import { lenientEnvironment } from '../../agent/start/lenient-environment.ts';
import type {
  BuilderSettingsJson,
  BuilderStatusJson,
  CustomSkillContentJson,
  CustomSkillJson,
  SkillCheckJson,
  SkillDraftJson,
  SkillHoldsJson,
  SkillSaveResultJson,
} from '../../http/wire/dashboard/builder-json.ts';
import { type BuilderModel, resolveModel, userFolder } from './builder-model.ts';
import { type BuilderMessage, builderPrompt } from './builder-prompt.ts';
import { readCustomSkill } from './custom-skill.ts';
import { readAgentSkills } from './list-skills.ts';
import { modelOfAgent } from './model-of-agent.ts';
import { mendSkills } from './replace-skill.ts';
import { type BuilderEar, runTurn } from './run-turn.ts';
import type { SaveRequest } from './save-request.ts';
import { SettingsError, saveSettings } from './save-settings.ts';
import { checkSkill, saveSkill } from './save-skill.ts';
import { keyVariableOf, providersOffered, settingsPath } from './settings-file.ts';

export interface SkillBuilderOptions {
  /** Absolute path of the workspace's folder. */
  workspace: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
}

/** The agent for which a skill is written. */
export interface BuilderAgent {
  id: string;
  /** Absolute path of its folder. */
  directory: string;
  /** Names of the agent's tools. */
  tools: readonly string[];
}

/** A conversation so far; `editing` names the skill being edited, `null` for a new one. */
export interface BuilderQuestion {
  messages: readonly BuilderMessage[];
  editing: string | null;
}

/** A prepared turn of a conversation. Resolves when the turn has ended; never rejects. */
export type BuilderTurn = (ear: BuilderEar, signal: AbortSignal) => Promise<void>;

/**
 * Writes skills interactively with a user (docs/contract/dashboard.md). Methods reject with an error that has a code;
 * then nothing has been written.
 */
export class SkillBuilder {
  readonly #options: SkillBuilderOptions;
  /** The workspace's folder of settings. */
  readonly #folder: string;
  /** Saves run one after another; concurrent saves would overwrite each other's changes. */
  readonly #saves = new Map<string, Promise<unknown>>();

  constructor(options: SkillBuilderOptions) {
    this.#options = options;
    this.#folder = join(options.workspace, '.service');
  }

  async settings(): Promise<BuilderSettingsJson> {
    return settingsJson(await this.#modelFor(null), settingsPath(this.#folder));
  }

  /** Saves the settings of an unvalidated request. */
  async saveSettings(request: object): Promise<BuilderSettingsJson> {
    await this.#inTurn(this.#folder, () => saveSettings(this.#folder, request));
    return this.settings();
  }

  /** Pass `null` for the workspace without an agent. */
  async status(agent: BuilderAgent | null): Promise<BuilderStatusJson> {
    return statusJson(await this.#modelFor(agent));
  }

  prompt(agent: BuilderAgent): Promise<string> {
    return promptFor(agent, null);
  }

  async converse(
    agent: BuilderAgent,
    { messages, editing }: BuilderQuestion,
  ): Promise<BuilderTurn> {
    const { clock } = this.#options;
    const { asked, problem } = await this.#modelFor(agent);
    if (asked === null) throw new SettingsError(problem ?? 'no model is set');
    const prompt = await promptFor(agent, editing);
    return (ear, signal) => runTurn({ asked, prompt, messages, clock, signal }, ear);
  }

  async skills({ directory }: BuilderAgent): Promise<CustomSkillJson[]> {
    await mendSkills(directory, this.#options.clock.now());
    return (await readAgentSkills(directory)).listed;
  }

  skill({ directory }: BuilderAgent, name: string): Promise<CustomSkillContentJson> {
    return readCustomSkill(directory, name);
  }

  async check(
    { directory }: BuilderAgent,
    draft: SkillDraftJson,
    editing: string | null,
  ): Promise<SkillCheckJson> {
    const check = await checkSkill(directory, { ...draft, editing });
    const tools = check.valid ? toolsToHold(draft) : [];
    const holds = tools.length === 0 ? null : await holdsOf(directory, tools, this.#options.env);
    return holds === null ? check : { ...check, holds };
  }

  save({ directory }: BuilderAgent, request: SaveRequest): Promise<SkillSaveResultJson> {
    const { env, clock } = this.#options;
    const variables = () => lenientEnvironment(directory, env);
    return this.#inTurn(directory, () =>
      saveSkill({ directory, env, variables }, request, clock.now()),
    );
  }

  #modelFor(agent: BuilderAgent | null): Promise<BuilderModel> {
    const { env } = this.#options;
    const places = { workspace: this.#folder, user: userFolder(env), env };
    return resolveModel(
      places,
      agent === null ? undefined : () => modelOfAgent(agent.directory, env),
    );
  }

  #inTurn<Result>(directory: string, save: () => Promise<Result>): Promise<Result> {
    const saved = (this.#saves.get(directory) ?? Promise.resolve()).then(save);
    this.#saves.set(
      directory,
      saved.catch(() => undefined),
    );
    return saved;
  }
}

/** Computes the hold rules that a save would write; `null` if there are none. */
async function holdsOf(
  directory: string,
  tools: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<SkillHoldsJson | null> {
  try {
    const place = { directory, env: await lenientEnvironment(directory, env) };
    const { heldAdded, to, isDeferTurnedOn, config } = planHeldRules(
      await usableAgent(place),
      tools,
    );
    const { before, after } = config;
    if (before === after) return null;
    return {
      tools: heldAdded,
      asks: to,
      defer_turned_on: isDeferTurnedOn,
      before,
      after,
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    return {
      tools: [...tools],
      asks: [],
      defer_turned_on: false,
      before: '',
      after: '',
      problem: error.message,
    };
  }
}

async function promptFor(
  { id, tools, directory }: BuilderAgent,
  name: string | null,
): Promise<string> {
  const editing = name === null ? null : { name, skill: await readCustomSkill(directory, name) };
  const { taken } = await readAgentSkills(directory);
  return builderPrompt({ agent: id, skills: taken, tools, editing });
}

function statusJson({ source, settings, hasKey, problem }: BuilderModel): BuilderStatusJson {
  return {
    provider: settings?.provider ?? null,
    model: settings?.model ?? null,
    source,
    has_key: hasKey,
    problem,
    deprecation_warning:
      source === 'agent_fallback'
        ? 'Skills are written by the model of this agent (deprecated); set a model in the settings of the skill builder.'
        : null,
  };
}

function settingsJson(model: BuilderModel, path: string): BuilderSettingsJson {
  const { settings } = model;
  return {
    ...statusJson(model),
    base_url: settings?.base_url ?? null,
    api_key_env: settings === null ? null : keyVariableOf(settings),
    path,
    providers: providersOffered.map(({ name, key }) => ({
      name,
      default_api_key_env: key,
      needs_base_url: name === 'openai-compatible',
    })),
  };
}
