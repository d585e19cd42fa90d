import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBrowser } from '../test/helpers/open-browser.ts';

/** Writes the icons of the installed approvals page from the mark of the product; run it after a change of the mark. */
const root = join(import.meta.dirname, '..');
const target = join(root, 'src/ui/approvals/public');
const mark = await readFile(join(root, 'src/ui/dashboard/mark.svg'), 'utf8');

/** Pixels of each icon, and the share of them that the mark takes; a maskable icon may be cut to a circle. */
const icons = [
  { name: 'icon-192.png', size: 192, share: 1 },
  { name: 'icon-512.png', size: 512, share: 1 },
  { name: 'icon-maskable.png', size: 512, share: 0.6 },
  { name: 'icon-apple.png', size: 180, share: 0.8 },
];

const { browser, close } = await openBrowser();
try {
  for (const { name, size, share } of icons) {
    const page = await browser.newPage({ viewport: { width: size, height: size } });
    const ground = share === 1 ? 'transparent' : '#fff';
    const style = `margin:0;display:grid;place-items:center;height:100vh;background:${ground}`;
    const side = Math.round(size * share);
    const svg = mark.replace('<svg', `<svg width="${side}" height="${side}"`);
    await page.setContent(`<body style="${style}">${svg}`);
    await writeFile(join(target, name), await page.screenshot({ omitBackground: share === 1 }));
    await page.close();
  }
} finally {
  await close();
}
