import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentCommand } from '../../actors/workspace/workspace.ts';
import { haltAgent, launchAgent } from '../../actors/workspace/workspace.ts';
import type { JsonValue } from '../../machines/json.ts';
import { AgentClient } from '../agent-client.ts';
import { findAgent } from '../find-agent.ts';
import { makeDemoFolder } from '../try/demo-folder.ts';

/** Milliseconds that agents of a demo have to end: nothing of theirs is kept. */
const grace = 5_000;

/** A workspace to look at, which goes when it is closed. */
export interface DemoWorkspace {
  directory: string;
  close(): Promise<void>;
}

const ops = `agent_id: ops
version: 1.4.0
description: Restarts, scales and rotates, once somebody on duty agrees
model: {provider: scripted, name: demo}
builtin_tools: [datetime_now]
security:
  defer:
    enabled: true
    tools:
      restart_service: {to: "channel:dashboard:*", timeout: 30m, context_template: "restart {args}"}
      scale_service: {to: "channel:dashboard:*", timeout: 2h, context_template: "scale {args}"}
      rotate_key:
        to: "channel:dashboard:*"
        timeout: 10m
        approvers: [ann@example.com, ben@example.com]
`;

const tools = ['restart_service', 'scale_service', 'rotate_key'];

const broken = `agent_id: newsletter
version: 0.3.0
description: Cannot start, as a variable is missing
model: {provider: scripted, name: "\${NEWSLETTER_MODEL}"}
`;

/** What is asked of the agents, so that something waits in each. */
const requests: { agent: 'refunds' | 'ops'; text: string; script?: JsonValue }[] = [
  { agent: 'refunds', text: 'Please refund order A-1042, it arrived broken' },
  {
    agent: 'ops',
    text: 'Checkout answers slowly, restart it',
    script: callOf('restart_service', { service: 'checkout' }),
  },
  {
    agent: 'ops',
    text: 'Black Friday is near: four more of search',
    script: callOf('scale_service', { service: 'search', replicas: 8 }),
  },
  {
    agent: 'ops',
    text: 'The key of the warehouse was on a screen share',
    script: callOf('rotate_key', { key: 'warehouse' }),
  },
];

function callOf(tool: string, args: JsonValue): JsonValue {
  return [{ tool, args }, { say: 'Done. {result}' }];
}

/**
 * Makes a temporary workspace with three agents whose models play scripts: two run and have calls that wait, one cannot
 * start. Whatever has been started is stopped when it cannot be made whole, and when it is closed.
 */
export async function makeDemoWorkspace(
  command: AgentCommand,
  env: NodeJS.ProcessEnv,
): Promise<DemoWorkspace> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'holdpoint-demo-')));
  const folders = ['refunds', 'ops', 'newsletter'].map((name) => join(directory, name));
  const close = async (): Promise<void> => {
    await Promise.all(folders.map((folder) => haltAgent({ directory: folder, grace })));
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await makeDemoFolder(join(directory, 'refunds'));
    await writeOps(join(directory, 'ops'));
    await mkdir(join(directory, 'newsletter'));
    await writeFile(join(directory, 'newsletter/service.yaml'), broken);
    const start = (name: string) =>
      launchAgent({ directory: join(directory, name), command, passphrase: null });
    await Promise.all([start('refunds'), start('ops'), start('newsletter').catch(() => null)]);
    for (const request of requests) await ask(join(directory, request.agent), request, env);
    return { directory, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function writeOps(folder: string): Promise<void> {
  await mkdir(join(folder, 'scripts'), { recursive: true });
  await writeFile(join(folder, 'service.yaml'), ops);
  const sections = tools.map(
    (name) => `## Tool: ${name}\n\nPretends to ${name.replace('_', ' ')}.\n`,
  );
  const skill = `---\nname: ops\ndescription: What somebody on duty does.\n---\n${sections.join('\n')}`;
  await writeFile(join(folder, 'SKILL.md'), skill);
  for (const name of tools) {
    await writeFile(join(folder, 'scripts', `${name}.sh`), 'echo "pretended with $(cat)"\n');
  }
}

async function ask(
  folder: string,
  { text, script }: (typeof requests)[number],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const client = new AgentClient(findAgent({ dir: folder }, { ...env, SERVICE_TOKEN: '' }));
  const parts: JsonValue[] = [{ kind: 'text', text }];
  if (script !== undefined) parts.push({ kind: 'data', data: { script } });
  const message = { kind: 'message', role: 'user', messageId: crypto.randomUUID(), parts };
  const params = { message, configuration: { blocking: false } };
  try {
    await client.json({
      method: 'POST',
      path: '/',
      body: { jsonrpc: '2.0', id: 1, method: 'message/send', params },
      signal: AbortSignal.timeout(30_000),
    });
  } finally {
    await client.close();
  }
}
