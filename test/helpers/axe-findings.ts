import axe from 'axe-core';
import type { Page } from 'playwright-core';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Nothing is written down of what fits, which takes longer than to find it out. */
const options: axe.RunOptions = { runOnly: tags, resultTypes: ['violations'] };
const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;

/** Lists what axe finds on a page against WCAG 2.2 AA and its own best practices, as `rule: element summary`. */
export async function axeFindings(page: Page): Promise<string[]> {
  // In the middle of a fade a colour is neither of the two that a person sees.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  // A call that has just appeared takes no decision yet, which its buttons show.
  const reject = page.getByRole('button', { name: 'Reject', exact: true });
  if (await reject.isVisible()) await reject.and(page.locator(':enabled')).waitFor();
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(axe.source);
  const violations = (await page.evaluate(run)) as axe.Result[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}
