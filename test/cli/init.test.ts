import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { cleanUp, holdpoint, startDaemon, temporaryFolder } from './holdpoint.ts';
import { onTerminal, printed } from './terminal.ts';

afterAll(cleanUp);

it('makes an agent from flags alone that is valid and answers, and writes over nothing', async () => {
  const directory = join(await temporaryFolder(), 'desk');
  const words = [
    'init',
    'refund-desk',
    '--dir',
    directory,
    '--tools',
    'datetime_now,uuid_generate',
  ];
  const made = await holdpoint([...words, '--held', 'uuid_generate', '--yes', '--json']);
  const path = join(directory, 'service.yaml');
  const files = [path, join(directory, '.gitignore')];
  expect({ code: made.code, told: JSON.parse(made.stdout) as unknown }).toEqual({
    code: 0,
    told: { agent_id: 'refund-desk', directory, files },
  });
  const valid = await holdpoint(['validate', '--dir', directory]);
  expect(valid.stdout).toContain('held   uuid_generate');
  expect(valid.stderr).toBe('');
  const daemon = await startDaemon(directory);
  const sent = await holdpoint(['task', 'send', 'hello', '--dir', directory]);
  expect(sent.stdout).toContain('echo: hello');
  await daemon.stop();
  const before = readFileSync(path, 'utf8');
  expect(await holdpoint([...words, '--yes'])).toMatchObject({
    code: 2,
    stderr: `error: ${path} is already there; name a folder without an agent with --dir\n`,
  });
  expect(readFileSync(path, 'utf8')).toBe(before);
});

it('writes what would mean something else in YAML as text', async () => {
  const directory = await temporaryFolder();
  writeFileSync(join(directory, '.gitignore'), 'mine\n');
  const model = 'a: [b] # c\n${SHOP}';
  const flags = ['--provider', 'ollama', '--model', model, '--dir', directory, '--tools', ''];
  expect((await holdpoint(['init', '1e3', ...flags, '--yes'])).code).toBe(0);
  expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('mine\n');
  const { stderr } = await holdpoint(['validate', '--dir', directory]);
  expect(stderr).not.toMatch(/agent_id|SHOP/);
});

it.each([
  [['init', '--yes'], 'the name is at most 64', 'give the name, such as in init refund-desk'],
  [['init', 'x', '--provider', 'vax'], 'vax is no provider', 'give --provider'],
  [['init', 'x', '--provider', 'openai'], 'name a model of openai', 'give --model'],
  [['init', 'x', '--held', 'http_request'], 'http_request is no tool of this agent', 'give --held'],
])('says which flag is missing or wrong, and writes nothing', async (words, message, hint) => {
  const cwd = await temporaryFolder();
  const { code, stderr } = await holdpoint(words, { cwd });
  expect({ code, files: readdirSync(cwd) }).toEqual({ code: 2, files: [] });
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
});

it('asks at a terminal what no flag says, one question after another', async () => {
  const directory = join(await temporaryFolder(), 'desk');
  const asked = onTerminal(['init', '--dir', directory]);
  const [space, down] = [' ', '\u001B[B'];
  for (const [question, keys] of [
    ['Name of the agent', 'The Desk'],
    ['the name is at most 64 lower-case letters', 'desk'],
    ['Whose model works on its tasks?', ''],
    ['Which tools does it have?', space + down + space],
    ['Which of them wait for a person?', space],
    ['desk: scripted, tools uuid_generate, held uuid_generate', ''],
  ] as const) {
    await printed(asked, question);
    asked.child.stdin?.write(`${keys}\r`);
  }
  await printed(asked, 'service.yaml');
  asked.child.stdin?.end();
  expect((await asked.ended).code).toBe(0);
  const valid = await holdpoint(['validate', '--dir', directory]);
  expect(valid.stdout).toContain('held   uuid_generate');
  expect(readFileSync(join(directory, 'service.yaml'), 'utf8')).not.toContain('datetime_now');
});
