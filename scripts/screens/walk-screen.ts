import type { Page } from 'playwright-core';
import type { Scene, Screen } from './screen.ts';

/** Opens a screen on a page and walks to what it shows; `take` receives each part to be seen, `''` for the screen itself. */
export async function walkScreen<Stage extends { url: string }>(
  page: Page,
  { address, walk, takes = false }: Screen<Stage>,
  stage: Stage,
  take: Scene['take'],
): Promise<void> {
  const open = async (to: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(stage.url + to);
    await page.locator('main h1').waitFor();
    await page.getByText('Loading …').waitFor({ state: 'detached' });
  };
  await open(address);
  await walk?.({ page, open, take }, stage);
  if (!takes) await take('');
}
