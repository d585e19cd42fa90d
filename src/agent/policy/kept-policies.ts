import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivately } from '../../actors/process/process.ts';

function folderOf(directory: string): string {
  return join(directory, '.service', 'policies');
}

/** Keeps the canonical text of a policy in force, under its digest. */
export function keepPolicy(directory: string, sha256: string, text: string): void {
  const folder = folderOf(directory);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writePrivately(join(folder, `${sha256}.json`), text);
}

/**
 * Returns the text of the kept policy whose digest begins with `start`; `null` if there is none or there are several. A
 * text that does not match its digest counts as absent.
 */
export function keptPolicy(
  directory: string,
  start: string,
): { sha256: string; text: string } | null {
  const [name, ...others] = namesIn(folderOf(directory)).filter((each) => each.startsWith(start));
  if (name === undefined || others.length > 0) return null;
  const text = readFileSync(join(folderOf(directory), name), 'utf8');
  const sha256 = name.slice(0, -'.json'.length);
  return hash('sha256', text, 'hex') === sha256 ? { sha256, text } : null;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}
