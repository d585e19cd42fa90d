import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Demo, openDemo } from '../../scripts/screens/demo.ts';
import { demoScreens } from '../../scripts/screens/demo-screens.ts';
import { walkScreen } from '../../scripts/screens/walk-screen.ts';
import { TestBrowser } from '../helpers/browser.ts';

let browser: TestBrowser;
let demo: Demo;

beforeAll(async () => {
  [browser, demo] = await Promise.all([TestBrowser.launch(), openDemo()]);
}, 120_000);
afterAll(async () => {
  await demo.close();
  await browser.close();
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
