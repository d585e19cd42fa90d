import { afterAll, beforeAll, expect, it } from 'vitest';
import { storyScreens } from '../../scripts/screens/story-screens.ts';
import { walkScreen } from '../../scripts/screens/walk-screen.ts';
import { TestBrowser } from '../helpers/browser.ts';
import { tellStory } from '../helpers/page-story.ts';
import { tellTasks } from '../helpers/tell-tasks.ts';
import { startPageServer } from '../ui/dashboard/page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

it.each(Object.entries(storyScreens))('the walk to the screen %s arrives', async (_, screen) => {
  const server = await startPageServer();
  tellStory(server);
  tellTasks(server);
  const { page } = await browser.page({ isOwn: false });
  const taken: string[] = [];
  await walkScreen(page, screen, server, async (part) => void taken.push(part));
  expect(taken).toEqual(['']);
});
