import type { Clock, Log } from '../../actors/ports.ts';
import { isSource, version } from '../../version.ts';
import type { UpdateCheck } from './update-check.ts';

/**
 * Returns what tells of a newer release, as `openUpdateCheck` finds it; what looks for one is loaded where somebody has
 * asked for it alone.
 */
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
      // Whoever opens the page in a moment is told at once.
      check.newer();
    })
    .catch((error: unknown) => {
      log.warn({}, error instanceof Error ? error.message : String(error));
    });
  return () => check?.newer() ?? null;
}
