import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorCodes } from '../../../src/http/wire/error-codes.ts';

const root = join(import.meta.dirname, '../../..');

function read(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
}

describe('the list of codes', () => {
  it('has only codes in snake case, each with a status of an error and one sentence', () => {
    for (const [code, [status, meaning]] of Object.entries(errorCodes)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(status).toSatisfy((one: number) => one >= 400 && one < 600);
      expect(meaning).toMatch(/^\S.*[^.]\.$/);
    }
  });

  it('has only codes that the sources use', () => {
    const sources = read('src/**/*.ts').filter((text) => !text.includes('const agent = {'));
    const names = sources.flatMap((text) => [...text.matchAll(/'([a-z_]+)'/g)]);
    const used = new Set(names.map(([, name]) => name));
    expect(Object.keys(errorCodes).filter((code) => !used.has(code))).toEqual([]);
  });

  it('has the code of each error body in the contract, with the status of its row', () => {
    const rows = read('docs/contract/*.md').flatMap((page) => page.split('\n'));
    const bodies = rows.flatMap((row) => [
      ...row.matchAll(/(\b[45]\d\d\b)[^{]*\{error: "(.*?)"([^}]*)\}/g),
    ]);
    expect(bodies.length).toBeGreaterThan(12);
    for (const [body, status, error, members] of bodies) {
      const code = /code: "(\w+)"/.exec(members ?? '')?.[1] ?? error;
      expect([body, errorCodes[code as ErrorCode]?.[0]]).toEqual([body, Number(status)]);
    }
  });
});
