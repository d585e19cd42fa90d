import { join } from 'node:path';
import { readSection } from '../../actors/config/config.ts';
import type { Clock } from '../../actors/ports.ts';
import { isUsualModel } from '../../actors/providers/providers.ts';
import { SecretsError, VariableError } from '../../actors/secrets/secrets.ts';
import { toolsToHold } from '../../actors/tools/tools.ts';
import { AddSkillError, ConfigFileError } from '../../actors/workspace/workspace.ts';
import { agentEnvironment, environmentFolder } from '../../agent/agent-environment.ts';
import { checkAgent } from '../../agent/agent-findings.ts';
import { planHeldRules, usableAgent, writeHeldRules } from '../../agent/held-rules.ts';
import { lenientEnvironment } from '../../agent/lenient-environment.ts';
import {
  type BuilderAgent,
  BuilderError,
  type SaveAnswer,
  type SaveOrder,
  type SkillBuilder,
} from '../../http/dashboard/skill-builder.ts';
import type {
  BuilderSettingsJson,
  BuilderStatusJson,
  SkillCheckJson,
  SkillHoldsJson,
} from '../../http/wire/dashboard/builder-json.ts';
import {
  type BuilderModel,
  builderPrompt,
  checkSkill,
  keyVariableOf,
  listSkills,
  type ModelOfAgent,
  mendSkills,
  providersOffered,
  readCustomSkill,
  resolveModel,
  runTurn,
  SettingsError,
  SkillFileError,
  saveSettings,
  saveSkill,
  takenNames,
  userFolder,
} from './builder.ts';

export interface SkillBuilderOptions {
  workspace: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
}

/** Assembles the skill builder for the agents of a workspace. */
export function skillBuilder({ workspace, env, clock }: SkillBuilderOptions): SkillBuilder {
  const folder = join(workspace, '.service');
  const places = { workspace: folder, user: userFolder(env), env };
  const modelFor = (agent: BuilderAgent | null) =>
    resolveModel(places, agent === null ? undefined : () => modelOfAgent(agent.directory, env));
  const settings = async () => settingsJson(await modelFor(null), join(folder, 'ui.yaml'));
  // Saves run one after another; concurrent saves would overwrite each other's changes.
  let saving: Promise<unknown> = Promise.resolve();
  const saves = new Map<string, Promise<unknown>>();
  return {
    settings,
    async saveSettings(request) {
      const saved = saving.then(() => saveSettings(folder, request));
      saving = saved.catch(() => undefined);
      await saved.catch(refuse);
      return settings();
    },
    status: async (agent) => statusJson(await modelFor(agent)),
    prompt: (agent) => promptFor(agent, null),
    async converse(agent, { messages, editing }) {
      const { asked, problem } = await modelFor(agent);
      if (asked === null) throw new BuilderError('refused', problem ?? 'no model is set');
      const prompt = await promptFor(agent, editing).catch(refuse);
      return (ear, signal) => runTurn({ asked, prompt, messages, clock, signal }, ear);
    },
    async skills({ directory }) {
      await mendSkills(directory, clock.now());
      return listSkills(directory);
    },
    skill: ({ directory }, name) => readCustomSkill(directory, name).catch(refuse),
    async check({ directory }, draft, editing) {
      const check = checkJson(await checkSkill(directory, { ...draft, editing }).catch(refuse));
      const holds = check.valid ? await holdsOf(directory, toolsToHold(draft), env) : null;
      return holds === null ? check : { ...check, holds };
    },
    save({ directory }, order) {
      const before = saves.get(directory) ?? Promise.resolve();
      const saved = before.then(() => save(directory, order, { env, clock }));
      saves.set(
        directory,
        saved.catch(() => undefined),
      );
      return saved.catch(refuse);
    },
  };
}

async function save(
  directory: string,
  { draft, ...order }: SaveOrder,
  { env, clock }: Pick<SkillBuilderOptions, 'env' | 'clock'>,
): Promise<SaveAnswer> {
  const { providers } = readSection(directory, 'secrets', env);
  const outcome = await saveSkill(
    directory,
    { ...draft, ...order },
    {
      check: async (folder, content) => {
        const { problems } = await checkAgent(
          folder,
          await lenientEnvironment(folder, env),
          content,
        );
        return { errors: problems };
      },
      async hold(tools) {
        const place = { directory, env: await lenientEnvironment(directory, env) };
        const rules = await planHeldRules(directory, (await usableAgent(place)).config, tools);
        return { added: rules.heldAdded, rollBack: await writeHeldRules(place, rules) };
      },
      environment: providers.includes('env') ? environmentFolder(directory, env) : null,
      variables: () => lenientEnvironment(directory, env),
      now: clock.now(),
    },
  );
  switch (outcome.kind) {
    case 'saved': {
      const { kind, ...result } = outcome;
      return { kind, result };
    }
    case 'invalid':
      return { kind: 'invalid', check: checkJson(outcome.findings) };
    default:
      return outcome;
  }
}

/** Computes the hold rules that a save would write; `null` if there are none. */
async function holdsOf(
  directory: string,
  tools: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<SkillHoldsJson | null> {
  if (tools.length === 0) return null;
  const unwritten = { asks: [], defer_turned_on: false, before: '', after: '' };
  try {
    const place = { directory, env: await lenientEnvironment(directory, env) };
    const { config } = await usableAgent(place);
    const rules = await planHeldRules(directory, config, tools);
    const { heldAdded, to, isDeferTurnedOn } = rules;
    const { before, after } = rules.config;
    if (before === after) return null;
    return {
      ...{ tools: heldAdded, asks: to, defer_turned_on: isDeferTurnedOn, before, after },
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    return { ...unwritten, tools: [...tools], problem: error.message };
  }
}

function checkJson(findings: Awaited<ReturnType<typeof checkSkill>>): SkillCheckJson {
  const told = (level: string) =>
    findings
      .filter((finding) => finding.level === level)
      .map(({ rule, message, file = null, line = null, column = null }) => ({
        ...{ rule, message, file, line, column },
      }));
  const errors = told('error');
  return { valid: errors.length === 0, errors, warnings: told('warning') };
}

async function promptFor(
  { id, tools, directory }: BuilderAgent,
  name: string | null,
): Promise<string> {
  const editing = name === null ? null : { name, skill: await readCustomSkill(directory, name) };
  return builderPrompt({ agent: id, skills: await takenNames(directory), tools, editing });
}

/**
 * Returns an agent's model with its own API key. Builds the agent's variables anew, so that variables of two agents are
 * never mixed. A model other than the default one is read without any variable of this process, because the author of
 * the folder may have put a variable into the base URL. `null` if the agent has no model that can write skills.
 */
async function modelOfAgent(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<ModelOfAgent | null> {
  const usual = await modelWith(directory, await ownEnvironment(directory, env));
  return usual === null || isUsualModel(usual.settings)
    ? usual
    : modelWith(directory, await ownEnvironment(directory, {}));
}

async function modelWith(directory: string, env: NodeJS.ProcessEnv): Promise<ModelOfAgent | null> {
  // A missing key must not hide which model needs it.
  const { config } = await checkAgent(directory, withKeys(env));
  if (config === null || config.model.provider === 'scripted') return null;
  const { provider, name, base_url, api_key_env, organization_id: organization } = config.model;
  const reach = base_url === '' ? {} : { base_url };
  return { settings: { provider, model: name, ...reach, api_key_env, organization }, env };
}

/** Replaces every missing key with a placeholder. */
function withKeys(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const valueOf = (name: string | symbol): string | undefined =>
    typeof name === 'string'
      ? (env[name] ?? (isKeyName.test(name) ? 'missing' : undefined))
      : undefined;
  return new Proxy(env, {
    get: (_, name) => valueOf(name),
    has: (_, name) => valueOf(name) !== undefined,
    getOwnPropertyDescriptor(_, name) {
      const value = valueOf(name);
      if (value === undefined) return undefined;
      return { value, configurable: true, enumerable: true, writable: true };
    },
  });
}

const isKeyName = /^(?!SERVICE_|OTEL_)[A-Z0-9_]*(?:KEY|TOKEN|SECRET)[A-Z0-9_]*$/;

async function ownEnvironment(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  try {
    return (await agentEnvironment(directory, { env, passphrase: null })).env;
  } catch (error) {
    if (error instanceof SecretsError) return {};
    throw error;
  }
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
        ? 'Skills are written by the model of this agent, which will not be possible for ever; name a model in the settings of the skill builder.'
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

/** Throws the error in the format of the port. */
function refuse(error: unknown): never {
  throw refusalOf(error);
}

function refusalOf(error: unknown): unknown {
  if (error instanceof SkillFileError) return new BuilderError(error.code, error.message);
  if (error instanceof VariableError) return new BuilderError('refused', error.message);
  if (error instanceof AddSkillError) return new BuilderError('unusable', error.message);
  if (error instanceof SettingsError) return new BuilderError('refused', error.message);
  if (error instanceof SecretsError) return new BuilderError('unusable', error.message);
  return error;
}
