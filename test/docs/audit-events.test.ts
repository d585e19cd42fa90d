import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** The forms of an event of the log: next to the key, as the name of one, and where facts of a task are worded. */
const written = [
  /\bevent: '([a-z]+(?:_[a-z]+)*)'/g,
  /\bcheckpointEvent = '([a-z]+(?:_[a-z]+)*)'/g,
  /=> \[\s*'([a-z]+(?:_[a-z]+)*)'/g,
  /\? \['(egress_[a-z]+)'|: \['(egress_[a-z]+)'/g,
];

/** Parts of a stream to a browser or a client are called events as well. */
const streams = /^src\/(ui|cli|dashboard|http\/(a2a|mcp|routes|task-stream))/;

function eventsInCode(): string[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !streams.test(file));
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const patterns = file.includes('/records/log/') ? written : written.slice(0, 2);
    return patterns.flatMap((pattern) =>
      [...text.matchAll(pattern)].flatMap(([, ...names]) =>
        names.filter((name) => name !== undefined),
      ),
    );
  });
}

/** The names in the first column of the tables of events. */
function eventsOnPage(): string[] {
  const page = readFileSync(join(root, 'docs/audit-log.md'), 'utf8');
  const tables = page.matchAll(/^\| `event` \| `fields` \|\n\|---\|---\|\n((?:\|.*\n)+)/gm);
  return [...tables].flatMap(([, rows = '']) =>
    rows.split('\n').flatMap((row) => {
      const [, names = ''] = row.split('|');
      return [...names.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
    }),
  );
}

it('the page describes every event of the audit log, and no other', () => {
  const [code, page] = [new Set(eventsInCode()), eventsOnPage()];
  expect([...code].filter((name) => !page.includes(name)).toSorted()).toEqual([]);
  expect(page.filter((name) => !code.has(name)).toSorted()).toEqual([]);
  expect(page.toSorted()).toEqual([...code].toSorted());
});
