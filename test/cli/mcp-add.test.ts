import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';
import { holdpointHere } from './command-here.ts';

const service = `agent_id: desk # the desk
model: {provider: openai, name: gpt-5}
`;

const desk = (more: Record<string, string> = {}) =>
  agentFolder({ 'service.yaml': service, 'server.mjs': '', ...more });
const add = (directory: string, words: string[], env: Record<string, string> = {}) =>
  holdpointHere(['mcp', 'add', '--dir', directory, ...words], { env });
const read = (directory: string, name: string) => readFileSync(join(directory, name), 'utf8');
const kept = (directory: string) => ({ ...parseEnv(read(directory, '.service/.env')) });

describe('mcp add', () => {
  it('writes a server over stdio and the rules of its held tools, and prints the next step', async () => {
    const directory = desk();
    const words = ['files', '--held', 'write_file,files__edit_file', '--', 'node', 'server.mjs'];
    expect(await add(directory, words)).toMatchObject({
      code: 0,
      stdout: `added the MCP server files to ${directory}/service.yaml
  files__write_file waits for channel:console:*
  files__edit_file waits for channel:console:*
  security.defer.enabled is turned on for them
`,
      stderr: `start the agent, again if it runs, and look at its tools with: holdpoint mcp list --dir ${directory}\n`,
    });
    expect(read(directory, 'service.yaml')).toBe(`${service}mcp:
  servers:
    - name: files
      command: node
      args:
        - server.mjs
      tools:
        deny: []
security:
  defer:
    enabled: true
    tools:
      files__write_file:
        to: channel:console:*
      files__edit_file:
        to: channel:console:*
`);
    expect(existsSync(join(directory, '.service'))).toBe(false);
  });

  it('adds a server over HTTP to the others, and stores its credentials separately', async () => {
    const before = `${service}mcp:
  servers:
    # ours
    - {name: files, command: node, args: [server.mjs], tools: {deny: []}}
`;
    const directory = desk({ 'service.yaml': before });
    const header = ['--header', 'Authorization=Bearer CANARY-1', '--header', 'X-Tenant: acme'];
    const url = ['--url', 'https://shop.example.com/mcp?api_key=CANARY-2&v=1'];
    const made = await add(directory, ['shop', ...url, ...header, '--allow', 'refund, find']);
    expect(made).toMatchObject({
      code: 0,
      stdout: `added the MCP server shop to ${directory}/service.yaml
kept SHOP_API_KEY in ${directory}/.service/.env
kept SHOP_TOKEN in ${directory}/.service/.env
`,
    });
    expect(read(directory, 'service.yaml')).toBe(
      `${before}    - {name: shop, url: "https://shop.example.com/mcp?api_key=\${SHOP_API_KEY}&v=1", headers: {Authorization: "Bearer \${SHOP_TOKEN}", X-Tenant: acme}, tools: {allow: [refund, find]}}\n`,
    );
    expect(kept(directory)).toEqual({ SHOP_API_KEY: 'CANARY-2', SHOP_TOKEN: 'CANARY-1' });
    expect(statSync(join(directory, '.service/.env')).mode & 0o777).toBe(0o600);
    const env = { OPENAI_API_KEY: 'sk-1' };
    const valid = await holdpointHere(['validate', '--dir', directory], { env });
    expect(valid.code).toBe(0);
  });

  it.each<[string, string[], string[], Record<string, string>]>([
    ['a variable', ['--env', 'SHOP_KEY=CANARY', '--env', 'REGION=eu'], [], { SHOP_KEY: 'CANARY' }],
    [
      'an npm variable',
      ['--env', 'NODE_AUTH_TOKEN=CANARY'],
      [],
      { SHOP_NODE_AUTH_TOKEN: 'CANARY' },
    ],
    ['an option', [], ['--api-key', 'CANARY'], { SHOP_API_KEY: 'CANARY' }],
    ['an option with =', [], ['--token=CANARY'], { SHOP_TOKEN: 'CANARY' }],
    [
      'a key recognized by its format',
      [],
      ['ghp_CANARY0123456789'],
      { SHOP_SECRET: 'ghp_CANARY0123456789' },
    ],
  ])('stores %s in .env and prints it nowhere', async (_, flags, args, variables) => {
    const directory = desk();
    const made = await add(directory, ['shop', ...flags, '--', 'node', 'server.mjs', ...args]);
    expect([made.code, kept(directory)]).toEqual([0, variables]);
    expect(made.stdout + made.stderr + read(directory, 'service.yaml')).not.toContain('CANARY');
    expect(read(directory, 'service.yaml')).toContain(`\${${Object.keys(variables)[0]}}`);
  });

  it('warns of a file that the sandbox hides', async () => {
    const elsewhere = `${desk()}/server.mjs`;
    const directory = desk({ 'service.yaml': `${service}egress: {sandbox: bwrap}\n` });
    const { stderr } = await add(directory, ['files', '--', 'node', elsewhere]);
    expect(stderr.split('\n')[0]).toBe(
      `service.yaml:9:11: warning: files cannot see ${elsewhere}, which the sandbox hides; copy it into the folder of the agent, or set egress.sandbox to env`,
    );
    const open = desk({ 'service.yaml': `${service}egress: {sandbox: env}\n` });
    expect((await add(open, ['files', '--', 'node', elsewhere])).stderr).not.toContain('warning');
  });

  it('keeps variable names, and lists unset ones', async () => {
    const directory = desk();
    const flags = ['--header', 'Authorization=Bearer ${MY_TOKEN}', '--header', 'X-A=${A_SET} $${'];
    const made = await add(directory, ['shop', '--url', 'https://s.example.com', ...flags], {
      A_SET: 'x',
    });
    expect([made.code, existsSync(join(directory, '.service/.env'))]).toEqual([0, false]);
    expect(made.stderr).toContain(
      `it needs MY_TOKEN: set it with holdpoint secret set MY_TOKEN --dir ${directory}\n`,
    );
    expect(made.stderr).not.toContain('A_SET');
  });

  it('warns of a missing program, and of one that uses a registry', async () => {
    const directory = desk();
    const missing = await add(directory, ['files', '--', 'nodee', 'server.mjs']);
    expect([missing.code, missing.stderr]).toEqual([
      0,
      expect.stringMatching(
        /warning: files needs the program nodee, which is not in \S+; install it/,
      ),
    ]);
    expect((await add(directory, ['more', '--', './npx', 'a'])).stderr).toContain(
      'asks a registry at each start',
    );
  });

  it.each([
    [['Shop', '--', 'node'], 'the name of an MCP server is kebab-case'],
    [['files', '--', 'node'], 'service.yaml has an MCP server files already'],
    [
      ['shop'],
      'an MCP server has either an address or a command; give --url URL, or the command behind --',
    ],
    [['shop', '--url', 'https://s.example.com', '--', 'node'], 'either an address or a command'],
    [
      ['shop', '--url', 'ftp://s.example.com'],
      'the address of an MCP server is an http or https URL',
    ],
    [['shop', '--url', 'https://s.example.com', '--env', 'A=b'], '--env is for a command'],
    [['shop', '--header', 'A=b', '--', 'node'], '--header is for an address'],
    [
      ['shop', '--env', 'CANARY', '--', 'node'],
      '--env takes a name and a value; write --env NAME=VALUE',
    ],
    [['shop', '--allow', 'a', '--deny', 'b', '--', 'node'], 'a server has one list of tools'],
    [
      ['shop', '--allow', 'a', '--held', 'b', '--', 'node'],
      'b is held and the agent would not have it',
    ],
    [
      ['shop', '--to', 'channel:console:*', '--', 'node'],
      '--to is the approval target of held calls',
    ],
    [['shop', '--held', 'a', '--to', 'ops', '--', 'node'], 'service.yaml was not changed'],
    [
      ['shop', '--env', 'SHOP_KEY=CANARY', '--', 'node'],
      'the agent has another value for SHOP_KEY already',
    ],
  ])('refuses %j and writes nothing', async (words, message) => {
    const before = `${service}mcp: {servers: [{name: files, command: node, tools: {deny: []}}]}\n`;
    const directory = desk({ 'service.yaml': before, '.service/.env': 'SHOP_KEY=mine\n' });
    const { code, stdout, stderr } = await add(directory, words);
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('CANARY');
    expect([read(directory, 'service.yaml'), kept(directory)]).toEqual([
      before,
      { SHOP_KEY: 'mine' },
    ]);
  });

  it('stores no secret where the agent reads no .env', async () => {
    const before = `${service}secrets: {providers: [encrypted-file]}\n`;
    const directory = desk({ 'service.yaml': before });
    const { code, stderr } = await add(directory, [
      'shop',
      '--env',
      'SHOP_KEY=CANARY',
      '--',
      'node',
    ]);
    expect([code, stderr]).toEqual([
      1,
      'error: secrets.providers has no env, so SHOP_KEY cannot be kept in .env; keep it with the command secret set, and write ${SHOP_KEY} in its place\n',
    ]);
    expect(read(directory, 'service.yaml')).toBe(before);
  });
});
