// Writes pictures of the dashboard's main screens, in both themes and at three widths, to the folder that is named.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from '../test/helpers/open-browser.ts';
import { PageServer } from '../test/helpers/page-server.ts';
import { tellStory } from '../test/helpers/page-story.ts';
import { tellTasks } from '../test/helpers/task-stories.ts';

const screens = {
  agents: '#/agents',
  approvals: '#/approvals',
  approval: '#/approvals/refunds/refund-1',
  policy: '#/agents/refunds/policy',
  logs: '#/agents/refunds/logs',
  tasks: '#/tasks',
  'task-held': '#/tasks/refunds/refund-1',
  'task-completed': '#/tasks/refunds/refund-2',
  'task-failed': '#/tasks/refunds/refund-3',
  'task-denied': '#/tasks/refunds/refund-4',
  'task-timeline': '#/tasks/refunds/refund-2?view=timeline',
  chat: '#/agents/refunds/chat',
  audit: '#/audit/refunds',
};

const [folder = 'reports/screens', only = ''] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const server = new PageServer();
await server.listen();
tellStory(server);
tellTasks(server);
const { browser, close } = await openBrowser();
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 768, 360]) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
      for (const [name, address] of Object.entries(screens)) {
        if (!name.includes(only)) continue;
        const page = await context.newPage();
        await page.goto(server.url + address);
        await page.locator('main h1').waitFor();
        await page.getByText('Loading …').waitFor({ state: 'detached' });
        if (name === 'chat') {
          await page.locator('nav li button').first().click();
          await page.locator('.markdown').first().waitFor();
        }
        // A decision is not taken in the first half second.
        const approve = page.locator('[data-key=a]');
        if (await approve.isVisible()) await approve.and(page.locator(':enabled')).waitFor();
        await page.screenshot({
          path: join(folder, `${name}-${colorScheme}-${width}.png`),
          fullPage: true,
        });
        await page.close();
      }
      await context.close();
    }
  }
} finally {
  await close();
  await server.close();
}
console.log(`The pictures are in ${folder}.`);
