import type { Clock, Log } from '../../actors/ports.ts';
import { isSource, version } from '../../version.ts';
import type { UpdateCheck } from './update-check.ts';

/** Returns the update check of `openUpdateCheck`. Its code is loaded only if the user configured a URL. */
export function lateUpdateCheck({
  env,
  clock,
  log,
}: {
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
}): () => string | null {
  if ((env['SERVICE_UPDATE_URL'] ?? '') === '') return () => null;
  let check: UpdateCheck | null = null;
  import('./update-check.ts')
    .then(({ openUpdateCheck }) => {
      check = openUpdateCheck({ env, version, isSource, clock });
      // Starts the look-up early, so a page opened soon after shows the result.
      check.newer();
    })
    .catch((error: unknown) => {
      log.warn({}, error instanceof Error ? error.message : String(error));
    });
  return () => check?.newer() ?? null;
}
