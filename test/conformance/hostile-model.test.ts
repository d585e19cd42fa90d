import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWithoutBwrap, needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { cleanUp, holdpoint } from '../cli/holdpoint.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { isOverPostgres } from '../helpers/kept-store.ts';
import {
  deferring,
  expectIntact,
  launchAgent,
  startInFolder,
  type TestAgent,
  textOf,
} from '../helpers/test-agent.ts';
import { loopbackOpen } from './egress-agent.ts';

needsBwrap();

/** Is in every file that no model may read. */
const canary = 'canary-of-the-operator';

const secretFiles = [
  '.service/runtime.token',
  '.service/audit.ndjson',
  isOverPostgres ? '.service/replicas.json' : '.service/tasks.db',
  '.service/serve.json',
  '.env',
  'service.yaml',
];

const madeOf = ['SKILL.md', 'service.yaml', 'scripts/pay.sh', 'skills/new/SKILL.md', '.env'];

const builtin_tools = [
  ...['file_read', 'file_write', 'file_edit', 'glob_search', 'grep_search'],
  ...['http_request', 'web_fetch'],
];

/** The folder of an agent with secrets, one link to each of them, and a note that any caller may read. */
function folderWith(settings: object): AgentFolder {
  const folder = new AgentFolder({
    ...{ description: canary, builtin_tools },
    ...deferring({ approvers: ['ann@example.com'] }),
    ...settings,
  } as ServiceSettings);
  mkdirSync(join(folder.path, 'notes'));
  writeFileSync(join(folder.path, '.env'), `KEY=${canary}\n`);
  writeFileSync(join(folder.path, 'notes/open.txt'), 'tea at five\n');
  for (const [index, path] of secretFiles.entries()) {
    symlinkSync(join(folder.path, path), join(folder.path, `notes/link-${index}.txt`));
  }
  return folder;
}

let agent: TestAgent;
let folder: AgentFolder;
let tasks = 0;

/** The result of one call of a tool: the task's final state and the input of the model. */
async function outcomeOf(tool: string, args: object) {
  tasks += 1;
  const id = `hostile-${tasks}`;
  const answer = await agent.send(id, [{ tool, args }, { say: '{result}' }]);
  const text = textOf(answer);
  expect(text).not.toContain(canary);
  expect(text).not.toContain(agent.token);
  const ends = agent
    .audit(id)
    .filter(({ event, fields }) => event === 'tool_exec' && fields?.['phase'] === 'end')
    .map(({ fields }) => fields?.['error'] ?? null);
  return { state: answer.body.status.state, text, ends };
}

/** A call that ran, failed in these words and its task with it, and is in the log with its failure. */
function refusal(words: unknown): object {
  return { state: 'failed', text: words, ends: [expect.any(String)] };
}

async function start(settings: object): Promise<void> {
  folder = folderWith(settings);
  agent = await launchAgent({}, { folder, env: {} });
}

async function end(): Promise<void> {
  await expectIntact(agent.auditPath);
  await agent.close();
}

describe('a model that attacks the agent', () => {
  beforeAll(() => start({ egress: loopbackOpen }));
  afterAll(end);

  it.each(secretFiles)('reads no %s, in any spelling and through any link', async (path) => {
    const link = `notes/link-${secretFiles.indexOf(path)}.txt`;
    for (const spelling of [path, `./notes/../${path}`, join(folder.path, path), link]) {
      expect(await outcomeOf('file_read', { path: spelling })).toEqual(
        refusal(expect.stringMatching(/^file_read: argument path .* which tools cannot read$/)),
      );
    }
  });

  it.each(['/proc/self/environ', '/etc/passwd', '../..'])('reads no %s', async (path) => {
    expect(await outcomeOf('file_read', { path })).toEqual(
      refusal('file_read: argument path leads out of the folder of the agent, or nowhere'),
    );
  });

  it('finds none of them', async () => {
    const found = await outcomeOf('glob_search', { pattern: '**/{*,.*,.*/*}' });
    expect(found).toMatchObject({ state: 'completed', ends: [null] });
    expect(found.text.split('\n')).toContain('notes/open.txt');
    expect(found.text).not.toMatch(/\.service|\.env|service\.yaml|link-/);
    expect(await outcomeOf('glob_search', { pattern: '*', path: '.service' })).toEqual(
      refusal(expect.stringContaining('which tools cannot read')),
    );
  });

  it('searches none of them', async () => {
    expect(await outcomeOf('grep_search', { pattern: `tea|${canary}|[0-9A-Za-z_-]{30,}` })).toEqual(
      {
        state: 'completed',
        text: 'notes/open.txt:1: tea at five',
        ends: [null],
      },
    );
    for (const path of secretFiles) {
      expect(await outcomeOf('grep_search', { pattern: '.', path })).toEqual(
        refusal(expect.stringContaining('which tools cannot read')),
      );
    }
  });

  it('writes only below egress.writable, also where the agent has no scripts', async () => {
    const plain = folderWith({ security: {}, egress: { writable: ['work'] } });
    rmSync(join(plain.path, 'SKILL.md'));
    rmSync(join(plain.path, 'scripts'), { recursive: true });
    const agent = await startInFolder(plain);
    const args = { path: 'work/plan.txt', content: 'tea at six' };
    const sent = await agent.send('t1', [{ tool: 'file_write', args }]);
    expect([
      sent.body.status.state,
      readFileSync(join(plain.path, 'work/plan.txt'), 'utf8'),
    ]).toEqual(['completed', 'tea at six']);
  });

  it.each(madeOf)('does not write or change %s', async (path) => {
    const file = join(folder.path, path);
    const before = existsSync(file) ? readFileSync(file, 'utf8') : null;
    const written = { path, content: '## Tool: own\n', overwrite: true };
    const edited = { path, old_text: 'a', new_text: 'b', replace_all: true };
    const refused = refusal(expect.stringMatching(/which tools cannot (?:read|write)$/));
    expect(await outcomeOf('file_write', written)).toEqual(refused);
    expect(await outcomeOf('file_edit', edited)).toEqual(refused);
    expect(existsSync(file) ? readFileSync(file, 'utf8') : null).toBe(before);
  });

  it('neither releases nor reads waiting calls over loopback', async () => {
    const held = agent.send('held', [{ tool: 'pay', args: {} }, { say: 'paid' }]);
    await agent.reached('held', 'deferred');
    const { port } = new URL(agent.url);
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:7f00:1]']) {
      const url = `http://${host}:${port}/tasks/held`;
      const json = { decision: 'approve', approver: 'ann@example.com' };
      const asked = { url: `${url}/decisions`, method: 'POST', json };
      const blocked = refusal(expect.stringMatching(/^egress blocked: /));
      expect(await outcomeOf('http_request', asked)).toEqual(blocked);
      expect(agent.audit(`hostile-${tasks}`).map(({ event }) => event)).toContain('egress_blocked');
      expect(await outcomeOf('web_fetch', { url })).toEqual(blocked);
      expect(agent.audit(`hostile-${tasks}`).map(({ event }) => event)).toContain('egress_blocked');
    }
    expect(await outcomeOf('http_request', { url: `http://127.0.0.1:${port}/` })).toEqual(
      refusal('egress blocked: 127.0.0.1 is the agent itself'),
    );
    await agent.reached('held', 'deferred');
    await agent.post('/tasks/held/cancel');
    expect((await held).body.status.state).toBe('canceled');
    expect(folder.paid).toEqual([]);
  });
});

describe.skipIf(isWithoutBwrap)('a program that a model runs', () => {
  const commands = ['cat', 'cp', 'curl', 'grep', 'ln', 'ls', 'tee'];

  beforeAll(() =>
    start({
      builtin_tools: ['cli_execute'],
      tools: [{ name: 'cli_execute', config: { commands } }],
      egress: { ...loopbackOpen, sandbox: 'bwrap' },
    }),
  );
  afterAll(end);

  it.each([...secretFiles, '/proc/1/environ'])('shows nothing of %s', async (path) => {
    const shown = await outcomeOf('cli_execute', { command: 'cat', args: [path] });
    expect(shown.state).toMatch(/^(?:completed|failed)$/);
    // A sandbox has nothing or an empty file in its place.
    expect(shown.text).toMatch(/^$|^cli_execute failed with exit code 1: |^PATH=|^[A-Z_]+=/);
  });

  it('finds none of them in any file', async () => {
    for (const words of [canary, 'Bearer', agent.token]) {
      const searched = await outcomeOf('cli_execute', {
        command: 'grep',
        args: ['-rsa', '--exclude-dir=proc', '--exclude-dir=sys', '-e', words, '.', '/tmp', '/run'],
      });
      expect(searched).toMatchObject({
        ...{ state: 'failed', ends: [expect.stringMatching(/^exit code [12]$/)] },
        text: expect.stringMatching(/^cli_execute failed with exit code [12]/),
      });
    }
  });

  it.each(madeOf)('does not write %s', async (path) => {
    const file = join(folder.path, path);
    const before = existsSync(file) ? readFileSync(file, 'utf8') : null;
    const own = { command: 'tee', args: [path], stdin: '## Tool: own\n' };
    await outcomeOf('cli_execute', own);
    expect(existsSync(file) ? readFileSync(file, 'utf8') : null).toBe(before);
  });

  it('reaches the agent at no address', async () => {
    const { port } = new URL(agent.url);
    const url = `http://127.0.0.1:${port}/tasks`;
    for (const args of [[url], ['--noproxy', '*', url]]) {
      const asked = await outcomeOf('cli_execute', {
        command: 'curl',
        args: ['-sS', '-m', '5', ...args],
      });
      expect(asked.text).toMatch(/^egress blocked: 127\.0\.0\.1 is the agent itself|exit code 7/);
    }
  });
});

describe('an agent with cli_execute without a possible sandbox', () => {
  afterAll(cleanUp);

  it('does not start, and the message states the remedy', async () => {
    const without = folderWith({
      builtin_tools: ['cli_execute'],
      tools: [{ name: 'cli_execute', config: { commands: ['ls'] } }],
      egress: { sandbox: 'auto' },
    });
    // A sandbox is tried in a temporary folder, and there is none.
    const run = ['run', '--dir', without.path, '--port', '0'];
    const ended = await holdpoint(run, { env: { TMPDIR: `${without.path}/none` } });
    without.remove();
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toMatch(
      /cli_execute runs in a sandbox alone, but .+; or take cli_execute out of builtin_tools/,
    );
  });
});
