import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assess, type Exception } from '../../scripts/advisories/assess.ts';
import { closure, type Lock, shippedPackages } from '../../scripts/advisories/shipped-packages.ts';
import { root, runCommand } from './run-command.ts';

const url = 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc';

function reportOf(severity: string, place: string) {
  const advisory = { title: 'It leaks', url, severity, range: '<2.0.0' };
  const one = { name: 'a', via: [advisory], nodes: [place] };
  const dependent = { name: 'b', via: ['a'], nodes: ['node_modules/b'] };
  return { vulnerabilities: { a: one, b: dependent } };
}

function assessed(severity: string, place: string, exceptions: Exception[] = []) {
  const shipped = new Set(['node_modules/a', 'node_modules/b']);
  return assess(reportOf(severity, place), { shipped, exceptions, today: '2026-11-27' });
}

const exception = { advisory: 'GHSA-aaaa-bbbb-cccc', reason: 'its parser is not called' };

describe('an advisory', () => {
  it.each(['high', 'critical'])(
    'of %s severity stops a release that contains the package',
    (severity) => {
      expect(assessed(severity, 'node_modules/a')).toEqual({
        failures: [`${severity}: a <2.0.0 (ships): It leaks, ${url}`],
        notes: [],
      });
    },
  );

  it('of moderate severity, or about a package for development, is reported', () => {
    expect(assessed('moderate', 'node_modules/a')).toEqual({
      failures: [],
      notes: [`moderate: a <2.0.0 (ships): It leaks, ${url}`],
    });
    expect(assessed('critical', 'node_modules/c/node_modules/a')).toEqual({
      failures: [],
      notes: [`critical: a <2.0.0 (for development only): It leaks, ${url}`],
    });
  });

  it('is excepted until the last day of its exception', () => {
    expect(assessed('high', 'node_modules/a', [{ ...exception, until: '2026-11-27' }])).toEqual({
      failures: [],
      notes: [
        `high: a <2.0.0 (ships): It leaks, ${url}; excepted until 2026-11-27: its parser is not called`,
      ],
    });
    const { failures } = assessed('low', 'node_modules/a', [{ ...exception, until: '2026-11-26' }]);
    expect(failures).toEqual([
      'the exception for GHSA-aaaa-bbbb-cccc ended on 2026-11-26; update the package, or review the exception',
    ]);
  });

  it('is excepted with a reason and an end', () => {
    const file = join(root, 'scripts/advisories/exceptions.json');
    const exceptions = JSON.parse(readFileSync(file, 'utf8')) as Exception[];
    const wrong = exceptions.filter(
      ({ advisory, reason, until }) =>
        !/^GHSA(-[0-9a-z]{4}){3}$/.test(advisory) ||
        !/\w+ \w+/.test(reason) ||
        !/^\d{4}-\d\d-\d\d$/.test(until),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the packages in the product', () => {
  it('are those that the sources import, with all their dependencies', () => {
    const shipped = shippedPackages(root);
    const names = ['koa', 'zod', 'piscina', 'svelte', 'cookies', 'keygrip'];
    expect(names.filter((name) => !shipped.has(`node_modules/${name}`))).toEqual([]);
    const tools = ['vitest', 'oxlint', 'knip', 'playwright-core', 'dependency-cruiser'];
    expect(tools.filter((name) => shipped.has(`node_modules/${name}`))).toEqual([]);
  });

  it('are found in the folder of their dependent first', () => {
    const lock: Lock = {
      packages: {
        'node_modules/a': { dependencies: { b: '1' }, optionalDependencies: { c: '1' } },
        'node_modules/a/node_modules/b': { peerDependencies: { d: '1' } },
        'node_modules/b': {},
        'node_modules/c': {},
        'node_modules/d': { dependencies: { a: '1', missing: '1' } },
        'node_modules/e': {},
      },
    };
    expect([...closure(lock, ['a', 'node:fs', 'fs', 'unknown'])]).toEqual([
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/c',
      'node_modules/d',
    ]);
  });
});

describe('npm run advisories', () => {
  /** A registry that has advisories, and no packages. */
  async function registry(advisories: object | null): Promise<string> {
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const isAsked = request.url === '/-/npm/v1/security/advisories/bulk';
        if (!isAsked || advisories === null) {
          response.writeHead(404).end('{}');
          return;
        }
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(JSON.stringify(advisories)));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  function advisories(...args: string[]) {
    const script = join(root, 'scripts/advisories.ts');
    return runCommand(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', script, ...args],
      root,
    );
  }

  const advisory = {
    ...{ id: 1, url, title: 'It leaks', severity: 'critical' },
    vulnerable_versions: '<999.0.0',
  };

  it('fails for an advisory about a product package, and reports the others', async () => {
    const place = await registry({ zod: [advisory], oxlint: [advisory] });
    expect(await advisories('--registry', place)).toEqual({
      status: 1,
      stdout: `critical: oxlint <999.0.0 (for development only): It leaks, ${url}\n`,
      stderr: `critical: zod <999.0.0 (ships): It leaks, ${url}\n`,
    });
  });

  it('passes with an exception', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'exceptions-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'exceptions.json');
    writeFileSync(file, JSON.stringify([{ ...exception, until: '9999-12-31' }]));
    const place = await registry({ zod: [advisory] });
    const { status, stdout } = await advisories('--registry', place, '--exceptions', file);
    expect([status, stdout.split('\n').at(-2)]).toEqual([0, 'no advisory stops a release']);
  });

  it('passes with a message if the registry has no advisories or is unreachable, unless it must answer', async () => {
    const place = await registry(null);
    const sentence = /^the advisories could not be fetched, so none was checked: .+\n$/;
    expect(await advisories('--registry', place)).toEqual({
      ...{ status: 0, stderr: '' },
      stdout: expect.stringMatching(sentence),
    });
    const nobody = 'http://127.0.0.1:9';
    expect(await advisories('--registry', nobody)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(sentence),
    });
    expect(await advisories('--registry', nobody, '--required')).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: expect.stringMatching(sentence),
    });
  });
});
