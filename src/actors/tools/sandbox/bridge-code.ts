import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

let code: string | undefined;

/**
 * The bridge as JavaScript, for `node --eval`. Its types are taken off here once, because doing so in
 * every sandbox anew would be most of what starting one costs.
 */
export function bridgeCode(): string {
  const file = new URL(import.meta.resolve('./sandbox-bridge.ts'));
  code ??= stripTypeScriptTypes(readFileSync(file, 'utf8'));
  return code;
}
