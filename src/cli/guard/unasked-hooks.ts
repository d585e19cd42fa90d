import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hookThatAsked, readServeFile } from '../../actors/process/process.ts';

/**
 * Returns the warning for a running gate with rules for coding agents whose hook has not asked since the start; `null` for
 * any other agent. Installed hooks may be switched off, and the host then runs every call.
 */
export function unaskedHooks(directory: string): string | null {
  const stateFolder = join(directory, '.service');
  const served = readServeFile(stateFolder);
  if (served === null || hookThatAsked(stateFolder, served.pid) !== null) return null;
  if (!isForHooks(directory)) return null;
  return 'no hook has asked since the start; if a coding agent has worked since, its calls run without this gate';
}

function isForHooks(directory: string): boolean {
  try {
    return readFileSync(join(directory, 'service.yaml'), 'utf8').includes('call.client');
  } catch {
    return false;
  }
}
