import { Command, CommanderError } from 'commander';
import { commandLine } from '../actors/command-line.ts';
import { version } from '../version.ts';
import { auditCommand } from './audit/audit-command.ts';
import { backupCommand, restoreCommand } from './backup/backup-command.ts';
import type { BuildOptions } from './build.ts';
import { cardCommand } from './card/card-command.ts';
import { CliError, type ExitCode, exitCodes } from './cli-error.ts';
import { completionCommand } from './completion/completion-command.ts';
import { addDaemonFlags } from './daemon-flags.ts';
import { delegateCommand } from './delegate/delegate-command.ts';
import { docsCommand } from './docs/docs-command.ts';
import type { DoctorOptions } from './doctor/doctor.ts';
import { grantsCommand } from './grants/grants-command.ts';
import { guardCommand } from './guard/guard-command.ts';
import { hookCommand } from './hook/hook-command.ts';
import { importCommand } from './import/import-command.ts';
import type { InitOptions } from './init/init.ts';
import { keyCommand } from './key/key-command.ts';
import { effectsCommand, limitsCommand } from './limits/limits-command.ts';
import { mcpCommand } from './mcp/mcp-command.ts';
import { addValue, countValue, portValue } from './option-values.ts';
import type { Output } from './output.ts';
import { peopleCommand } from './people/people-command.ts';
import { policyCommand } from './policy/policy-command.ts';
import { receiptCommand } from './receipt/receipt-command.ts';
import type { RunOptions } from './run.ts';
import type { SchemaOptions } from './schema.ts';
import { secretCommand } from './secret/secret-command.ts';
import { serveCommand } from './serve/serve-command.ts';
import type { Session } from './session.ts';
import { skillsCommand } from './skills/skills-command.ts';
import { slackCommand } from './slack/slack-command.ts';
import { storeCommand } from './store/store-command.ts';
import { taskCommand } from './task/task-command.ts';
import { toolCommand } from './tool/tool-command.ts';
import type { TryOptions } from './try/try.ts';
import type { UiOptions } from './ui/ui.ts';
import { rollbackCommand, upgradeCommand } from './upgrade/upgrade-command.ts';
import type { ValidateOptions } from './validate.ts';

/** Runs one command line and returns its exit code. Throws errors that `explain` handles. */
export async function runCommandLine(argv: readonly string[], session: Session): Promise<ExitCode> {
  const program = createProgram(session);
  // Shell completion passes incomplete words that must not be parsed as options.
  if (argv[0] === 'complete' && argv[1] === '--') {
    const { answerShell } = await import('./completion/answer-shell.ts');
    await answerShell(session, program, argv.slice(2));
    return exitCodes.done;
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.done;
    throw usageError(error, namedCommand(program, argv));
  }
}

function createProgram(session: Session): Command {
  const program = new Command('holdpoint')
    .description('Runs agents whose risky tool calls wait for a named person.')
    .version(version)
    .option('--json', 'print JSON on stdout: one document, or one line an event')
    .option('--debug', 'print the stack trace of an error')
    .option('--no-color', 'print without colours')
    .option(
      '--passphrase-stdin',
      'read the passphrase of the secrets from the first line of stdin; SERVICE_PASSPHRASE works too',
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => writeOut(session.output, text),
      writeErr: (text) => session.output.stderr.write(text),
      outputError: () => undefined,
    })
    .addHelpText('after', exitCodeHelp)
    .exitOverride();
  const commands = [
    tryCommand(session),
    initCommand(session),
    importCommand(session),
    runCommand(session),
    serveCommand(session),
    uiCommand(session),
    taskCommand(session),
    validateCommand(session),
    schemaCommand(session),
    buildCommand(session),
    policyCommand(session),
    peopleCommand(session),
    delegateCommand(session),
    grantsCommand(session),
    limitsCommand(session),
    effectsCommand(session),
    auditCommand(session),
    receiptCommand(session),
    storeCommand(session),
    backupCommand(session),
    restoreCommand(session),
    upgradeCommand(session),
    rollbackCommand(session),
    cardCommand(session),
    mcpCommand(session),
    keyCommand(session),
    secretCommand(session),
    skillsCommand(session),
    toolCommand(session),
    hookCommand(),
    guardCommand(session),
    slackCommand(session),
    doctorCommand(session),
    docsCommand(session),
    completionCommand(session),
  ];
  for (const command of commands) program.addCommand(inherit(command, program));
  return program;
}

/** Commands added as a whole do not inherit their parent's output and exit settings. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
  return command;
}

function tryCommand(session: Session): Command {
  return new Command('try')
    .description('play with a refund agent in a temporary folder; needs no key, uses one it finds')
    .option('--keep <dir>', 'create the agent in this folder and keep it; it must be new or empty')
    .option('--story', 'play a refund from request to audit log without questions')
    .option('--slack-demo', 'approve in a fake Slack on this machine; a script is the model')
    .option('--scripted', 'use a script as the model, even if a key or ollama is found')
    .action(async (options: TryOptions) => {
      const { tryAgent } = await import('./try/try.ts');
      await tryAgent(session, options);
    });
}

function initCommand(session: Session): Command {
  return new Command('init')
    .description('create an agent: asks at a terminal for missing flags')
    .argument('[name]', 'its name, such as refund-desk')
    .option('--dir <dir>', 'folder to make it in (default: its name)')
    .option('--gate', 'make a gate, which holds the calls of other programs')
    .option('--provider <provider>', 'model provider (default: scripted, which needs no key)')
    .option('--model <name>', 'model of that provider')
    .option('--base-url <url>', 'address of the provider, if not the default')
    .option('--organization-id <id>', 'organisation that openai bills')
    .option('--channels <names>', 'slack, telegram and webhook, with commas between', listValue)
    .option(
      '--channel-setting <setting>',
      'such as webhook.url=https://ops.example.com/approvals; may be repeated',
      addValue,
    )
    .option('--tools <names>', 'builtin tools, with commas between them', listValue)
    .option('--search <service>', 'search provider of web_search: tavily or perplexity')
    .option('--commands <names>', 'programs that cli_execute may run, with commas', listValue)
    .option('--skills <names>', 'skills of the registry, with commas between them', listValue)
    .option(
      '--fallback <model>',
      'such as google/gemini-2.5-pro, used when the model is unavailable; may be repeated',
      addValue,
    )
    .option('--auth <mode>', 'authentication of callers, a type of auth.providers (default: none)')
    .option(
      '--auth-setting <setting>',
      'such as issuer=https://id.example.com; may be repeated',
      addValue,
    )
    .option('--egress <mode>', 'egress mode: allowlist, deny-all or dev-open')
    .option('--allow <hosts>', 'hosts that tools may reach, with commas between them', listValue)
    .option('--held <names>', 'tools that wait for a person, with commas between them', listValue)
    .option('--to <target>', 'approval target (default: channel:console:*)')
    .option('--timeout <duration>', 'timeout of a wait (default: 5m)')
    .option('--quorum <n>', 'required approvals (default: 1)', countValue)
    .option('--approvers <emails>', 'approvers, separated by commas', listValue)
    .option('--variables <file>', 'file of variables, including keys and tokens; - for stdin')
    .option('--answers <file>', 'all answers as JSON, as the dashboard sends them; - for stdin')
    .option('--yes', 'ask nothing')
    .option('--no-input', 'ask nothing, and report missing flags')
    .action(async (name: string | undefined, options: InitOptions) => {
      const { init } = await import('./init/init.ts');
      await init(session, name, options);
    });
}

function listValue(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function runCommand(session: Session): Command {
  const command = new Command('run')
    .description('run an agent in the foreground; Ctrl-C stops it')
    .option(
      '--inspect [port]',
      'stream the live statecharts to viewers on this machine (port: 8181)',
      portValue,
    );
  return addDaemonFlags(command).action(async (options: RunOptions) => {
    const { run } = await import('./run.ts');
    await run(session, options);
  });
}

function uiCommand(session: Session): Command {
  return new Command('ui')
    .description('serve the dashboard of a folder of agents; agents continue after Ctrl-C')
    .option('--dir <dir>', 'the workspace: a folder with agents in it', '.')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on', portValue, 4200)
    .option('--no-open', 'do not open the browser')
    .option('--token', 'require the token that is printed with the address', true)
    .option('--no-token', 'require no token: every program on this machine can then approve calls')
    .option(
      '--public-url <url>',
      'public URL of the TLS proxy; sign-in is configured in dashboard.yaml',
    )
    .option('--demo', 'create a temporary workspace with three running agents')
    .action(async (options: UiOptions) => {
      const { ui } = await import('./ui/ui.ts');
      await ui(session, options);
    });
}

function validateCommand(session: Session): Command {
  return new Command('validate')
    .description('check service.yaml and skills, and report each problem with its place')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (options: ValidateOptions) => {
      const { validate } = await import('./validate.ts');
      await validate(session, options);
    });
}

function schemaCommand(session: Session): Command {
  return new Command('schema')
    .description('print the JSON Schema of service.yaml or of another file, for editors')
    .argument('[name]', 'the file, such as people.yaml (default: service.yaml)')
    .option('--write', 'write it into .service, for the editor of an agent')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (file: string | undefined, options: SchemaOptions) => {
      const { schema } = await import('./schema.ts');
      await schema(session, file, options);
    });
}

function buildCommand(session: Session): Command {
  return new Command('build')
    .description('write the skills of the agent card to .service/build')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (options: BuildOptions) => {
      const { build } = await import('./build.ts');
      await build(session, options);
    });
}

function doctorCommand(session: Session): Command {
  return new Command('doctor')
    .description('check this machine and an agent, and report how to fix problems')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor/doctor.ts');
      await doctor(session, options);
    });
}

/** Help and version are text; with --json they are printed as a document like all other output. */
function writeOut(output: Output, text: string): void {
  if (!output.isJson) output.stdout.write(text);
  output.json(text.trim() === version ? { version } : { help: text });
}

/** Returns the command names at the start of a command line, such as `task get`. */
function namedCommand(program: Command, argv: readonly string[]): string {
  let command = program;
  const names: string[] = [];
  for (const word of argv.filter((candidate) => !candidate.startsWith('-'))) {
    const next = command.commands.find((child) => child.name() === word);
    if (next === undefined) break;
    command = next;
    names.push(word);
  }
  return names.join(' ');
}

function usageError(error: CommanderError, command: string): CliError {
  const isBare = error.code === 'commander.help';
  const words = error.message
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(' is invalid. ', ' is invalid: ')
    .replace(/\.$/, '');
  return new CliError(isBare ? 'no command was given' : words, {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: `see ${commandLine(`${command} --help`.trim())}`,
    cause: error,
  });
}

const exitCodeHelp = `
Exit codes:
  0 done, 1 failed, 2 wrong usage, 3 not running or not found, 4 not authorized or passphrase,
  5 configuration invalid, 6 audit log broken, 7 timeout, 130 interrupted
Documentation: holdpoint docs`;
