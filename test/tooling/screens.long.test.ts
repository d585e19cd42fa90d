import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Demo, openDemo } from '../../scripts/screens/demo.ts';
import { demoScreens } from '../../scripts/screens/demo-screens.ts';
import { walkScreen } from '../../scripts/screens/walk-screen.ts';
import { TestBrowser } from '../helpers/browser.ts';

let browser: TestBrowser;
let demo: Demo;
const earlier = new Set(process.listeners('exit'));

beforeAll(async () => {
  [browser, demo] = await Promise.all([TestBrowser.launch(), openDemo()]);
}, 120_000);
afterAll(async () => {
  await demo.close();
  await browser.close();
  // A package of the demo waits for the end of the process.
  for (const listener of process.listeners('exit')) {
    if (!earlier.has(listener)) process.off('exit', listener);
  }
});

it.each(Object.entries(demoScreens))(
  'the walk to the screen %s of the demo arrives',
  async (_, screen) => {
    const { page } = await browser.page({ isOwn: false });
    const taken: string[] = [];
    await walkScreen(page, screen, demo, async (part) => void taken.push(part));
    expect(taken).not.toEqual([]);
  },
  240_000,
);
