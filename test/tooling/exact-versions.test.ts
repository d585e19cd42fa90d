import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './run-command.ts';

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  overrides?: Record<string, string | Record<string, string>>;
}

interface Lock {
  lockfileVersion: number;
  packages: Record<
    string,
    { version?: string; resolved?: string; integrity?: string; link?: boolean }
  >;
}

/** A version of the registry, also under another name; `$name` is the version of a dependency. */
const exact = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$|^\$[\w@/.-]+$/;

const exclude = ['**/node_modules/**', 'dist/**'];
const manifests = globSync('**/package.json', { cwd: root, exclude });
const locks = globSync('**/package-lock.json', { cwd: root, exclude });

function read<Content>(file: string): Content {
  return JSON.parse(readFileSync(join(root, file), 'utf8')) as Content;
}

/** Lists what is not exact. Peers are ranges, because the project that installs the package chooses them. */
function loose({ dependencies, devDependencies, optionalDependencies, overrides = {} }: Manifest) {
  const nested = Object.values(overrides).map((value) =>
    typeof value === 'string' ? { override: value } : value,
  );
  const all = [dependencies, devDependencies, optionalDependencies, ...nested];
  return all.flatMap((versions = {}) =>
    Object.entries(versions).filter(([, version]) => !exact.test(version)),
  );
}

/** Folders of the workspaces, which the lock file names without bytes. */
const workspaces = globSync('packages/*/package.json', { cwd: root }).map(dirname);

/** Lists the packages of a lock file that could be other bytes, or come from elsewhere than the registry of npm. */
function unfixed({ packages }: Lock): string[] {
  return Object.entries(packages).flatMap(
    ([path, { resolved = '', integrity = '', link = false }]) => {
      if (path === '' || workspaces.includes(link ? resolved : path)) return [];
      const isOurs = resolved === '' || resolved.startsWith('https://registry.npmjs.org/');
      return isOurs && /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) ? [] : [path];
    },
  );
}

describe('the installed dependencies', () => {
  it('have an exact version each', () => {
    expect(manifests.length).toBeGreaterThan(5);
    expect(manifests.map((file) => [file, loose(read(file))])).toEqual(
      manifests.map((file) => [file, []]),
    );
  });

  it.each(['^1.2.3', '~1.2.3', '1.x', '*', 'latest', '>=1.0.0', 'github:a/b', 'file:../a', '1.2'])(
    'have no range or other source: %s',
    (version) => {
      expect(loose({ dependencies: { a: version } })).toEqual([['a', version]]);
      expect(loose({ overrides: { b: { a: version } } })).toEqual([['a', version]]);
    },
  );

  it('have the bytes of the lock file, and come from the registry of npm', () => {
    expect(locks.length).toBeGreaterThan(4);
    for (const file of locks) {
      const lock = read<Lock>(file);
      expect([file, lock.lockfileVersion, unfixed(lock)]).toEqual([file, 3, []]);
    }
  });

  it.each([
    { version: '1.0.0' },
    { version: '1.0.0', integrity: 'sha1-4oGpjNRBCbBZyAI6JKZlnQ2jD6c=' },
    { resolved: 'https://registry.example.com/a.tgz', integrity: `sha512-${'a'.repeat(86)}==` },
    { resolved: '../elsewhere', link: true },
    { resolved: 'git+ssh://git@github.com/a/b.git#1234567', integrity: '' },
  ])('are refused without either: %j', (entry) => {
    expect(unfixed({ lockfileVersion: 3, packages: { '': {}, 'node_modules/a': entry } })).toEqual([
      'node_modules/a',
    ]);
  });

  it('are none for the client in Python', () => {
    const project = readFileSync(join(root, 'clients/python/pyproject.toml'), 'utf8');
    expect(project).toContain('requires = []\n');
    expect(project).not.toMatch(/^(?:optional-)?dependencies/m);
  });
});
