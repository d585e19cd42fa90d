import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserServer, chromium, type LaunchOptions } from 'playwright-core';
import { unpackedBrowser } from './unpacked-browser.ts';

/**
 * Starts a browser without a network. A package brings a Chromium for machines that have nothing: with it come the
 * libraries (NSS) and the font that a bare Debian lacks, so that `npm ci` is all that it needs. `names` are hosts that
 * lead to 127.0.0.1; it finds no others. `fonts` are folders with more fonts. Where neither is wanted, it is the browser
 * of this run of tests when that has one (`browser-once.ts`).
 */
export async function openBrowser(
  names: readonly string[] = [],
  fonts: readonly string[] = [],
): Promise<{ browser: Browser; close: () => Promise<void> }> {
  const { HOLDPOINT_TEST_BROWSER: shared } = process.env;
  if (shared !== undefined && names.length + fonts.length === 0) {
    const browser = await chromium.connect(shared);
    return { browser, close: () => browser.close() };
  }
  const { launched: browser, close } = await launch(names, fonts, (options) =>
    chromium.launch(options),
  );
  return { browser, close };
}

/** Starts a browser that several processes share by its address. */
export async function serveBrowser(): Promise<{ url: string; close: () => Promise<void> }> {
  const { launched, close } = await launch([], [], (options) => chromium.launchServer(options));
  return { url: launched.wsEndpoint(), close };
}

/** Launches a browser with a home of its own, which goes when it is closed. */
async function launch<Launched extends Browser | BrowserServer>(
  names: readonly string[],
  fonts: readonly string[],
  launchWith: (options: LaunchOptions) => Promise<Launched>,
): Promise<{ launched: Launched; close: () => Promise<void> }> {
  const unpacked = await unpackedBrowser();
  const home = await mkdtemp(join(tmpdir(), 'holdpoint-browser-'));
  const leave = (): Promise<void> => rm(home, { recursive: true, force: true, maxRetries: 3 });
  try {
    await writeFile(join(home, 'fonts.conf'), fontSettings(unpacked, fonts));
    const launched = await launchWith(optionsOf(unpacked, home, names));
    const close = async (): Promise<void> => {
      await launched.close();
      await leave();
    };
    return { launched, close };
  } catch (error) {
    await leave();
    throw error;
  }
}

function fontSettings(unpacked: string, more: readonly string[]): string {
  const folders = [`${unpacked}/fonts`, ...more].map((folder) => `<dir>${folder}</dir>`).join('');
  return `<fontconfig>${folders}<cachedir>${unpacked}/font-cache</cachedir><alias binding="strong"><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias></fontconfig>`;
}

function optionsOf(unpacked: string, home: string, names: readonly string[]): LaunchOptions {
  const mapped = names.map((name) => `MAP ${name} 127.0.0.1 , `).join('');
  return {
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
  };
}
