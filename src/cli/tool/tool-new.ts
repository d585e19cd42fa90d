import { relative, resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { type MadeTool, makeTool, type ToolOrder } from '../../agent/create/new-tool.ts';
import {
  sampleArguments,
  type ToolArgument,
  type ToolLanguage,
} from '../../agent/create/tool-texts.ts';
import { assumedEnvironment } from '../../agent/start/lenient-environment.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { agentDirectory } from '../agent-directory.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine, plainText } from '../plain-text.ts';
import { refuseChange } from '../refuse-change.ts';
import type { Session } from '../session.ts';

export interface ToolNewOptions {
  python?: boolean;
  sh?: boolean;
  js?: boolean;
  arg?: string[];
  description?: string;
  held?: boolean;
  to?: string;
  dir: string;
}

/** `tool new NAME`: writes a tool, prints the written files, and explains how to try the tool. */
export async function toolNew(
  session: Session,
  name: string,
  options: ToolNewOptions,
): Promise<void> {
  const { output, env } = session;
  const directory = agentDirectory(options.dir);
  const order = orderOf(name, options);
  // Sends no request to a model, so no key is needed.
  const place = { directory, env: await assumedEnvironment(directory, env) };
  const made = await makeTool(place, order).catch(refuseChange);
  const { skill, script, isNewSkill, section, scriptText, rules } = made;
  output.line(plainLine(`${isNewSkill ? 'wrote' : 'added to'} ${skill}`));
  printBlock(session, section);
  output.line(plainLine(`wrote ${script}`));
  printBlock(session, scriptText);
  if (rules !== null) printRule(session, resolve(directory, 'service.yaml'), order, rules);
  const flags = options.dir === '.' ? '' : ` --dir ${shellWord(options.dir)}`;
  const trial = trialOf(made, order, flags);
  output.note(
    plainLine(`an agent that runs has it from its next start on: ${commandLine(`run${flags}`)}`),
  );
  output.note(plainLine(`try it with: ${trial}`));
  output.json({
    ...{ tool: name, directory, skill: relative(directory, skill) },
    ...{ script: relative(directory, script), section },
    held: rules === null ? null : { to: rules.to },
    try: trial,
  });
}

function printBlock({ output }: Session, text: string): void {
  for (const line of plainText(text).trimEnd().split('\n')) output.line(`  ${line}`.trimEnd());
}

function printRule(
  { output }: Session,
  path: string,
  { name }: ToolOrder,
  { heldAdded, to, isDeferTurnedOn }: NonNullable<MadeTool['rules']>,
): void {
  if (heldAdded.length === 0) {
    output.line(plainLine(`${path} already has a rule for ${name}, which is unchanged`));
    return;
  }
  const asked = to.join(', ');
  const switched = isDeferTurnedOn ? ', and turned security.defer.enabled on' : '';
  output.line(plainLine(`added security.defer.tools.${name} to ${path}${switched}`));
  output.line(plainLine(`  its calls require approval by ${asked}`));
}

/** With a scripted model the example sends the call itself; with a real model it asks for the call in plain text. */
function trialOf({ config }: MadeTool, { name, args }: ToolOrder, flags: string): string {
  const call = sampleArguments(args);
  if (config.model.provider !== 'scripted') {
    const words = `call ${name} with ${JSON.stringify(call)}`;
    return commandLine(`task send ${shellWord(words)}${flags}`);
  }
  const script = JSON.stringify([{ tool: name, args: call }, { say: '{result}' }]);
  return commandLine(`task send try --script ${shellWord(script)}${flags}`);
}

function orderOf(name: string, options: ToolNewOptions): ToolOrder {
  const { arg = [], held = false, to, description } = options;
  if (to !== undefined && !held)
    throw usage('--to is the approval target of a held call', 'give --held as well');
  return {
    ...{ name, language: languageOf(options), args: arg.map(argumentOf), isHeld: held },
    ...(to === undefined ? {} : { to }),
    description:
      description?.trim() ??
      `${name}: say here what it does and when to use it, as the model chooses by this.`,
  };
}

function languageOf(options: ToolNewOptions): ToolLanguage {
  const given = (['python', 'sh', 'js'] as const).filter((each) => options[each] === true);
  const [language] = given;
  if (language !== undefined && given.length === 1) return language;
  throw usage(
    language === undefined
      ? 'nothing says which language the script is in'
      : 'a tool has one script',
    'give one of --python, --sh and --js',
  );
}

function argumentOf(text: string): ToolArgument {
  const [, name = text, type = 'string', mark] = /^([^:]*?)(?::(.*?))?(\?)?$/.exec(text) ?? [];
  return { name, type: type.trim(), isOptional: mark === '?' };
}

function usage(message: string, hint: string): CliError {
  return new CliError(message, { code: 'usage', exitCode: exitCodes.usage, hint });
}
