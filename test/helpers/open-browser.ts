import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/**
 * Unpacks and starts a browser without a network. The package brings a Chromium for machines that have nothing: with it
 * come the libraries (NSS) and the font that a bare Debian lacks, so that `npm ci` is all that it needs. It is unpacked
 * into a folder of its own, since the package would use a fixed one that every user of the machine shares. `names` are
 * hosts that lead to 127.0.0.1; it finds no others.
 */
export async function openBrowser(
  names: readonly string[] = [],
): Promise<{ browser: Browser; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-browser-'));
  const leave = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const browser = await launchIn(folder, names);
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

async function launchIn(folder: string, names: readonly string[]): Promise<Browser> {
  await unpack(folder, ['chromium.br', 'al2023.tar.br', 'fonts.tar.br']);
  const fonts = join(folder, 'fonts.conf');
  const mapped = names.map((name) => `MAP ${name} 127.0.0.1 , `).join('');
  await writeFile(
    fonts,
    `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`,
  );
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    // It opens our own pages alone, and its sandbox does not work for root or in most containers.
    chromiumSandbox: false,
    args: [
      `--host-resolver-rules=${mapped}MAP * ~NOTFOUND , EXCLUDE 127.0.0.1`,
      '--disable-dev-shm-usage',
    ],
    env: {
      ...process.env,
      HOME: folder,
      TMPDIR: folder,
      FONTCONFIG_FILE: fonts,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
    },
    timeout: 30_000,
  });
}

/** The package unpacks into the folder for temporary files, which it asks for as each call begins. */
async function unpack(folder: string, files: readonly string[]): Promise<void> {
  const packed = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '../bin');
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  const unpacked = files.map((file) => inflate(join(packed, file)));
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  await Promise.all(unpacked);
}
