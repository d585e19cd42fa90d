import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { AgentClient } from '../../src/cli/agent-client.ts';
import { untilDeferred } from '../../src/cli/demo/until-deferred.ts';
import { findAgent } from '../../src/cli/find-agent.ts';
import { keepInPostgres, leaveStore, storeEnvironment } from '../helpers/kept-store.ts';
import { commandFile, compileCache } from '../helpers/real-command.ts';

const clone = fileURLToPath(new URL('../..', import.meta.url));

/** What a command printed, and the code it ended in; `signal` when it did not end by itself. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A command at work. */
export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
}

/** How a command is started. */
export interface CommandOptions {
  input?: string;
  env?: Record<string, string>;
  cwd?: string;
}

const running = new Set<ChildProcess>();
const folders = new Set<string>();

/** Runs the real command to its end. */
export function holdpoint(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  return startCommand(args, options).ended;
}

/** Starts the real command. */
export function startCommand(args: readonly string[], options: CommandOptions = {}): Running {
  const [program, ...words] = commandWords(args);
  return startProcess(program!, words, options);
}

/** Starts a program in an environment without settings of this machine. */
export function startProcess(
  program: string,
  args: readonly string[],
  { input, env = {}, cwd = tmpdir() }: CommandOptions = {},
): Running {
  const child = spawn(program, args, { cwd, env: { ...cleanEnvironment(), ...env } });
  running.add(child);
  if (input !== undefined) child.stdin.end(input);
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [code, signal]]) => {
      running.delete(child);
      return {
        code: code as number | null,
        signal: signal as NodeJS.Signals | null,
        stdout,
        stderr,
      };
    },
  );
  return { child, ended };
}

/** The words of the real command. */
export function commandWords(args: readonly string[]): string[] {
  return [process.execPath, '--disable-warning=ExperimentalWarning', commandFile(), ...args];
}

/** The command line of the real command, for a shell. */
export function shellCommand(args: readonly string[]): string {
  return commandWords(args)
    .map((word) => `'${word}'`)
    .join(' ');
}

/** A daemon that answers. */
export interface Daemon extends Running {
  url: string;
  directory: string;
  client: AgentClient;
  /** Asks the daemon to stop and answers how it ended. */
  stop(): Promise<Ended>;
}

/** Runs an agent on a free port and returns once it is ready. */
export async function startDaemon(
  directory: string,
  { args = [], env = {} }: { args?: readonly string[]; env?: Record<string, string> } = {},
): Promise<Daemon> {
  const started = startCommand(['run', '--dir', directory, '--port', '0', '--json', ...args], {
    env,
  });
  const ready = JSON.parse(await firstLine(started)) as { url: string };
  const client = new AgentClient(findAgent({ dir: directory }, {}));
  return {
    ...started,
    url: ready.url,
    directory,
    client,
    async stop() {
      started.child.kill('SIGTERM');
      const ended = await started.ended;
      await client.close();
      return ended;
    },
  };
}

/** Answers the first line on stdout. Rejects with what the command said when it ends without one. */
export async function firstLine({ child, ended }: Running): Promise<string> {
  if (child.stdout === null) throw new Error('stdout is not piped');
  const lines = createInterface({ input: child.stdout });
  const line = once(lines, 'line').then(([first]) => first as string);
  const nothing = ended.then(({ code, stderr }): string => {
    throw new Error(`ended with ${code}: ${stderr}`);
  });
  const first = await Promise.race([line, nothing]);
  nothing.catch(() => undefined);
  return first;
}

/** Waits until a task is held for a person. */
export function untilHeld({ client }: Daemon, id: string) {
  return untilDeferred({ agent: client, signal: new AbortController().signal }, id);
}

/** Copies the refund agent, with another `service.yaml` when one is given. */
export async function refundAgent(service?: string): Promise<string> {
  const directory = await temporaryFolder();
  const filter = (path: string): boolean => !path.endsWith('.service');
  await cp(join(clone, 'examples', 'refunds'), directory, { recursive: true, filter });
  const path = join(directory, 'service.yaml');
  if (service !== undefined) await writeFile(path, service);
  await keepItsStore(directory, await readFile(path, 'utf8'));
  return directory;
}

/** Has the agent of a folder, whose `service.yaml` is given, keep its tasks where tests want them. */
async function keepItsStore(directory: string, service: string): Promise<void> {
  const agentId = /^agent_id: *(\S+)/m.exec(service)?.[1];
  if (agentId === undefined || /^store:/m.test(service)) return;
  const store = keepInPostgres(directory, agentId);
  if (store === null) return;
  await writeFile(join(directory, 'service.yaml'), `${service}\nstore: ${JSON.stringify(store)}\n`);
}

/** Makes a folder that goes with the tests. */
export async function temporaryFolder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'holdpoint-test-'));
  folders.add(directory);
  return directory;
}

/** Ends every command that is still at work and removes the folders; for `afterAll`. */
export async function cleanUp(): Promise<void> {
  for (const child of running) child.kill('SIGKILL');
  for (const directory of folders) {
    await rm(directory, { recursive: true, force: true });
    leaveStore(directory);
  }
  folders.clear();
}

/** The environment without settings of this machine. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const unwanted = /^(SERVICE_|NO_COLOR$|FORCE_COLOR$|TERM$|VITEST|CI$|\w+_API_KEY$)/;
  const wanted = Object.entries(process.env).filter(([name]) => !unwanted.test(name));
  const wantedHere = { ...Object.fromEntries(wanted), ...storeEnvironment() };
  return { ...wantedHere, NODE_COMPILE_CACHE: compileCache() };
}

/** The folder of an agent that has ended two tasks, `t-1` and `t-2`, and was stopped; and its log. */
export async function agentWithLog(): Promise<{ directory: string; log: string }> {
  const directory = await refundAgent('agent_id: refunds\n');
  const daemon = await startDaemon(directory);
  await holdpoint(['task', 'send', 'one', '--id', 't-1', '--dir', directory]);
  await holdpoint(['task', 'send', 'two', '--id', 't-2', '--dir', directory]);
  await daemon.stop();
  return { directory, log: join(directory, '.service', 'audit.ndjson') };
}
