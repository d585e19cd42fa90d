import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { unpackedBrowser } from './unpacked-browser.ts';

/**
 * Starts a browser without a network. A package brings a Chromium for machines that have nothing: with it come the
 * libraries (NSS) and the font that a bare Debian lacks, so that `npm ci` is all that it needs. `names` are hosts that
 * lead to 127.0.0.1; it finds no others. `fonts` are folders with more fonts.
 */
export async function openBrowser(
  names: readonly string[] = [],
  fonts: readonly string[] = [],
): Promise<{ browser: Browser; close: () => Promise<void> }> {
  const unpacked = await unpackedBrowser();
  const home = await mkdtemp(join(tmpdir(), 'holdpoint-browser-'));
  const leave = (): Promise<void> => rm(home, { recursive: true, force: true, maxRetries: 3 });
  try {
    await writeFile(join(home, 'fonts.conf'), fontSettings(unpacked, fonts));
    const browser = await launch(unpacked, home, names);
    const close = async (): Promise<void> => {
      await browser.close();
      await leave();
    };
    return { browser, close };
  } catch (error) {
    await leave();
    throw error;
  }
}

function fontSettings(unpacked: string, more: readonly string[]): string {
  const folders = [`${unpacked}/fonts`, ...more].map((folder) => `<dir>${folder}</dir>`).join('');
  return `<fontconfig>${folders}<cachedir>${unpacked}/font-cache</cachedir><alias binding="strong"><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias></fontconfig>`;
}

function launch(unpacked: string, home: string, names: readonly string[]): Promise<Browser> {
  const mapped = names.map((name) => `MAP ${name} 127.0.0.1 , `).join('');
  return chromium.launch({
    executablePath: join(unpacked, 'chromium'),
    // It opens our own pages alone, and its sandbox does not work for root or in most containers.
    chromiumSandbox: false,
    args: [
      `--host-resolver-rules=${mapped}MAP * ~NOTFOUND , EXCLUDE 127.0.0.1`,
      '--disable-dev-shm-usage',
    ],
    env: {
      ...process.env,
      HOME: home,
      TMPDIR: home,
      FONTCONFIG_FILE: join(home, 'fonts.conf'),
      LD_LIBRARY_PATH: join(unpacked, 'al2023', 'lib'),
    },
    timeout: 30_000,
  });
}
