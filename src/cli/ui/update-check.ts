import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../actors/ports.ts';
import {
  makeStateFolder,
  readSmallFile,
  stateFolderOf,
  writePrivately,
} from '../../actors/process/process.ts';
import { guardFetch } from '../../actors/providers/providers.ts';
import { isNewer } from '../../machines/newer-version.ts';
import { isTrustworthyUrl } from '../../machines/trustworthy-url.ts';

/** What the look-up of releases needs. */
export interface UpdateOptions {
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  /** True for sources, which are kept up to date in another way. */
  isSource: boolean;
  clock: Pick<Clock, 'now'>;
}

/** Looks for releases of this program. */
export interface UpdateCheck {
  /** The newest release that is known and newer than this one; begins a look-up where the last one is old. */
  newer(): string | null;
}

/** What a look-up found. `version` is `null` where it failed, which is kept as well so that nobody is asked all the time. */
type Found = z.infer<typeof found>;

const found = z.object({
  url: z.string(),
  checked_at: z.number(),
  version: z.string().max(64).nullable(),
});

/** An npm registry says `version`, a forge of sources `tag_name`. */
const answer = z.union([
  z.looseObject({ version: z.string() }).transform(({ version }) => version),
  z.looseObject({ tag_name: z.string() }).transform(({ tag_name: tag }) => tag),
]);

/** Milliseconds for which a look-up is good. */
const goodFor = 24 * 60 * 60 * 1_000;

/** Milliseconds that a look-up may take. */
const patience = 5_000;

/** Bytes of an answer. */
const longestAnswer = 1024 * 1024;

const off: UpdateCheck = { newer: () => null };

/**
 * Looks for releases at the address in `SERVICE_UPDATE_URL`, once a day and for nobody who names none. A look-up that
 * fails says nothing. Throws RangeError for what is no address.
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
      // A clock that was set back must not keep a look-up for ever.
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

/** Asks for the newest release, and says nothing of this machine; `null` for anything that goes wrong. */
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

/** Whoever cannot keep it asks once more at the next start. */
function keep(path: string, looked: Found): void {
  try {
    makeStateFolder(dirname(path));
    writePrivately(path, `${JSON.stringify(looked)}\n`);
  } catch {
    return;
  }
}
