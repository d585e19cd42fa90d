import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Clock } from '../../ports/clock.ts';
import { scriptPath } from '../../process/process.ts';
import { isolate, makePrivateHome } from '../sandbox/sandbox.ts';
import { lastLines } from '../scripts/last-lines.ts';
import { type ProcessGroup, startGroup } from '../scripts/process-group.ts';
import type { ScriptIsolation } from '../scripts/run-isolated.ts';
import { ServerFault } from './server-fault.ts';
import { programOf } from './server-program.ts';
import { serverSecrets } from './server-secrets.ts';
import type { McpServerSettings } from './server-settings.ts';

export interface ServerPlace {
  /** The agent's folder, links resolved. */
  agentDirectory: string;
  env: NodeJS.ProcessEnv;
  /** Returns the isolation of foreign programs; called at each start. */
  isolation: () => ScriptIsolation;
  clock: Clock;
}

/** A running server. */
export interface ServerProcess {
  child: ProcessGroup['child'];
  /** Egress credentials given to the server, which must be redacted from all its output. */
  secrets: readonly string[];
  /** Resolves with a description of its end. */
  ended: Promise<string>;
  /** Ends the server with all its processes, and resolves once none is left. Never rejects. */
  stop(): Promise<void>;
}

/** A server that stops gets a signal after half of this time and is killed after twice this time, in milliseconds. */
const grace = 1_000;

/** Kernel limits on processor time count over the server's whole life, in milliseconds. */
const longestLife = 24 * 24 * 60 * 60 * 1000;

/** Maximum characters kept of a server's last output. */
const keptWords = 4_096;

/**
 * Starts a stdio server like a script: in its own process group, in the sandbox of scripts, with an environment built
 * from nothing, and with the egress proxy, where it counts as a tool. Rejects with ServerFault if it cannot be started.
 */
export async function startServerProcess(
  server: McpServerSettings,
  place: ServerPlace,
): Promise<ServerProcess> {
  const { agentDirectory, isolation, clock } = place;
  const { proxy, sandbox: level, hidden = [], writable = [] } = isolation();
  const program = programOf(server.command ?? '', agentDirectory);
  const home = await makePrivateHome('mcp', proxy?.socketPath);
  const scope = { taskId: null, correlationId: null, tags: {}, isOwn: false };
  const pass = proxy?.admit(scope) ?? null;
  const left = async () => {
    pass?.release();
    await rm(home, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  };
  try {
    const isolated = await isolate(program, server.args, {
      level,
      agentDirectory,
      hidden,
      writable,
      home,
      proxy,
      cwd: agentDirectory,
      timeout: longestLife,
    });
    const env = {
      PATH: scriptPath,
      HOME: home,
      LANG: place.env['LANG'] ?? 'C.UTF-8',
      TZ: place.env['TZ'] ?? 'UTC',
      ...server.env,
      ...pass?.env,
      SERVICE_AGENT_DIR: agentDirectory,
      ...(writable[0] === undefined ? {} : { SERVICE_WORK_DIR: writable[0] }),
    };
    const group = startGroup({ ...isolated, cwd: agentDirectory, env });
    const wordsOf = (words: string) => lastLines(words.replaceAll(home, '~'), secrets);
    const secrets = [...serverSecrets(server), ...(pass?.secretValues ?? [])];
    const why = (words: string) => [...(pass?.refusals() ?? []), wordsOf(words)].filter(Boolean);
    const parts = { secrets: pass?.secretValues ?? [], clock, left, why };
    return processOf(group, parts);
  } catch (error) {
    await left();
    if (error instanceof ServerFault) throw error;
    throw new ServerFault(`could not be started (${reasonOf(error)})`, { cause: error });
  }
}

function processOf(
  group: ProcessGroup,
  parts: {
    secrets: readonly string[];
    clock: Clock;
    left: () => Promise<void>;
    /** Returns the reason of its end from its last output. */
    why: (words: string) => string[];
  },
): ServerProcess {
  const { child, supervisor } = group;
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = whole(words + text);
  });
  child.stdin.on('error', () => undefined);
  let failed: NodeJS.ErrnoException | null = null;
  child.on('error', (error) => {
    failed = error;
  });
  const closed = endOf(child).then(async ([code, signal]) => {
    group.signal('SIGKILL');
    const end = failed === null && supervisor !== null ? ended(supervisor, code, signal) : null;
    group.release();
    const last = parts.why(words).join('; ');
    await parts.left();
    const how = failed?.code ?? end ?? signal ?? `exit code ${code}`;
    return `ended (${how})${last === '' ? '' : `: ${last}`}`;
  });
  return {
    child,
    secrets: parts.secrets,
    ended: closed,
    async stop() {
      child.stdin.end();
      const timers = [
        parts.clock.setTimeout(() => group.ask(), grace / 2),
        parts.clock.setTimeout(() => group.signal('SIGKILL'), grace * 2),
      ];
      await closed;
      for (const timer of timers) parts.clock.clearTimeout(timer);
    },
  };
}

/** Keeps the end of the output from a line start, since half a secret might precede it. */
function whole(words: string): string {
  if (words.length <= keptWords) return words;
  const kept = words.slice(-keptWords);
  const line = kept.indexOf('\n');
  return line === -1 ? '' : kept.slice(line + 1);
}

/** Describes how a supervised program ended. */
function ended(
  supervisor: NonNullable<ProcessGroup['supervisor']>,
  code: number | null,
  signal: string | null,
): string {
  try {
    const end = supervisor.endOf({ code, signal });
    if (end === 'tooManyProcesses') return 'too many processes';
    return end.signal ?? `exit code ${end.code}`;
  } catch (error) {
    return reasonOf(error);
  }
}

/** A program that cannot be started emits `error`, not `exit`. */
async function endOf(
  child: ProcessGroup['child'],
): Promise<[code: number | null, signal: string | null]> {
  try {
    return (await once(child, 'exit')) as [number | null, string | null];
  } catch {
    return [null, null];
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code !== undefined && /^E[A-Z]+$/.test(code) ? code : message;
}
