import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConfigProblem, filesWithSchema, formatProblem } from '../../actors/config/config.ts';
import {
  changeSecrets,
  SecretsError,
  VariableError,
  writeEnvironment,
} from '../../actors/secrets/secrets.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { isMissingProgram, type RegistrySkill } from '../../actors/tools/tools.ts';
import {
  AddSkillError,
  addSkill,
  addToFolder,
  FolderTakenError,
  newFolder,
} from '../../actors/workspace/workspace.ts';
import type { JsonObject } from '../../machines/json.ts';
import type { AgentPlan } from '../../machines/wizard/agent-plan.ts';
import { writePin } from '../skills/skill-pins.ts';
import { registrySkill } from '../skills/skill-registry.ts';
import { assumedEnvironment } from '../start/lenient-environment.ts';
import { readAgent } from '../start/read-agent.ts';
import { channelText, gateText, serviceText } from './service-text.ts';
import { writeSchemas } from './write-schemas.ts';

export interface CreateOptions {
  /** Absolute path of the folder to create. */
  directory: string;
  /** True if the folder may already exist, as long as it contains no agent. */
  mayExist: boolean;
}

/** Creating an agent failed. No file was left behind. */
export class CreateError extends Error {
  readonly code: 'agent_taken' | 'agent_invalid' | 'agent_unwritable';
  /** The step of the wizard whose answers the agent cannot start with; `null` if that is unknown. */
  step: 'skills' | null = null;

  constructor(code: CreateError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Creates an agent's folder atomically after validating its configuration. Returns the paths of its files. Rejects with
 * CreateError.
 */
export async function createAgent(plan: AgentPlan, options: CreateOptions): Promise<string[]> {
  const { directory } = options;
  const files = filesOf(plan);
  await createFolder(options, async (draft) => {
    await writeFiles(draft, files);
    for (const skill of plan.skills) await copySkill(draft, skill);
    await writeSecrets(join(draft, '.service'), plan);
    await check(draft, plan);
  });
  const secret = secretsFile(plan);
  const secrets = secret === null ? [] : [join('.service', secret)];
  const skills = plan.skills.map((skill) => join('skills', skill));
  const made = [...files.keys(), ...secrets, ...skills].map((name) => join(directory, name));
  return [...made, ...(await schemasOf(directory, files))];
}

/**
 * Creates a gate's folder from the example. Returns the paths of its files. Rejects with CreateError for a name that is
 * not kebab-case, and for a folder that holds an agent.
 */
export function createGate(agentId: string, options: CreateOptions): Promise<string[]> {
  return createGateOf(gateText(agentId), options);
}

/** Creates a gate's folder with this `service.yaml`. Returns the paths of its files. Rejects with CreateError. */
export async function createGateOf(service: string, options: CreateOptions): Promise<string[]> {
  const files = new Map([['service.yaml', service], ...ignored]);
  await createFolder(options, async (draft) => {
    await writeFiles(draft, files);
    await check(draft, { variables: new Map(), missing: [] });
  });
  const made = [...files.keys()].map((name) => join(options.directory, name));
  return [...made, ...(await schemasOf(options.directory, files))];
}

/** An agent from the configuration of another product. */
export interface ImportedAgent {
  service: JsonObject;
  secrets: Readonly<Record<string, string>>;
  skills: readonly RegistrySkill[];
  /** Where the skills come from, for their pins. */
  source: string;
  env: NodeJS.ProcessEnv;
}

/** What an imported agent still needs on this machine. */
export interface Unmet {
  variables: string[];
  programs: string[];
  /** Programs and files of MCP servers that are missing, or that the sandbox hides. */
  warnings: ConfigProblem[];
}

/**
 * Creates the folder of an imported agent. Variables and programs that this machine lacks are returned and not
 * required. Rejects with CreateError.
 */
export async function createImported(
  { service, secrets, skills, source, env }: ImportedAgent,
  options: CreateOptions,
): Promise<{ files: string[]; unmet: Unmet }> {
  const files = new Map([
    ['service.yaml', serviceText({ agentId: '', service, note: '' })],
    ...ignored,
  ]);
  const known = { ...env, ...secrets };
  const variables = variablesIn(service, skills, known);
  const unmet: Unmet = { variables, programs: [], warnings: [] };
  await createFolder(options, async (draft) => {
    await writeFiles(draft, files);
    for (const { skill, text, scripts, others = new Map(), digest } of skills) {
      await addSkill(draft, { name: skill.id, skill_md: text, scripts, others });
      await writePin(draft, skill.id, { source, sha256: digest });
    }
    if (Object.keys(secrets).length > 0) {
      await mkdir(join(draft, '.service'), { mode: 0o700 });
      await writeEnvironment(join(draft, '.service'), secrets);
    }
    const assumed = await assumedEnvironment(draft, env);
    const { problems, agent } = await readAgent(draft, assumed, systemClock());
    const isProgram = ({ message }: ConfigProblem) => isMissingProgram(message);
    unmet.programs = problems.filter(isProgram).map(({ message }) => message);
    refuseProblems(
      agent,
      problems.filter((problem) => !isProgram(problem)),
    );
  });
  unmet.warnings = await serverWarnings(options.directory, env);
  const names = skills.map(({ skill }) => join('skills', skill.id));
  const kept = Object.keys(secrets).length === 0 ? [] : [join('.service', '.env')];
  const made = [...files.keys(), ...kept, ...names].map((name) => join(options.directory, name));
  return { files: [...made, ...(await schemasOf(options.directory, files))], unmet };
}

/** Lists the warnings about MCP servers. A file that the draft of the agent would not have may lie in its folder. */
async function serverWarnings(directory: string, env: NodeJS.ProcessEnv): Promise<ConfigProblem[]> {
  const assumed = await assumedEnvironment(directory, env);
  const { warnings } = await readAgent(directory, assumed, systemClock());
  return warnings.filter(({ path }) => path.startsWith('mcp.servers.'));
}

/**
 * Writes the schemas that the first lines of the files name. The agent exists without them, so a failure is left to
 * `schema --write`.
 */
function schemasOf(directory: string, files: ReadonlyMap<string, string>): Promise<string[]> {
  const described = [...files.keys()].filter((name) => filesWithSchema.includes(name));
  return writeSchemas(directory, described).catch(() => []);
}

/** Lists the variables that the configuration names, or a skill requires, and that are not set. */
function variablesIn(
  service: JsonObject,
  skills: readonly RegistrySkill[],
  env: NodeJS.ProcessEnv,
): string[] {
  const text = JSON.stringify(service).replaceAll('$${', '');
  const named = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const required = skills.flatMap(({ skill }) => skill.requires.env.required);
  return [...new Set([...named, ...required])].filter((name) => (env[name] ?? '') === '');
}

async function writeFiles(draft: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, content] of files) {
    await writeFile(join(draft, name), content, { flag: 'wx' });
  }
}

async function createFolder(
  { directory, mayExist }: CreateOptions,
  fill: (draft: string) => Promise<void>,
): Promise<void> {
  try {
    const isAddition = mayExist && existsSync(directory);
    if (isAddition)
      await addToFolder(directory, { kept: ['.gitignore'], last: 'service.yaml' }, fill);
    else await newFolder(directory, fill);
  } catch (error) {
    throw asCreateError(error, directory);
  }
}

const ignored = [['.gitignore', '.service/\n']] as const;

/** Returns the file contents of a plan by file name, in display order. */
function filesOf(plan: AgentPlan): Map<string, string> {
  return new Map([
    ['service.yaml', serviceText(plan)],
    ...ignored,
    ...Object.entries(plan.channelFiles).map(
      ([name, content]) => [name, channelText(name, content)] as const,
    ),
  ]);
}

async function copySkill(draft: string, name: string): Promise<void> {
  const found = await registrySkill(name);
  if (found === null)
    throw new CreateError('agent_invalid', `there is no skill ${name} in the registry`);
  await addSkill(draft, { name, skill_md: found.text, scripts: found.scripts });
}

/** Returns the name of the secrets file; `null` if the plan has no secrets. */
function secretsFile({ passphrase, variables }: AgentPlan): string | null {
  if (variables.size === 0) return null;
  return passphrase === '' ? '.env' : 'secrets.enc';
}

async function writeSecrets(folder: string, plan: AgentPlan): Promise<void> {
  const { passphrase, variables } = plan;
  const file = secretsFile(plan);
  if (file === null) return;
  await mkdir(folder, { mode: 0o700 });
  if (file === '.env') await writeEnvironment(folder, Object.fromEntries(variables));
  else {
    await changeSecrets(join(folder, file), passphrase, (secrets) => {
      for (const [name, value] of variables) secrets.set(name, value);
    });
  }
}

/** The model's API keys may come from the environment of the user who starts the agent. */
async function check(
  draft: string,
  { variables, missing }: Pick<AgentPlan, 'variables' | 'missing'>,
): Promise<void> {
  const keys = missing
    .filter((name) => name.endsWith('_API_KEY'))
    .map((name) => [name, 'unset'] as const);
  const env = { ...Object.fromEntries(keys), ...Object.fromEntries(variables) };
  const { problems, agent } = await readAgent(draft, env, systemClock());
  refuseProblems(agent, problems);
}

function refuseProblems(agent: unknown, [first]: readonly ConfigProblem[]): void {
  if (agent !== null && first === undefined) return;
  const why = first === undefined ? 'its files cannot be read' : formatProblem(first);
  const error = new CreateError('agent_invalid', `the agent would not start: ${why}`);
  if (first?.file.startsWith('skills/') === true) error.step = 'skills';
  throw error;
}

function asCreateError(error: unknown, directory: string): CreateError {
  if (error instanceof CreateError) return error;
  const { message } = error as Error;
  if (error instanceof FolderTakenError)
    return new CreateError('agent_taken', message, { cause: error });
  if (
    error instanceof SecretsError ||
    error instanceof VariableError ||
    error instanceof AddSkillError ||
    error instanceof RangeError
  ) {
    return new CreateError('agent_invalid', message, { cause: error });
  }
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
  return new CreateError('agent_unwritable', `${directory} cannot be written (${code})`, {
    cause: error,
  });
}
