// Writes pictures of the dashboard's screens, in both themes and at four widths, to the folder that is named; of those
// alone whose names have one of the parts that follow it, where some do.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openBrowser } from '../test/helpers/open-browser.ts';
import { PageServer } from '../test/helpers/page-server.ts';
import { tellStory } from '../test/helpers/page-story.ts';
import { tellTasks } from '../test/helpers/tell-tasks.ts';
import { openDemo } from './screens/demo.ts';
import { demoScreens } from './screens/demo-screens.ts';
import type { Screen } from './screens/screen.ts';
import { storyScreens } from './screens/story-screens.ts';
import { walkScreen } from './screens/walk-screen.ts';

const [folder = 'reports/screens', ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const { browser, close } = await openBrowser([], ['/usr/share/fonts']);
try {
  await takeStory();
  await takeDemo();
} finally {
  await close();
}
console.log(`The pictures are in ${folder}.`);

async function takeStory(): Promise<void> {
  const server = new PageServer();
  await server.listen();
  tellStory(server);
  tellTasks(server);
  try {
    for (const [name, screen] of wanted(storyScreens)) await show(name, screen, server);
  } finally {
    await server.close();
  }
}

async function takeDemo(): Promise<void> {
  const screens = wanted(demoScreens);
  if (screens.length === 0) return;
  const demo = await openDemo();
  try {
    for (const [name, screen] of screens) await show(name, screen, demo);
  } finally {
    await demo.close();
  }
}

function wanted<Stage>(screens: Record<string, Screen<Stage>>): [string, Screen<Stage>][] {
  return Object.entries(screens).filter(
    ([name]) => isWanted(name) || only.some((part) => part.startsWith(name)),
  );
}

function isWanted(name: string): boolean {
  return only.length === 0 || only.some((part) => name.includes(part));
}

async function show<Stage extends { url: string }>(
  name: string,
  screen: Screen<Stage>,
  stage: Stage,
): Promise<void> {
  // What a picture does to the page is no style of the page's own.
  const context = await browser.newContext({ bypassCSP: true });
  const page = await context.newPage();
  const take = (part: string) => takeAll(page, part === '' ? name : `${name}-${part}`);
  await walkScreen(page, screen, stage, take);
  await context.close();
}

async function takeAll(page: Page, name: string): Promise<void> {
  if (!isWanted(name)) return;
  for (const width of [1440, 1024, 768, 360]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // A decision is not taken in the first half second.
      const approve = page.locator('[data-key=a]');
      if (await approve.isVisible()) await approve.and(page.locator(':enabled')).waitFor();
      const path = join(folder, `${name}-${colorScheme}-${width}.png`);
      const isDialog = (await page.locator('dialog[open]').count()) > 0;
      // The rail stays where it is while a page is scrolled, and the picture is of all of the page.
      if (!isDialog) await page.evaluate('scrollTo(0, 0)');
      await page.screenshot({ path, fullPage: !isDialog });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}
