import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { holdpointHere } from './command-here.ts';
import {
  cleanUp,
  firstLine,
  holdpoint,
  refundAgent,
  startProcess,
  temporaryFolder,
} from './holdpoint.ts';
import { onTerminal, printed } from './terminal.ts';

afterAll(cleanUp);

// Opening the file takes a second of work on purpose, and each command does that once.
vi.setConfig({ testTimeout: 120_000 });

const passphrase = 'canary-passphrase';
const value = 'canary-shop-key';
const env = { SERVICE_PASSPHRASE: passphrase };

const bin = fileURLToPath(new URL('../../bin/holdpoint', import.meta.url));

/** An agent whose one tool is given a secret as its credential, and says what it was given. */
const service = `agent_id: till
description: "\${GREETING}"
egress: {sandbox: env}
model: {script: [{tool: show, args: {}}, {say: "{result}"}]}
credentials: [{tool: show, provider: static, spec: {env: {TILL_KEY: {secret: SHOP_KEY}}}}]
`;

const show = `sha="$(printf %s "$TILL_KEY" | sha256sum | cut -c1-8)"
printf 'hash %s key %s all %s parent %s' "$sha" "$TILL_KEY" "$(env)" "$(tr '\\0' ' ' < /proc/$PPID/environ)"
`;

async function till(): Promise<string> {
  const directory = await refundAgent(service);
  writeFileSync(
    join(directory, 'SKILL.md'),
    '---\nname: till\ndescription: Shows.\n---\n## Tool: show\n\nShows.\n',
  );
  writeFileSync(join(directory, 'scripts', 'show.sh'), show);
  return directory;
}

describe('a secret in plain text', () => {
  const plain = 'A=1 # first\nSHOP_KEY=old\nB=2\nexport SHOP_KEY="older"\n';

  async function folder(): Promise<{ directory: string; file: string; secret: Secret }> {
    const directory = await temporaryFolder();
    const file = join(directory, '.service/.env');
    mkdirSync(join(directory, '.service'));
    writeFileSync(file, plain, { mode: 0o600 });
    return {
      ...{ directory, file },
      secret: (words, input = '') =>
        holdpointHere(['secret', ...words, '--dir', directory], { env, input }),
    };
  }

  type Secret = (words: string[], input?: string) => ReturnType<typeof holdpointHere>;

  it('is removed from .env once it is stored encrypted', async () => {
    const { directory, file, secret } = await folder();
    expect(await secret(['set', 'SHOP_KEY'], value)).toMatchObject({
      code: 0,
      stdout: `kept SHOP_KEY in ${directory}/.service/secrets.enc
removed SHOP_KEY from ${file}, where it was in plain text
`,
    });
    expect(readFileSync(file, 'utf8')).toBe('A=1 # first\nB=2\n');
    expect(await secret(['list'])).toMatchObject({
      ...{ stdout: 'SHOP_KEY\n', stderr: `in plain text in ${file}: A, B\n` },
    });
  });

  it('gets another value in its place, without a passphrase', async () => {
    const { file, secret } = await folder();
    expect(await secret(['set', 'B', '--plain'], 'new value\n')).toEqual({
      ...{ code: 0, signal: null, stdout: `stored B in ${file}, in plain text\n` },
      stderr: 'an agent that runs has it from its next start on\n',
    });
    expect(readFileSync(file, 'utf8')).toBe(plain.replace('B=2', "B='new value'"));
    expect(await secret(['set', 'b', '--plain'], 'x')).toMatchObject({ code: 2 });
  });

  it('is named by a delete that keeps it, and deleted by the right command', async () => {
    const { directory, file, secret } = await folder();
    expect(await secret(['delete', 'SHOP_KEY'])).toMatchObject({
      code: 3,
      stderr: `error: there is no secret SHOP_KEY; SHOP_KEY stands in ${file} in plain text; remove it with: holdpoint secret delete SHOP_KEY --plain --dir ${directory}\n`,
    });
    expect(await secret(['delete', 'SHOP_KEY', '--plain'])).toMatchObject({
      ...{ code: 0, stdout: `deleted SHOP_KEY from ${file}\n` },
    });
    expect(readFileSync(file, 'utf8')).toBe('A=1 # first\nB=2\n');
    expect(await secret(['delete', 'SHOP_KEY', '--plain'])).toMatchObject({ code: 3 });
  });
});

describe('secret', () => {
  it('stores, lists, shows and deletes secrets, and shows a value only on request', async () => {
    const directory = await temporaryFolder();
    const secret = (words: string[], input = '') =>
      holdpointHere(['secret', ...words, '--dir', directory], { env, input });
    const path = join(directory, '.service', 'secrets.enc');
    expect(await secret(['set', 'SHOP_KEY'], `${value}\n`)).toEqual({
      code: 0,
      signal: null,
      stdout: `kept SHOP_KEY in ${path}\n`,
      stderr:
        'the agent needs this passphrase at each start: in SERVICE_PASSPHRASE, by --passphrase-stdin or at the terminal\nan agent that runs has it from its next start on\n',
    });
    const [one, two] = await Promise.all([
      secret(['set', 'ONE', '--json'], 'one'),
      secret(['set', 'TWO', '--json'], 'two\nlines\n'),
    ]);
    expect([one, two].map(({ stdout }) => JSON.parse(stdout) as unknown)).toEqual([
      { name: 'ONE', path },
      { name: 'TWO', path },
    ]);
    expect((await secret(['list'])).stdout).toBe('ONE\nSHOP_KEY\nTWO\n');
    expect(JSON.parse((await secret(['get', 'TWO', '--json'])).stdout)).toEqual({
      name: 'TWO',
      value: 'two\nlines',
    });
    expect((await secret(['get', 'SHOP_KEY'])).stdout).toBe(`${value}\n`);
    expect((await secret(['delete', 'ONE'])).stdout).toBe(`deleted ONE from ${path}\n`);
    expect(await secret(['delete', 'ONE'])).toMatchObject({
      code: 3,
      stderr: 'error: there is no secret ONE; see those there are with holdpoint secret list\n',
    });
    const wrong = await holdpointHere(['secret', 'list', '--dir', directory, '--json'], {
      env: { SERVICE_PASSPHRASE: 'wrong' },
    });
    const message = `the secrets in ${path} cannot be opened: wrong passphrase, or the file was changed; try again, or restore a backup`;
    expect({ code: wrong.code, told: JSON.parse(wrong.stdout) as unknown }).toEqual({
      code: 4,
      told: { error: { code: 'secrets_locked', message, hint: null } },
    });
    const none = await holdpointHere(['secret', 'list', '--dir', directory]);
    expect(none).toMatchObject({
      code: 4,
      stderr:
        'error: no passphrase was given; set SERVICE_PASSPHRASE, or make it the first line of stdin with --passphrase-stdin\n',
    });
    const piped = await holdpointHere(
      ['secret', 'get', 'TWO', '--passphrase-stdin', '--dir', directory],
      {
        input: `${passphrase}\n`,
      },
    );
    expect(piped.stdout).toBe('two\nlines\n');
  });

  it.each([[['set', `SHOP_KEY=${value}`]], [['set', 'SHOP_KEY', value]], [['set', value]]])(
    'accepts no value as an argument, and does not repeat it',
    async (words) => {
      const directory = await temporaryFolder();
      const { code, stdout, stderr } = await holdpointHere(
        ['secret', ...words, '--dir', directory, '--json'],
        { env, input: 'x' },
      );
      expect({ code, isShown: `${stdout}${stderr}`.includes(value) }).toEqual({
        code: 2,
        isShown: false,
      });
    },
  );

  it('loses nothing when it is killed between writing the file and renaming it', async () => {
    const directory = await temporaryFolder();
    const at = ['--dir', directory];
    await holdpointHere(['secret', 'set', 'SHOP_KEY', ...at], { env, input: value });
    const path = join(directory, '.service', 'secrets.enc');
    const before = readFileSync(path, 'utf8');
    const failpoint = join(directory, 'failpoint.mjs');
    writeFileSync(
      failpoint,
      `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const rename = fs.renameSync;
fs.renameSync = (from, to) => {
  if (String(to).endsWith('secrets.enc')) process.kill(process.pid, 'SIGKILL');
  rename(from, to);
};
syncBuiltinESMExports();
`,
    );
    const killed = await holdpoint(['secret', 'set', 'OTHER_KEY', ...at], {
      env: { ...env, NODE_OPTIONS: `--import=${failpoint}` },
      input: 'other',
    });
    expect([killed.signal, killed.stdout]).toEqual(['SIGKILL', '']);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(readFileSync(`${path}.draft`, 'utf8')).not.toContain('other');
    expect(await holdpointHere(['secret', 'list', ...at], { env })).toMatchObject({
      code: 0,
      stdout: 'SHOP_KEY\n',
      stderr: '',
    });
    const again = await holdpointHere(['secret', 'set', 'OTHER_KEY', ...at], {
      env,
      input: 'other',
    });
    expect(again.code).toBe(0);
    const shown = await holdpointHere(['secret', 'list', ...at], { env });
    expect(shown.stdout.trim().split('\n').toSorted()).toEqual(['OTHER_KEY', 'SHOP_KEY']);
    expect(existsSync(`${path}.draft`)).toBe(false);
  });

  it('asks at a terminal, and does not echo the text', async () => {
    const directory = await temporaryFolder();
    const asked = onTerminal(['secret', 'set', 'SHOP_KEY', '--dir', directory]);
    let seen = '';
    asked.child.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    for (const [question, answer] of [
      ['New passphrase for the secrets of this agent', passphrase],
      ['Confirm passphrase', passphrase],
      ['Value of SHOP_KEY', value],
    ] as const) {
      await printed(asked, question);
      asked.child.stdin?.write(`${answer}\r`);
    }
    await printed(asked, 'kept SHOP_KEY');
    asked.child.stdin?.end();
    expect((await asked.ended).code).toBe(0);
    expect(seen).not.toMatch(/canary/);
    const kept = await holdpointHere(['secret', 'get', 'SHOP_KEY', '--dir', directory], { env });
    expect(kept.stdout).toBe(`${value}\n`);
  });
});

it('a call gets its secret, which no output, log, event, environment or command line contains', async () => {
  const directory = await till();
  const set = (name: string, input: string) =>
    holdpointHere(['secret', 'set', name, '--dir', directory], { env, input });
  await set('SHOP_KEY', value);
  await set('GREETING', 'Says hello');
  const bare = await holdpointHere(['validate', '--dir', directory]);
  expect(bare).toMatchObject({ code: 4, stdout: '' });
  expect((await holdpointHere(['validate', '--dir', directory], { env })).code).toBe(0);

  const running = startProcess(bin, ['run', '--dir', directory, '--port', '0', '--json'], { env });
  const { url, pid } = JSON.parse(await firstLine(running)) as { url: string; pid: number };
  const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
  expect(card).toMatchObject({ description: 'Says hello' });
  const sent = await holdpointHere(['task', 'send', 'show', '--dir', directory, '--json']);
  expect(sent.stdout).toContain('hash 6b6e5d44');
  expect(sent.stdout).toContain('[redacted:credential]');
  const seen = [
    sent.stdout,
    readFileSync(join(directory, '.service', 'audit.ndjson'), 'utf8'),
    readFileSync(join(directory, '.service', 'tasks.db'), 'latin1'),
    readFileSync(`/proc/${pid}/environ`, 'utf8'),
    readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
  ];
  running.child.kill('SIGTERM');
  const { stdout, stderr, code } = await running.ended;
  expect(code).toBe(0);
  for (const text of [...seen, stdout, stderr]) {
    expect(text).not.toContain(value);
    expect(text).not.toContain(passphrase);
  }
});

it('the doctor opens the secrets and checks who else can read them', async () => {
  const directory = await till();
  const path = join(directory, '.service', 'secrets.enc');
  for (const [name, input] of [
    ['SHOP_KEY', value],
    ['GREETING', 'hello'],
  ] as const) {
    await holdpointHere(['secret', 'set', name, '--dir', directory], { env, input });
  }
  writeFileSync(join(directory, '.service', '.env'), 'A=b\n', { mode: 0o600 });
  chmodSync(path, 0o644);
  const found = async (given: Record<string, string>) => {
    const { stdout } = await holdpointHere(['doctor', '--dir', directory, '--json'], {
      env: given,
    });
    const { checks } = JSON.parse(stdout) as { checks: { check: string }[] };
    return new Map(checks.map(({ check, ...finding }) => [check, finding]));
  };
  const opened = await found(env);
  expect(opened.get('secrets')).toEqual({
    status: 'pass',
    message: 'the encrypted secrets can be opened',
  });
  expect(opened.get('permissions')).toEqual({
    status: 'fail',
    message: `${path} can be read by other users`,
    fix: `chmod 600 ${path}`,
  });
  expect((await found({ SERVICE_PASSPHRASE: 'wrong' })).get('secrets')).toMatchObject({
    status: 'fail',
  });
  expect((await found({})).get('secrets')).toMatchObject({ status: 'warn' });
});
