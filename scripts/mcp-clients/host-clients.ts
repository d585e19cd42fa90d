import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as rest } from 'node:timers/promises';
import { hosts, type TriedHost } from '../try-hosts/hosts.ts';
import { ModelServer, type Plan } from '../try-hosts/model-server.ts';

/** Longest run of a host in milliseconds. */
const longest = 150_000;

/** How each host learns of an MCP server: arguments, or files in its home and project. */
const servers: Readonly<
  Record<string, (url: string, home: string, project: string) => readonly string[]>
> = {
  'claude-code': (url) => {
    const config = { mcpServers: { s: { type: 'http', url } } };
    return ['--mcp-config', JSON.stringify(config), '--strict-mcp-config'];
  },
  codex: (url) => ['-c', `mcp_servers.s.url="${url}"`],
  opencode: (url, _, project) => {
    const config = { mcp: { s: { type: 'remote', url, enabled: true } } };
    writeFileSync(join(project, 'opencode.json'), JSON.stringify(config));
    return [];
  },
};

/** A coding agent as an MCP client. Each call is a run of its own. */
export class HostClient {
  readonly title: string;
  readonly #host: TriedHost;
  readonly #folder: string;
  readonly #url: string;

  constructor(host: TriedHost, folder: string, url: string) {
    this.title = host.package.replace(/^@.+?\//, '').replace('@', ' ');
    this.#host = host;
    this.#folder = folder;
    this.#url = url;
  }

  /** Calls a tool, and asks for the outcome of a held call as instructed by its answer. Resolves with all results as JSON. */
  async call(tool: string): Promise<string[]> {
    const home = mkdtempSync(join(this.#folder, 'home-'));
    const project = join(home, 'project');
    mkdirSync(project, { recursive: true });
    const model = await ModelServer.open(callTool(tool));
    this.#host.prepare?.(home, model.url);
    const env = {
      ...{ HOME: home, PATH: process.env['PATH'] ?? '' },
      ...this.#host.env(model.url),
      // Otherwise a model of Claude Code searches for the tools of MCP servers first.
      ENABLE_TOOL_SEARCH: 'false',
    };
    const named = servers[this.#host.dialect]?.(this.#url, home, project) ?? [];
    const [verb = '', ...words] = this.#host.words;
    const program = join(this.#folder, 'node_modules/.bin', this.#host.program);
    const running = spawn(program, [...wordsOf(this.#host, verb, words, named)], {
      ...{ cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    const said = Promise.all([text(running.stdout), text(running.stderr)]);
    try {
      const ended = once(running, 'close');
      await Promise.race([ended, rest(longest, null, { ref: false })]);
      running.kill('SIGKILL');
      if (model.results.length === 0) throw new Error((await said).join(' ').trim().slice(-300));
      return model.results;
    } finally {
      model.close();
    }
  }
}

/** Installs the hosts in a folder and returns them as clients of an MCP server. */
export function hostClients(folder: string, url: string): HostClient[] {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private": true}');
  const packages = hosts.map((host) => host.package);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
    ...{ cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  });
  return hosts.map((host) => new HostClient(host, folder, url));
}

/** The prompt stays the last word. */
function wordsOf(
  { dialect }: TriedHost,
  verb: string,
  words: readonly string[],
  named: readonly string[],
): readonly string[] {
  if (dialect === 'claude-code') return ['-p', 'go', '--allowedTools', 'mcp__s', ...named];
  return [verb, ...words.slice(0, -1), ...named, 'go'];
}

/** Calls the tool of the server, and `task_result` as long as the answer names a task. */
function callTool(tool: string): Plan {
  const find = (tools: readonly string[], name: string) =>
    tools.find((one) => new RegExp(`(_|/)${name}$`).test(one));
  return (tools, result) => {
    if (result === null) {
      const name = find(tools, tool);
      return name === undefined ? null : { name, input: { who: 'host' } };
    }
    const [, id] = /task_id\W+([0-9a-f-]{36})/.exec(result) ?? [];
    const name = find(tools, 'task_result');
    if (id === undefined || name === undefined || result.includes('was done')) return null;
    return { name, input: { task_id: id } };
  };
}
