import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { inflate } from '@sparticuz/chromium';

const browsers = join(import.meta.dirname, '../../.cache/browsers');

/**
 * Unpacks the browser of the package with its libraries and its font, unless that has been done, and returns its folder.
 * It stays for the next run, as unpacking takes longer than most tests.
 */
export async function unpackedBrowser(): Promise<string> {
  const about = findPackageJSON('@sparticuz/chromium', import.meta.url) ?? '';
  const { version } = JSON.parse(readFileSync(about, 'utf8')) as { version: string };
  const folder = join(browsers, version);
  if (existsSync(folder)) return folder;
  if (existsSync(browsers)) removeOthers(version);
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    await unpack(join(dirname(about), 'bin'), fresh);
    renameSync(fresh, folder);
  } catch (error) {
    // Another process may unpack the same first.
    if (!existsSync(join(folder, 'chromium'))) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return folder;
}

/** Of other versions nobody asks for any more; what another process is unpacking stays. */
function removeOthers(version: string): void {
  for (const name of readdirSync(browsers)) {
    if (name !== version && !name.startsWith(`${version}.`)) {
      rmSync(join(browsers, name), { recursive: true, force: true });
    }
  }
}

/** The package unpacks into the folder for temporary files, which it asks for as each call begins. */
async function unpack(packed: string, folder: string): Promise<void> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  const unpacked = ['chromium.br', 'al2023.tar.br', 'fonts.tar.br'].map((file) =>
    inflate(join(packed, file)),
  );
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  await Promise.all(unpacked);
}
