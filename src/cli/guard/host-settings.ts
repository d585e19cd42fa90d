import { homedir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { packageRoot } from '../../package-root.ts';

/** Where the hooks of a coding agent are set. */
export interface HostPlace {
  /** Folder of a project; `null` for the settings of the user. */
  project: string | null;
  env: NodeJS.ProcessEnv;
}

/** The settings file of a coding agent, with and without the hooks of Holdpoint. */
export interface HostSettings {
  path(place: HostPlace): string;
  /** Hooks of Holdpoint in a file with other settings, or a file that has nothing else. */
  kind: 'merged' | 'own';
  /** For `merged`: adds the hooks to settings without them. For `own`: the content of the file. `gate` has the flags that name it. */
  add(settings: JsonObject, gate: readonly string[]): JsonObject | string;
  /** Adds hooks that the host itself sends to the address of a gate; absent if the host has no such hooks. */
  addHttp?(settings: JsonObject, url: string): JsonObject;
  /** The next step of the user, if there is one. */
  hint?: string;
}

/** Seconds for which a host waits for its hook, longer than the wait of the hook and the timeout of a held call. */
const hostTimeout = 3_600;

/** Seconds after which a hook ends its wait. */
const hookSeconds = 58 * 60;

const reportTimeout = 60;

/** The settings of each coding agent (docs/guard.md names the sources). */
export const hostSettings: ReadonlyMap<string, HostSettings> = new Map<string, HostSettings>([
  [
    'claude-code',
    {
      kind: 'merged',
      path: ({ project, env }) =>
        project === null
          ? join(userFolderOf('claude-code', env), 'settings.json')
          : join(project, '.claude', 'settings.local.json'),
      add: (settings, gate) =>
        withHooks(settings, {
          PreToolUse: grouped('claude-code', gate, { timeout: hostTimeout, onFailure: 'block' }),
          PostToolUse: grouped('claude-code', gate),
          PostToolUseFailure: grouped('claude-code', gate),
        }),
      addHttp: (settings, url) =>
        withHooks(settings, {
          PreToolUse: sent('claude-code', url, { timeout: hostTimeout, onFailure: 'block' }),
          PostToolUse: sent('claude-code', url, { timeout: reportTimeout }),
          PostToolUseFailure: sent('claude-code', url, { timeout: reportTimeout }),
        }),
    },
  ],
  [
    'codex',
    {
      kind: 'merged',
      path: ({ project, env }) =>
        project === null
          ? join(userFolderOf('codex', env), 'hooks.json')
          : join(project, '.codex', 'hooks.json'),
      add: (settings, gate) =>
        withHooks(settings, {
          PreToolUse: grouped('codex', gate, { timeout: hostTimeout }),
          PostToolUse: grouped('codex', gate),
        }),
      hint: 'trust the hooks in Codex with /hooks: it runs no hook before',
    },
  ],
  [
    'cursor',
    {
      kind: 'merged',
      path: ({ project, env }) => join(project ?? homeOf(env), '.cursor', 'hooks.json'),
      add: (settings, gate) =>
        withHooks(
          { version: 1, ...settings },
          {
            preToolUse: [
              { command: blocking('cursor', gate), timeout: hostTimeout, failClosed: true },
            ],
            postToolUse: [{ command: command('cursor', gate), timeout: reportTimeout }],
            postToolUseFailure: [{ command: command('cursor', gate), timeout: reportTimeout }],
          },
        ),
    },
  ],
  [
    'copilot',
    {
      kind: 'own',
      path: ({ project, env }) =>
        project === null
          ? join(homeOf(env), '.copilot', 'hooks', 'holdpoint.json')
          : join(project, '.github', 'hooks', 'holdpoint.json'),
      add: (_, gate) =>
        textOf({
          version: 1,
          hooks: {
            preToolUse: [
              {
                type: 'command',
                bash: `${command('copilot', gate)} || echo '{"permissionDecision":"deny","permissionDecisionReason":"the hook of Holdpoint failed"}'`,
                timeoutSec: hostTimeout,
              },
            ],
            postToolUse: [
              { type: 'command', bash: command('copilot', gate), timeoutSec: reportTimeout },
            ],
          },
        }),
    },
  ],
  [
    'opencode',
    {
      kind: 'own',
      path: ({ project, env }) =>
        project === null
          ? join(
              env['XDG_CONFIG_HOME'] || join(homeOf(env), '.config'),
              ...['opencode', 'plugins', 'holdpoint.js'],
            )
          : join(project, '.opencode', 'plugins', 'holdpoint.js'),
      add: (_, gate) => plugin(gate),
    },
  ],
]);

/** Returns settings without the hooks of Holdpoint. */
export function withoutHooks(settings: JsonObject): JsonObject {
  const { hooks } = settings;
  if (!isJsonObject(hooks)) return settings;
  const kept = Object.entries(hooks).flatMap(([event, entries]): [string, JsonValue][] => {
    if (!Array.isArray(entries)) return [[event, entries]];
    const others = entries.flatMap(foreignPart);
    return others.length === 0 && entries.length > 0 ? [] : [[event, others]];
  });
  const { hooks: _, ...rest } = settings;
  if (kept.length === 0 && Object.keys(hooks).length > 0) return rest;
  return { ...settings, hooks: Object.fromEntries(kept) };
}

/** Formats settings as their host writes them. */
export function textOf(settings: JsonValue, indent: string | number = 2): string {
  return `${JSON.stringify(settings, null, indent)}\n`;
}

const ours = /bin\/holdpoint'? hook (?:claude-code|codex|cursor)(?: |$)/;

/** The header of hooks that a host sends; it names a variable, so the settings hold no token. */
const ownToken = 'Bearer $SERVICE_TOKEN';

/** A group with hooks of others keeps them; an entry of Holdpoint alone disappears. */
function foreignPart(entry: JsonValue): JsonValue[] {
  if (!isJsonObject(entry)) return [entry];
  const { hooks, command: own, headers } = entry;
  if (typeof own === 'string' && ours.test(own)) return [];
  if (isJsonObject(headers) && headers['authorization'] === ownToken) return [];
  if (!Array.isArray(hooks)) return [entry];
  const others = hooks.flatMap(foreignPart);
  if (others.length === hooks.length) return [entry];
  return others.length === 0 ? [] : [{ ...entry, hooks: others }];
}

function withHooks(settings: JsonObject, added: Record<string, JsonValue[]>): JsonObject {
  const hooks = isJsonObject(settings['hooks']) ? { ...settings['hooks'] } : {};
  for (const [event, entries] of Object.entries(added)) {
    const known = hooks[event];
    hooks[event] = [...(Array.isArray(known) ? known : []), ...entries];
  }
  return { ...settings, hooks };
}

/** A group without a matcher whose hook the host sends, with the token of its environment. */
function sent(dialect: string, url: string, fields: JsonObject): JsonValue[] {
  const headers = { authorization: ownToken, prefer: `wait=${hookSeconds}` };
  const hook = { type: 'http', url: `${url}/hooks/${dialect}`, headers };
  return [{ hooks: [{ ...hook, allowedEnvVars: ['SERVICE_TOKEN'], ...fields }] }];
}

/** A group without a matcher, which applies to every tool. */
function grouped(dialect: string, gate: readonly string[], blocks?: JsonObject): JsonValue[] {
  const hook =
    blocks === undefined
      ? { command: command(dialect, gate), timeout: reportTimeout }
      : { command: blocking(dialect, gate), ...blocks };
  return [{ hooks: [{ type: 'command', ...hook }] }];
}

function command(dialect: string, gate: readonly string[]): string {
  return wordsOf(dialect, gate).map(shellWord).join(' ');
}

function wordsOf(dialect: string, gate: readonly string[]): string[] {
  const program = join(packageRoot, 'bin', 'holdpoint');
  return [program, 'hook', dialect, ...gate, '--wait', `${hookSeconds / 60}m`];
}

/** Exit code 2 blocks; these hosts run the call after any other failure. */
function blocking(dialect: string, gate: readonly string[]): string {
  return `${command(dialect, gate)} || { echo 'the hook of Holdpoint did not allow the call' >&2; exit 2; }`;
}

/** Returns the folder of the user's settings. */
export function userFolderOf(dialect: 'claude-code' | 'codex', env: NodeJS.ProcessEnv): string {
  return dialect === 'codex'
    ? env['CODEX_HOME'] || join(homeOf(env), '.codex')
    : env['CLAUDE_CONFIG_DIR'] || join(homeOf(env), '.claude');
}

export function homeOf(env: NodeJS.ProcessEnv): string {
  return env['HOME'] || homedir();
}

function plugin(gate: readonly string[]): string {
  const words = wordsOf('opencode', gate);
  return `// Written by \`holdpoint guard install opencode\`: asks a gate before each tool runs.
import { spawn } from 'node:child_process';

const [program, ...words] = ${JSON.stringify(words)};

function ask(event) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] });
    let answer = '';
    let reason = '';
    child.stdout.on('data', (chunk) => { answer += chunk; });
    child.stderr.on('data', (chunk) => { reason += chunk; });
    child.on('error', reject);
    child.stdin.on('error', () => undefined);
    child.on('close', (code) => {
      if (code === 0) resolve(answer === '' ? {} : JSON.parse(answer));
      else reject(new Error(reason.trim() || 'the hook of Holdpoint failed'));
    });
    child.stdin.end(JSON.stringify(event));
  });
}

export const Holdpoint = async ({ directory }) => ({
  'tool.execute.before': async ({ tool, sessionID, callID }, output) => {
    const args = output.args ?? {};
    const decision = await ask({ event: 'tool.execute.before', tool, sessionID, callID, args, cwd: directory });
    if (decision.decision !== 'allow') throw new Error(decision.reason ?? 'the gate allowed no call');
    if (decision.args === undefined) return;
    for (const name of Object.keys(args)) delete args[name];
    Object.assign(args, decision.args);
  },
  'tool.execute.after': async ({ tool, sessionID, callID }, { output }) => {
    await ask({ event: 'tool.execute.after', tool, sessionID, callID, output }).catch(() => undefined);
  },
});
`;
}
