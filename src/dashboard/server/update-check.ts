import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../actors/ports/clock.ts';
import {
  makeStateFolder,
  readSmallFile,
  stateFolderOf,
  writePrivately,
} from '../../actors/process/process.ts';
import { guardFetch } from '../../actors/providers/providers.ts';
import { isNewer } from '../../machines/newer-version.ts';
import { isTrustworthyUrl } from '../../machines/trustworthy-url.ts';

export interface UpdateOptions {
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  /** True for a source checkout, which is updated in another way. */
  isSource: boolean;
  clock: Pick<Clock, 'now'>;
}

/** Checks for new releases of this program. */
export interface UpdateCheck {
  /**
   * Returns the latest known release if it is newer than this version. Starts a look-up if the last one is outdated.
   */
  newer(): string | null;
}

/**
 * The result of a look-up. `version` is `null` for a failed look-up, which is also stored to avoid constant retries.
 */
type Found = z.infer<typeof found>;

const found = z.object({
  url: z.string(),
  checked_at: z.number(),
  version: z.string().max(64).nullable(),
});

/** An npm registry returns `version`; a source forge returns `tag_name`. */
const answer = z.union([
  z.looseObject({ version: z.string() }).transform(({ version }) => version),
  z.looseObject({ tag_name: z.string() }).transform(({ tag_name: tag }) => tag),
]);

/** Milliseconds for which a result is valid. */
const goodFor = 24 * 60 * 60 * 1_000;

/** Timeout of a look-up in milliseconds. */
const patience = 5_000;

/** Maximum size of a response in bytes. */
const longestAnswer = 1024 * 1024;

const off: UpdateCheck = { newer: () => null };

/**
 * Looks up releases once a day at the URL in `SERVICE_UPDATE_URL`; off if the variable is not set. Ignores failed
 * look-ups. Throws RangeError for an invalid URL.
 */
export function openUpdateCheck({ env, version, isSource, clock }: UpdateOptions): UpdateCheck {
  const url = env['SERVICE_UPDATE_URL'] ?? '';
  if (url === '') return off;
  if (!isTrustworthyUrl(url)) throw new RangeError(wrongUrl);
  if (isSource) return off;
  const folder = stateFolderOf(env);
  const path = folder === null ? null : join(folder, 'update.json');
  let last = path === null ? null : readFound(path, url);
  let isAsking = false;
  const lookUp = async (): Promise<void> => {
    last = { url, checked_at: clock.now(), version: await latestAt(url) };
    if (path !== null) keep(path, last);
  };
  return {
    newer() {
      const age = last === null ? Infinity : clock.now() - last.checked_at;
      // A clock that was set back must not keep a result forever.
      if ((age < 0 || age >= goodFor) && !isAsking) {
        isAsking = true;
        void lookUp().finally(() => (isAsking = false));
      }
      const known = last?.version ?? null;
      return known !== null && isNewer(known, version) ? known.replace(/^v/, '') : null;
    },
  };
}

const wrongUrl =
  'SERVICE_UPDATE_URL must be an https address without credentials, query and fragment; no release is looked for';

/** Requests the latest release without sending any data about this machine; `null` on any error. */
async function latestAt(url: string): Promise<string | null> {
  try {
    const fetch = guardFetch(globalThis.fetch, { bytes: longestAnswer });
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(patience),
    });
    const version = response.ok ? answer.parse(await response.json()) : '';
    return isNewer(version, '0.0.0-0') ? version : null;
  } catch {
    return null;
  }
}

function readFound(path: string, url: string): Found | null {
  try {
    const kept = found.parse(JSON.parse(readSmallFile(path) ?? ''));
    return kept.url === url ? kept : null;
  } catch {
    return null;
  }
}

/** If the result cannot be stored, the next start looks it up again. */
function keep(path: string, looked: Found): void {
  try {
    makeStateFolder(dirname(path));
    writePrivately(path, `${JSON.stringify(looked)}\n`);
  } catch {
    return;
  }
}
