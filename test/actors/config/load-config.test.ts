import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../../../src/actors/config/config.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'config-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

function problem(message: string) {
  const place = { file: 'service.yaml', line: 1, column: 1, path: '' };
  return { ok: false, files: [], problems: [{ ...place, message }], warnings: [] };
}

it('reads service.yaml with the variables of the environment', () => {
  writeFileSync(join(directory, 'service.yaml'), 'agent_id: ${ID}\nversion: 1\n');
  expect(loadConfig(directory, { ID: 'refunds' })).toEqual({
    ok: false,
    files: [],
    problems: [
      {
        message: 'version: this must be text; put it in quotes',
        file: 'service.yaml',
        line: 2,
        column: 10,
        path: 'version',
      },
    ],
    warnings: [],
  });
});

it('names the remedy when the file is missing', () => {
  expect(loadConfig(directory, {})).toEqual(
    problem(
      `there is no service.yaml in ${directory}; copy examples/refunds to start, or pass --dir`,
    ),
  );
});

it('refuses a file that is not UTF-8', () => {
  writeFileSync(join(directory, 'service.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xff]));
  expect(loadConfig(directory, {})).toEqual(
    problem('service.yaml is not UTF-8 text; save it as UTF-8'),
  );
});

it('refuses a large file without reading it', () => {
  writeFileSync(join(directory, 'service.yaml'), Buffer.alloc(300 * 1024, 0xff));
  expect(loadConfig(directory, {})).toEqual(
    problem('the file is larger than 256 KiB; make it smaller'),
  );
});

it('refuses a folder of that name', () => {
  mkdirSync(join(directory, 'service.yaml'));
  expect(loadConfig(directory, {})).toEqual(
    problem(
      `service.yaml in ${directory} cannot be read (no file); check that it is a file you may read`,
    ),
  );
});
