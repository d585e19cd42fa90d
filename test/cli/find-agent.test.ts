import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeServeFile } from '../../src/actors/process/serve-file.ts';
import type { CliError } from '../../src/cli/cli-error.ts';
import { findAgent } from '../../src/cli/find-agent.ts';
import { localUrl } from '../../src/machines/url-of.ts';

let dir: string;
let tokenPath: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdpoint-test-'));
  tokenPath = join(dir, '.service', 'runtime.token');
  mkdirSync(join(dir, '.service'));
  writeFileSync(tokenPath, 'runtime-secret');
});

afterEach(() => rmSync(dir, { recursive: true }));

function serve(change: { pid?: number; auth_enabled?: boolean; is_shared?: true } = {}): void {
  writeServeFile(join(dir, '.service'), {
    pid: process.pid,
    port: 8081,
    host: '127.0.0.1',
    auth_enabled: true,
    token_path: tokenPath,
    started_at: '2026-07-01T09:00:00.000Z',
    version: '0.1.0',
    proof_key: 'k',
    ...change,
  });
}

function failureOf(run: () => unknown): Pick<CliError, 'code' | 'exitCode'> {
  try {
    run();
  } catch (error) {
    const { code, exitCode } = error as CliError;
    return { code, exitCode };
  }
  throw new Error('nothing was thrown');
}

describe('findAgent', () => {
  it('finds the agent of a folder and its own token', () => {
    serve();
    expect(findAgent({ dir }, {})).toEqual({
      url: 'http://127.0.0.1:8081',
      token: 'runtime-secret',
      proof: { key: 'k', port: 8081 },
      startHint: `start it with: holdpoint run --dir ${dir}`,
      flags: ` --dir ${dir}`,
    });
  });

  it("prefers SERVICE_TOKEN to the daemon's token, and --token-file to both", () => {
    serve();
    const tokenFile = join(dir, 'mine');
    writeFileSync(tokenFile, ' of-the-file\n');
    const env = { SERVICE_TOKEN: 'of-the-environment' };
    expect(findAgent({ dir }, env).token).toBe('of-the-environment');
    expect(findAgent({ dir, tokenFile }, env).token).toBe('of-the-file');
  });

  it("never sends the daemon's own token to a given address", () => {
    serve();
    expect(findAgent({ dir, url: 'https://agents.example.com/refunds/' }, {})).toMatchObject({
      url: 'https://agents.example.com/refunds',
      token: null,
      proof: null,
    });
  });

  it('does not trust a serve.json whose process has exited', () => {
    serve({ pid: 2 ** 22 + 1 });
    expect(failureOf(() => findAgent({ dir }, {}))).toEqual({ code: 'not_running', exitCode: 3 });
  });

  it('needs a token only with authentication', () => {
    serve();
    rmSync(tokenPath);
    expect(failureOf(() => findAgent({ dir }, {}))).toEqual({
      code: 'token_unreadable',
      exitCode: 4,
    });
    serve({ auth_enabled: false });
    expect(findAgent({ dir }, {}).token).toBeNull();
  });

  it('reads in serve.json that other daemons share the tasks', () => {
    serve();
    expect(findAgent({ dir }, {})).not.toHaveProperty('isShared');
    serve({ is_shared: true });
    expect(findAgent({ dir }, {})).toMatchObject({ isShared: true });
  });

  it.each(['ftp://x', 'x:80', 'http://user:secret@x', ''])('refuses the address %j', (url) => {
    expect(failureOf(() => findAgent({ dir, url }, {}))).toEqual({ code: 'usage', exitCode: 2 });
  });
});

describe('localUrl', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['0.0.0.0', 'http://127.0.0.1:80'],
    ['::', 'http://[::1]:80'],
    ['::1', 'http://[::1]:80'],
    ['localhost', 'http://localhost:80'],
  ])('reaches %s at %s', (host, url) => {
    expect(localUrl({ host, port: 80 })).toBe(url);
  });
});
