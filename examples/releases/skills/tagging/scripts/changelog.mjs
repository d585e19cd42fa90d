import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project: the first that scripts may write. */
export const project =
  process.env.SERVICE_WORK_DIR ?? fileURLToPath(new URL('../../../project', import.meta.url));

/** Where the changelog is. */
export const changelogPath = join(project, 'CHANGELOG.md');

/** Reads the changelog: all of its text, the last version and what no version has yet. */
export async function readChangelog() {
  const text = await readFile(changelogPath, 'utf8');
  const [, changes] = /^## Unreleased[ \t]*\r?\n(.*?)(?=^## |$(?![\s\S]))/ms.exec(text) ?? [];
  if (changes === undefined) {
    throw new Error('the changelog has no heading "## Unreleased"; add one at its top');
  }
  const [, last = '0.0.0'] = /^## (\d+\.\d+\.\d+)\b/m.exec(text) ?? [];
  return { text, last, changes: changes.trim() };
}

/** Names the version that these changes ask for. */
export function nextVersion(last, changes) {
  const [major, minor, patch] = numbersOf(last);
  if (/^### (Removed|Breaking)\b/m.test(changes)) return `${major + 1}.0.0`;
  if (/^### (Added|Changed)\b/m.test(changes)) return `${major}.${minor + 1}.0`;
  return `${major}.${minor}.${patch + 1}`;
}

/** True when a version is higher than another. */
export function isAbove(version, other) {
  const numbers = numbersOf(other);
  const differing = numbersOf(version).map((number, at) => number - numbers[at]);
  return (differing.find((difference) => difference !== 0) ?? 0) > 0;
}

function numbersOf(version) {
  return version.split('.').map(Number);
}
