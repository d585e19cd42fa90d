import { join } from 'node:path';
import type { Log } from '../actors/ports/log.ts';
import { keptInspectorToken } from '../actors/process/process.ts';
import { type Inspector, loadInspector } from '../actors/telemetry/telemetry.ts';

/** Starts an agent's inspector. Its code is loaded only if the inspector is on. Throws InspectorError. */
export async function openInspector(options: {
  directory: string;
  inspectPort: number | null;
  log: Log;
}): Promise<Inspector | null> {
  const { directory, inspectPort: port, log } = options;
  if (port === null) return null;
  const { startInspector } = await loadInspector();
  const token = keptInspectorToken(join(directory, '.service'));
  return startInspector({ port, token, log });
}
