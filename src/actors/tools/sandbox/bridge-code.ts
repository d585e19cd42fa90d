import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programFolder } from '../../../package-root.ts';

let code: string | undefined;

/** Returns the bridge's code, for `node --eval`. */
export function bridgeCode(): string {
  code ??= readFileSync(join(programFolder, 'actors/tools/sandbox/sandbox-bridge.js'), 'utf8');
  return code;
}
