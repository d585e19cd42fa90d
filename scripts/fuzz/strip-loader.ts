import { readFile } from 'node:fs/promises';
import { type LoadHook, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Loads TypeScript as JavaScript, whose lines and columns are where they were: what instruments modules reads no types. */
export const load: LoadHook = async (url, context, nextLoad) => {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const source = stripTypeScriptTypes(await readFile(fileURLToPath(url), 'utf8'));
  return { format: 'module', source, shortCircuit: true };
};
