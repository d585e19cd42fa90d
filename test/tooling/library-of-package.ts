import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fencesOf, readPage } from '../docs/fences.ts';
import { root, runCommand } from './run-command.ts';

/** What a strict program checks its types with; those of XState fail where `undefined` is no absence. */
const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  module: 'nodenext',
  moduleResolution: 'nodenext',
  target: 'es2024',
  verbatimModuleSyntax: true,
  types: ['node'],
};

/** The packed files that a program installs, and how its imports begin. */
export interface Packed {
  /** The main package. */
  main: string;
  /** The package of a public module; without it a program imports what the main package exports. */
  own?: (name: string) => string;
}

/** Tests the public modules in programs of others: what the main package exports, or the packages of their own. */
export function testLibrary({ main, own }: Packed): void {
  const prefix = own === undefined ? 'holdpoint/' : '@holdpoint/';
  const named = (text: string) =>
    text.replaceAll(/'@?holdpoint\/(?=client|machines|testing)/g, `'${prefix}`);
  const pageOf = (page: string, language: string) =>
    fencesOf(readPage(page))
      .filter((fence) => fence.language === language)
      .map(({ text }) => named(text));

  /** Makes a program of an example in a separate folder, with a public module and the packages that its author installs. */
  async function programOf(module: string, example: string, packages: string[]): Promise<string> {
    const program = mkdtempSync(join(tmpdir(), 'program-'));
    onTestFinished(() => rmSync(program, { recursive: true }));
    if (own !== undefined) await installOffline(program, own(module));
    if (own === undefined || packages.includes('holdpoint')) {
      const installed = join(program, 'node_modules/holdpoint');
      mkdirSync(installed, { recursive: true });
      const taken = ['-xzf', main, '--strip-components=1', '-C', installed];
      expect((await runCommand('tar', taken)).status).toBe(0);
    }
    for (const name of ['@types/node', ...packages.filter((one) => one !== 'holdpoint')]) {
      const place = join(program, 'node_modules', name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), place);
    }
    cpSync(join(root, 'examples', example), program, { recursive: true });
    for (const path of globSync('*.ts', { cwd: program }).map((name) => join(program, name))) {
      writeFileSync(path, named(readFileSync(path, 'utf8')));
    }
    const settings = { compilerOptions, include: ['*.ts'] };
    writeFileSync(join(program, 'tsconfig.json'), JSON.stringify(settings));
    return program;
  }

  it('a chart of a task runs in another program, as the page on embedding shows it', async () => {
    const program = await programOf('machines', 'embedding', ['xstate']);
    const [whole = '', later = ''] = pageOf('docs/embedding.md', 'ts');
    expect(whole).toBe(readFileSync(join(program, 'refund.ts'), 'utf8'));
    expect(linesOf(whole)).toBeLessThan(60);
    writeFileSync(join(program, 'later.ts'), `${whole}${later}`);
    expect(await runCommand('tsc', [], program)).toEqual({ status: 0, stdout: '', stderr: '' });
    const [stdout] = pageOf('docs/embedding.md', 'text');
    for (const file of ['refund.ts', 'later.ts']) {
      expect(await runCommand('node', [file], program)).toEqual({ status: 0, stdout, stderr: '' });
    }
  });

  it('a gate is called in another program, as the page on clients shows it', async () => {
    const program = await programOf('client', 'embedding', []);
    rmSync(join(program, 'refund.ts'));
    const [first = '', hold = '', double = ''] = pageOf('docs/clients.md', 'ts');
    const adapters = ['ai-sdk', 'langchain', 'mastra', 'openai-agents'];
    const imports = adapters.map(
      (name, index) => `import * as a${index} from '${prefix}client/${name}';`,
    );
    writeFileSync(join(program, 'first.ts'), first + hold);
    const names = `console.log(${adapters.map((_, index) => `Object.keys(a${index})`).join()});`;
    writeFileSync(join(program, 'double.ts'), [...imports, double, names].join('\n'));
    expect(await runCommand('tsc', [], program)).toEqual({ status: 0, stdout: '', stderr: '' });
    const { status, stdout, stderr } = await runCommand('node', ['double.ts'], program);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain("tool: 'mail'");
    expect(stdout).toContain(
      "[ 'guardTools' ] [ 'guardTool' ] [ 'guardExecute' ] [ 'guardExecute' ]",
    );
  });

  it('holds are checked in another program, as the page on the checks shows it', async () => {
    const program = await programOf('testing', 'testing', []);
    const [run = '', adapter = ''] = pageOf('docs/holds-kit.md', 'ts');
    rmSync(join(program, 'policy.test.ts'));
    writeFileSync(join(program, 'run.ts'), run.replace('./gate-holds.ts', './gate-holds.js'));
    writeFileSync(join(program, 'gate-holds.ts'), adapter);
    expect(await runCommand('tsc', [], program)).toEqual({ status: 0, stdout: '', stderr: '' });
    const script = `import { runHoldChecks } from '${prefix}testing/holds';
      const refuse = async () => ({ refused: 'closed' });
      const { passed } = await runHoldChecks({ name: 'none', ask: refuse, read: refuse });
      console.log(passed > 0);`;
    writeFileSync(join(program, 'none.mjs'), script);
    expect(await runCommand('node', ['none.mjs'], program)).toEqual({
      ...{ status: 0, stdout: 'true\n', stderr: '' },
    });
  });

  it('an agent is tested in another program, as the page on testing shows it', async () => {
    const program = await programOf('testing', 'testing', ['holdpoint', 'fast-check']);
    const fences = pageOf('docs/testing.md', 'ts');
    const property = readFileSync(join(program, 'policy.test.ts'), 'utf8');
    expect(fences).toContain(property);
    expect(linesOf(property)).toBeLessThan(20);
    for (const [index, text] of fences.entries()) {
      writeFileSync(join(program, `page-${index}.test.ts`), text);
    }
    expect(await runCommand('tsc', [], program)).toEqual({ status: 0, stdout: '', stderr: '' });
    const words = ['--disable-warning=ExperimentalWarning', '--test', '--test-reporter=tap'];
    const { status, stdout } = await runCommand('node', words, program);
    const [tally] = /^# pass \d+\n# fail \d+$/m.exec(stdout) ?? [stdout];
    expect({ status, tally }).toEqual({ status: 0, tally: '# pass 4\n# fail 0' });
    expect(readdirSync(program).toSorted()).toEqual(
      ['README.md', 'agent', 'node_modules', 'package.json', 'tsconfig.json', 'policy.test.ts']
        .concat(fences.map((_, index) => `page-${index}.test.ts`))
        .toSorted(),
    );
  });
}

function linesOf(text: string): number {
  return text.trimEnd().split('\n').length;
}

/** Installs a packed file without the registry and the cache of this machine. */
async function installOffline(program: string, file: string): Promise<void> {
  const cache = mkdtempSync(join(tmpdir(), 'npm-cache-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  const words = ['install', '--offline', '--no-audit', '--no-fund', '--no-package-lock'];
  // Peers are what the author of the program installs.
  const { status, stderr } = await runCommand(
    'npm',
    [...words, '--legacy-peer-deps', '--cache', cache, file],
    program,
  );
  expect([status, stderr]).toEqual([0, '']);
}
