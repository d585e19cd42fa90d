import { once } from 'node:events';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Zip from 'jszip';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { cleanUp, type Running, startProcess } from '../cli/holdpoint.ts';
import { testLibrary } from './library-of-package.ts';
import { root, runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'package-'));
const modules = join(folder, 'node_modules');
const installed = join(modules, 'holdpoint');
const command = join(installed, 'bin/holdpoint');

/** An agent that has a worker count. */
const counting = `agent_id: counter
model: {provider: scripted, script: [{tool: math_calculate, args: {expression: 6 * 7}}, {say: "it is {result}"}]}
builtin_tools: [math_calculate]
egress: {sandbox: env}
`;

/** What is read of the list of what ships. */
interface Sbom {
  bomFormat: string;
  serialNumber?: string;
  metadata: { timestamp?: string };
  components: {
    'bom-ref': string;
    name: string;
    hashes: object[];
    licenses: { license?: { id: string }; expression?: string }[];
  }[];
}

/** Puts the tarball where npm would, with the packages that npm installs for it: nothing that only a clone has. */
beforeAll(async () => {
  const packed = await runCommand('npm', ['pack', '--json', '--pack-destination', folder], root);
  const [tarball = ''] = readdirSync(folder);
  expect({ status: packed.status, tarball }).toEqual({ status: 0, tarball: 'holdpoint-0.1.0.tgz' });
  mkdirSync(installed, { recursive: true });
  const taken = ['-xzf', join(folder, tarball), '--strip-components=1', '-C', installed];
  expect((await runCommand('tar', taken)).status).toBe(0);
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    if (!existsSync(join(root, 'node_modules', name))) continue;
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the address of the inspector, which a daemon without a terminal writes to its log. */
async function streamOf({ child }: Running): Promise<string> {
  for await (const line of createInterface({ input: child.stderr! })) {
    const [, address] = /inspector: (ws:\S+)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('the inspector was not opened');
}

describe('the package', () => {
  it('contains the files that it runs and that people read, and no sources', () => {
    const names = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin',
      'deploy',
      'dist',
      'docs',
      'examples',
      'package.json',
      'packages',
      'skills',
    ];
    expect(readdirSync(installed).toSorted()).toEqual(names);
    const built = globSync('packages/**/*.js', { cwd: installed }).filter(
      (path) => !/-[\w-]{8}\.js$/.test(path),
    );
    expect(built.toSorted()).toEqual([
      'packages/client/dist/ai-sdk.js',
      'packages/client/dist/client.js',
      'packages/client/dist/langchain.js',
      'packages/client/dist/mastra.js',
      'packages/client/dist/openai-agents.js',
      'packages/machines/dist/machines.js',
      'packages/testing/dist/arbitraries.js',
      'packages/testing/dist/holds.js',
    ]);
    expect(globSync('packages/*/*', { cwd: installed })).toHaveLength(3);
  });

  it('matches its package.json', async () => {
    const { status, stdout, stderr } = await runCommand(
      join(root, 'node_modules/.bin/publint'),
      [installed, '--strict', '--pack=false'],
      folder,
    );
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('All good!');
  });

  it("runs its command on the machine's Node", async () => {
    expect(await runCommand(command, ['--version'], folder)).toEqual({
      status: 0,
      stdout: '0.1.0\n',
      stderr: '',
    });
  });

  it('works completely: a script runs, a person releases, the log verifies', async () => {
    const { status, stdout } = await runCommand(command, ['try', '--scripted'], folder);
    expect(status).toBe(0);
    expect(stdout).toContain('Order A-1042 is refunded.');
    expect(stdout).toContain('18 events, chain intact, 18 signed');
  });

  it.each([
    ['slack', 'fake'],
    ['try', '--slack-demo'],
  ])('has no fake Slack for %s %s', async (...words) => {
    expect(await runCommand(command, words, folder)).toEqual({
      status: 1,
      stdout: '',
      stderr: 'error: the installed package has no fake Slack; run this command in a clone\n',
    });
  });

  it('has the pages of its docs command', async () => {
    const { status, stdout } = await runCommand(command, ['docs', '--json'], folder);
    const { pages } = JSON.parse(stdout) as { pages: { name: string }[] };
    const pagesOfClone = globSync('docs/**/*.md', { cwd: root });
    expect([status, pages.length]).toEqual([0, pagesOfClone.length + 3]);
    const { stdout: page } = await runCommand(command, ['docs', 'gate'], folder);
    expect(page.split('\n')[0]).toBe('Hold calls of any agent');
  });

  it('contains its skills', async () => {
    const { status, stdout } = await runCommand(command, ['skills', 'list', '--json'], folder);
    const { skills } = JSON.parse(stdout) as { skills: { name: string }[] };
    expect([status, skills.map(({ name }) => name)]).toEqual([
      0,
      readdirSync(join(root, 'skills')).toSorted(),
    ]);
  });

  it('reads JSON with comments, TOML and archives', async () => {
    const from = mkdtempSync(join(folder, 'import-'));
    const skill = '---\nname: notes\ndescription: Notes\n---\nBe brief.\n';
    const zip = await new Zip().file('notes/SKILL.md', skill).generateAsync({ type: 'nodebuffer' });
    mkdirSync(join(from, 'notes'));
    writeFileSync(join(from, 'notes/SKILL.md'), skill);
    expect((await runCommand('tar', ['-czf', 'notes.tar.gz', 'notes'], from)).status).toBe(0);
    const sources = {
      'mcp.json': '{"mcpServers": {"a": {"command": "x"}}, /* of an editor */}',
      'config.toml': '[mcp_servers.a]\ncommand = "x"\n',
      'notes.zip': zip,
    };
    for (const [name, content] of Object.entries(sources)) writeFileSync(join(from, name), content);
    for (const name of [...Object.keys(sources), 'notes.tar.gz']) {
      const { status, stderr } = await runCommand(command, ['import', name, '--preview'], from);
      expect([name, status, stderr]).toEqual([name, 0, '']);
    }
  });

  it('serves an agent: its tools run in workers, and its inspector streams', async () => {
    const agent = mkdtempSync(join(tmpdir(), 'agent-'));
    onTestFinished(() => rmSync(agent, { recursive: true }));
    writeFileSync(join(agent, 'service.yaml'), counting);
    const words = ['run', '--dir', agent, '--port', '0', '--inspect', '0'];
    const daemon = startProcess(command, words, { env: { XDG_STATE_HOME: join(agent, 'state') } });
    onTestFinished(cleanUp);
    const address = await streamOf(daemon);
    const sent = await runCommand(command, ['task', 'send', 'count', '--dir', agent], folder);
    expect([sent.status, sent.stdout]).toEqual([0, expect.stringContaining('it is 42')]);
    const token = readFileSync(join(agent, '.service/inspector.token'), 'utf8');
    const watcher = new WebSocket(address + token);
    const [first] = (await once(watcher, 'message')) as [{ data: string }];
    watcher.close();
    expect(JSON.parse(first.data)).toMatchObject({ type: '@xstate.actor' });
  });

  it('has a file for every worker', () => {
    const named = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
      [
        ...readFileSync(join(root, path), 'utf8').matchAll(
          /from: import\.meta,\s+module: '\.\/([^']+)'/g,
        ),
      ].map(([, name]) => `${name}.js`),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !existsSync(join(installed, 'dist', name)))).toEqual([]);
  });

  it('states the licence of each package inside it', () => {
    const notices = readFileSync(join(installed, 'dist/licenses.md'), 'utf8');
    const { version } = JSON.parse(
      readFileSync(join(root, 'node_modules/zod/package.json'), 'utf8'),
    ) as { version: string };
    expect(notices).toContain(`\n- zod ${version}: MIT\n`);
    expect(notices).toContain(readFileSync(join(root, 'node_modules/zod/LICENSE'), 'utf8').trim());
    expect(notices).not.toContain('Copyright (c) the authors of');
    expect(notices).toContain('# In the pages of the dashboard');
    // The approvals page asks passkeys with it.
    expect(notices).toMatch(/^## @simplewebauthn\/browser - /m);
  });

  it('lists every shipped package, with the hashes of the lock file, under licences that permit it', () => {
    const text = readFileSync(join(installed, 'dist/sbom.cdx.json'), 'utf8');
    const { bomFormat, components, serialNumber, metadata } = JSON.parse(text) as Sbom;
    expect([bomFormat, serialNumber, metadata.timestamp]).toEqual([
      'CycloneDX',
      undefined,
      undefined,
    ]);
    const notices = readFileSync(join(installed, 'dist/licenses.md'), 'utf8');
    const inside = [...notices.matchAll(/^- (\S+) (\S+): /gm)].map(([, ...of]) => of.join('@'));
    const inPages = [...notices.matchAll(/^## (\S+) - (\S+) \(/gm)].map(([, ...of]) =>
      of.join('@'),
    );
    const refs = components.map((component) => component['bom-ref']);
    expect([...inside, ...inPages, 'piscina@5.3.2'].filter((name) => !refs.includes(name))).toEqual(
      [],
    );
    expect(refs.filter((ref) => /^(vitest|typescript|@biomejs)/.test(ref))).toEqual([]);
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { integrity: string }>;
    };
    const [, hash = ''] = lock.packages['node_modules/zod']?.integrity.split('-') ?? [];
    expect(components.find(({ name }) => name === 'zod')?.hashes).toEqual([
      { alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') },
    ]);
    const terms = components.flatMap(({ licenses }) =>
      licenses.map(({ license, expression }) => license?.id ?? expression),
    );
    expect(new Set(terms)).toEqual(
      new Set([
        '(MIT AND Zlib)',
        '(MIT OR GPL-3.0-or-later)',
        '(MPL-2.0 OR Apache-2.0)',
        '0BSD',
        'Apache-2.0',
        'BSD-2-Clause',
        'BSD-3-Clause',
        'BlueOak-1.0.0',
        'ISC',
        'MIT',
        'MIT-0',
        // Its files ship unchanged, and the notices name their source.
        'MPL-2.0',
        'Unlicense',
      ]),
    );
  });

  it('contains no path of the build machine', () => {
    const files = globSync('**/*', { cwd: installed, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.length).toBeGreaterThan(500);
    expect(files.filter((file) => readFileSync(file).includes(root))).toEqual([]);
  });

  it('contains the complete page of the dashboard', () => {
    const page = join(installed, 'dist/ui/dashboard');
    const index = readFileSync(join(page, 'index.html'), 'utf8');
    const named = [...index.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(named.length).toBeGreaterThan(1);
    for (const name of named) expect(existsSync(join(page, name!))).toBe(true);
  });

  testLibrary({ main: join(folder, 'holdpoint-0.1.0.tgz') });

  it('installs no program of another package before those of the project', () => {
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string>>;
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    const programs = names.flatMap((name) => {
      const path = join(root, 'node_modules', name, 'package.json');
      const { bin = {} } = JSON.parse(readFileSync(path, 'utf8')) as { bin?: object };
      return Object.keys(bin);
    });
    expect(programs).toEqual([]);
  });

  it('names the required Node of its test modules before one of them is evaluated', async () => {
    const face = readFileSync(join(installed, 'dist/testing.js'), 'utf8');
    expect(face).toBe("import './testing-node.js';\nexport * from './testing-main.js';\n");
    const old = "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })";
    const script = `${old}; import('holdpoint/testing').catch(({ message }) => console.log(message))`;
    expect(await runCommand('node', ['-e', script], folder)).toEqual({
      ...{ status: 0, stderr: '' },
      stdout: 'holdpoint/testing needs Node 24 or newer; this is 20.20.2\n',
    });
  });
});

describe('the packages for other programs', () => {
  const names = ['client', 'machines', 'testing'];

  /** Packs them as the build of the main package left them. */
  beforeAll(async () => {
    const workspaces = names.map((name) => `--workspace=packages/${name}`);
    const words = ['pack', '--ignore-scripts', '--pack-destination', folder, ...workspaces];
    expect(await runCommand('npm', words, root)).toMatchObject({ status: 0 });
  });

  it.each(names)('contain the files of package.json, and documentation: %s', async (name) => {
    const words = [fileOf(name), '--strict'];
    const publint = join(root, 'node_modules/.bin/publint');
    const { status, stdout, stderr } = await runCommand(publint, words, folder);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('All good!');
    const listed = await runCommand('tar', ['-tzf', fileOf(name)], folder);
    const tops = listed.stdout.split('\n').map((path) => path.split('/')[1]);
    expect([...new Set(tops)].filter((top) => top !== undefined).toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ]);
  });

  it('have a client of at most 20 KB', () => {
    expect(statSync(fileOf('client')).size).toBeLessThanOrEqual(20_000);
  });

  testLibrary({ main: join(folder, 'holdpoint-0.1.0.tgz'), own: fileOf });
});

function fileOf(name: string): string {
  return join(folder, `holdpoint-${name}-0.1.0.tgz`);
}
