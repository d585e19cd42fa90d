import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { isLoopbackUrl } from '../../machines/loopback.ts';
import type { IncludeReading, ReadInclude } from './included-policy.ts';
import { readText } from './read-text.ts';

/** Returns the path of the kept copy of a policy from a URL, relative to the agent's folder. */
export function keptPolicyPath(sha256: string): string {
  return join('.service', 'policies', `${sha256}.yaml`);
}

/**
 * Creates the reader of the policies that the files in a folder include. A policy from a URL is read from its kept copy,
 * whose digest is compared.
 */
export function includeReader(directory: string): ReadInclude {
  return (entry, from) =>
    typeof entry === 'string' ? readFile(directory, entry, from) : readKept(directory, entry);
}

function readFile(directory: string, entry: string, from: string): IncludeReading {
  const path = normalize(join(dirname(from), entry));
  const refused = (message: string): IncludeReading => ({ ok: false, message, path });
  if (isAbsolute(entry) || path.startsWith('..')) return refused(outside);
  try {
    const root = realpathSync(directory);
    if (!realpathSync(join(root, path)).startsWith(root + sep)) return refused(outside);
  } catch {
    return refused(`there is no ${path} in ${directory}; create it, or remove this entry`);
  }
  const reading = readText(directory, path);
  if (reading === null) return refused(`there is no ${path} in ${directory}; create it`);
  return reading.ok ? { ok: true, text: reading.text, file: path, path } : refused(reading.message);
}

const outside =
  'the file is outside of the folder of the agent; copy it there, as tools could not change it';

function readKept(
  directory: string,
  { url: address, sha256 }: { url: string; sha256: string },
): IncludeReading {
  const refused = (message: string): IncludeReading => ({ ok: false, message, path: null });
  const url = includeUrl(address);
  if (url === null) return refused(unusableUrl);
  const file = url.origin + url.pathname;
  const path = keptPolicyPath(sha256);
  const reading = readText(directory, path);
  if (reading === null) {
    return refused(`${file} has not been fetched yet; start the agent, which fetches it once`);
  }
  if (!reading.ok) return refused(reading.message);
  if (digestOf(reading.text) !== sha256) {
    return refused(`the kept copy of ${file}, ${path}, has another digest; remove it`);
  }
  return { ok: true, text: reading.text, file, path: null };
}

/** Returns the URL of an included policy; `null` if it may not be fetched. */
export function includeUrl(address: string): URL | null {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '') return null;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackUrl(url)) ? url : null;
}

const unusableUrl = 'the url must be https without a user and a password';

/** Returns the SHA-256 of a policy. */
export function digestOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}
