import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { createActor } from 'xstate';
import { commandLine } from '../../actors/command-line.ts';
import { CreateError, createAgent, createGate } from '../../agent/create/create-agent.ts';
import { skillOffers } from '../../agent/skills/skill-offers.ts';
import { previewAgent } from '../../agent/start/preview-agent.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { type AgentAnswers, firstAnswers, questions } from '../../machines/wizard/agent-answers.ts';
import { agentPlan } from '../../machines/wizard/agent-plan.ts';
import type { WizardOffer } from '../../machines/wizard/offers.ts';
import { readAnswers } from '../../machines/wizard/read-answers.ts';
import { wizardMachine } from '../../machines/wizard/wizard-machine.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import { givenPassphrase } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { addressNote, environmentProvider, withEnvironmentAddress } from './environment-model.ts';
import { type AnswerFlags, answerByFlags, type GivenExtras } from './init-flags.ts';
import { wrongStep } from './wrong-step.ts';

export interface InitOptions extends AnswerFlags {
  dir?: string;
  gate?: boolean;
  answers?: string;
  variables?: string;
  yes?: boolean;
  /** False with `--no-input`. */
  input: boolean;
}

/** `init [name]`: prompts for the settings not given by flags and creates a runnable agent. */
export async function init(
  session: Session,
  name: string | undefined,
  options: InitOptions,
): Promise<void> {
  if (options.gate === true) return initGate(session, name, options);
  const offer = { skills: await skillOffers(), signIn: [] };
  const answers = await answersOf(session, { name, options, offer });
  const plan = agentPlan(answers);
  const directory = resolve(options.dir ?? plan.agentId);
  const files = await createAgent(plan, { directory, mayExist: true }).catch((error: unknown) => {
    throw error instanceof CreateError ? notMade(error) : error;
  });
  const { output } = session;
  for (const file of files) output.line(plainLine(`wrote ${file}`));
  const unset = plan.missing.filter((variable) => (session.env[variable] ?? '') === '');
  if (unset.length > 0) output.note(plainLine(`set ${unset.join(', ')} before you run it`));
  const told = addressNote(plan, session.env);
  if (told !== null) output.note(told);
  const flags = `--dir ${shellWord(directory)}`;
  output.note(plainLine(`run it with: ${commandLine(`run ${flags}`)}`));
  if (plan.service === null) output.note(nextOfGate());
  else nextOfAgent(session, flags);
  output.json({ agent_id: plan.agentId, directory, files });
}

/** Prints the commands that usually follow. */
function nextOfAgent({ output }: Session, flags: string): void {
  const tool = commandLine(`tool new cancel_order --python --arg order_id --held ${flags}`);
  output.note(plainLine(`add your first tool: ${tool}`));
  const server = commandLine(`mcp add files ${flags} -- node server.mjs`);
  output.note(plainLine(`add an MCP server: ${server}`));
}

function nextOfGate(): string {
  return `then send calls to POST /holds; ${commandLine('docs gate')} shows how`;
}

/** `init --gate`: creates an agent that holds calls of other programs. */
async function initGate(
  session: Session,
  name = 'gate',
  { dir }: Pick<InitOptions, 'dir'>,
): Promise<void> {
  const directory = resolve(dir ?? name);
  const files = await createGate(name, { directory, mayExist: true }).catch((error: unknown) => {
    throw error instanceof CreateError ? notMade(error) : error;
  });
  const { output } = session;
  for (const file of files) output.line(plainLine(`wrote ${file}`));
  const flags = `--dir ${shellWord(directory)}`;
  output.note(plainLine(`run it with: ${commandLine(`run ${flags}`)}`));
  output.note(nextOfGate());
  output.json({ agent_id: name, directory, files });
}

interface Asked {
  name: string | undefined;
  options: InitOptions;
  offer: WizardOffer;
}

async function answersOf(session: Session, { name, options, offer }: Asked): Promise<AgentAnswers> {
  const { stdin, output } = session;
  const passphrase = await givenPassphrase(session);
  const variables = await readVariables(session, options);
  const extras: GivenExtras = { name, variables, passphrase };
  const isAsking =
    options.yes !== true && options.input && stdin.isTTY === true && output.stderr.isTTY === true;
  const begun = await begunAnswers(session, options, { offer, isAsking });
  const wizard = createActor(wizardMachine, { input: { offer, answers: begun } }).start();
  // After going back, the user may also change values given by flags.
  let isByFlags = true;
  while (wizard.getSnapshot().status === 'active') {
    const { value, context } = wizard.getSnapshot();
    const step = questions.find((each) => each === value);
    const given =
      step === undefined || !isByFlags
        ? null
        : answerByFlags(step, context.answers, options, extras);
    if (step !== undefined && (given !== null || !isAsking)) {
      if (given !== null) wizard.send(given);
      const named = withEnvironmentAddress(step, wizard.getSnapshot().context.answers, session.env);
      if (named !== null) wizard.send(named);
      wizard.send({ type: 'step.next' });
      const { complaint } = wizard.getSnapshot().context;
      if (complaint !== null) throw wrongStep(step, complaint);
    } else if (!isAsking) wizard.send({ type: 'review.accept' });
    else {
      const { askNext } = await import('./ask-next.ts');
      const hosts = () => hostsOf(wizard.getSnapshot().context.answers, offer);
      isByFlags &&= await askNext(session, wizard, hosts);
    }
  }
  return wizard.getSnapshot().output ?? firstAnswers;
}

function hostsOf(answers: AgentAnswers, { skills }: WizardOffer): string[] {
  const { hosts } = previewAgent(answers, skills);
  return hosts.map(({ host, origin }) => plainLine(`${host} (${origin})`));
}

/** Maximum length of a file of answers or variables in characters. */
const longestFile = 1_000_000;

/** The answers file has the format of `POST /api/create`. */
async function begunAnswers(
  session: Session,
  { answers }: InitOptions,
  { offer: { skills }, isAsking }: { offer: WizardOffer; isAsking: boolean },
): Promise<AgentAnswers> {
  if (answers === undefined) {
    const provider = isAsking ? environmentProvider(session.env) : null;
    return provider === null ? firstAnswers : { ...firstAnswers, provider };
  }
  const text = await readText(session, answers, '--answers');
  try {
    return readAnswers(JSON.parse(text), skills);
  } catch (error) {
    throw usage(`${answers} holds no JSON`, '--answers', error);
  }
}

async function readVariables(
  session: Session,
  { variables: file }: InitOptions,
): Promise<Record<string, string> | null> {
  if (file === undefined) return null;
  const read = parseEnv(await readText(session, file, '--variables'));
  return Object.fromEntries(
    Object.entries(read).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

async function readText({ input }: Session, path: string, flag: string): Promise<string> {
  try {
    return path === '-' ? await input.rest(longestFile) : readFileSync(path, 'utf8');
  } catch (error) {
    throw usage(`${path} cannot be read`, flag, error);
  }
}

function usage(message: string, flag: string, cause: unknown): CliError {
  return new CliError(plainLine(message), {
    code: 'usage',
    exitCode: exitCodes.usage,
    cause,
    hint: `give ${flag} a file, or - for stdin`,
  });
}

function notMade(error: CreateError): CliError {
  const { code, message } = error;
  return new CliError(plainLine(message), {
    code: 'agent_not_written',
    exitCode: code === 'agent_taken' ? exitCodes.usage : exitCodes.failed,
    hint:
      code === 'agent_invalid'
        ? 'change the answers that it names; nothing was written'
        : 'name a folder without an agent with --dir',
    cause: error,
  });
}
