import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname, join } from 'node:path';
import type { PageFile } from '../actors/telemetry/telemetry.ts';
import { programFolder } from '../package-root.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
};

/**
 * Reads the files of the inspector page by path. Strips TypeScript types with Node's own type stripping, because
 * browsers do not accept them.
 */
export function readInspectorPage(): Map<string, PageFile> {
  const folder = join(programFolder, 'ui/inspector');
  const files = readdirSync(folder).map((name): [string, PageFile] => {
    const text = readFileSync(join(folder, name), 'utf8');
    const extension = extname(name);
    const body = extension === '.ts' ? stripTypeScriptTypes(text) : text;
    const path = name === 'index.html' ? '/' : `/${name}`;
    return [path, { type: types[extension] ?? 'text/plain; charset=utf-8', body }];
  });
  return new Map(files);
}
