import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { filesWithSchema, schemaName } from '../../src/actors/config/config.ts';
import { schemaText } from '../../src/agent/create/write-schemas.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'deploy/schemastore');

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Returns whether a file of a test folder fits the schema that its folder names. */
function fits(path: string): boolean {
  const schema = JSON.parse(schemaText(`${basename(dirname(path))}.yaml`)) as object;
  return new Ajv({ strict: true }).compile(schema)(parse(readFileSync(join(folder, path), 'utf8')));
}

describe('the schemas in the repository', () => {
  it.each(filesWithSchema)('match the code, and are at the address of their id: %s', (file) => {
    const path = `schema/${schemaName(file)}`;
    expect(read(path), 'run npm run schemas and commit it').toBe(schemaText(file));
    const { repository } = JSON.parse(read('package.json')) as { repository: { url: string } };
    const [, name] = /^git\+https:\/\/github\.com\/(.+)\.git$/.exec(repository.url) ?? [];
    expect((JSON.parse(read(path)) as { $id: string }).$id).toBe(
      `https://raw.githubusercontent.com/${name}/main/${path}`,
    );
  });
});

describe('the entries for SchemaStore', () => {
  const entries = JSON.parse(read('deploy/schemastore/catalog.json')) as {
    name: string;
    fileMatch: string[];
    url: string;
  }[];

  it('name schemas of the repository', () => {
    const ids = entries.map(({ url }) => url.replace(/^.*\/schema\//, 'schema/'));
    expect(ids.map((path) => (JSON.parse(read(path)) as { $id: string }).$id)).toEqual(
      entries.map(({ url }) => url),
    );
  });

  it('match no file of another product, whose folder is not named holdpoint', () => {
    const patterns = entries.flatMap(({ fileMatch }) => fileMatch);
    expect(patterns.filter((pattern) => !pattern.startsWith('**/holdpoint/'))).toEqual([]);
  });

  it.each(globSync('test/*/*.yaml', { cwd: folder }))('fit the schema: %s', (path) => {
    expect(fits(path)).toBe(true);
  });

  it.each(globSync('negative_test/*/*.yaml', { cwd: folder }))('do not fit: %s', (path) => {
    expect(fits(path)).toBe(false);
  });
});
