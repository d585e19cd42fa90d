import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Lists what axe finds against WCAG 2.2 AA, as `rule: element | element`. */
export async function violationsOf(page: Page): Promise<string[]> {
  // In the middle of a fade a colour is neither of the two that a person sees.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.evaluate(axe.source);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
  const run = `axe.run(document, { runOnly: ${JSON.stringify(tags)} })`;
  const { violations } = (await page.evaluate(run)) as axe.AxeResults;
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
}
