import { readFileSync } from 'node:fs';

let code: string | undefined;

/** The bridge, for `node --eval`. */
export function bridgeCode(): string {
  const file = new URL(import.meta.resolve('./sandbox-bridge.js'));
  code ??= readFileSync(file, 'utf8');
  return code;
}
