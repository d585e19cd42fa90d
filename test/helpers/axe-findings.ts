import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { atRest } from './browser.ts';

/** The same code as `axe.source`, which each page has to parse, in less than half of the bytes. */
const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The rules of these tags that depend on colours; all others depend on elements and their sizes. */
const ofColors = ['color-contrast', 'link-in-text-block'];

/**
 * Lists what axe finds on a page against WCAG 2.2 AA and its own best practices, as `rule: element summary`.
 * `isRecolored` asks only the rules on colours, for a page that has changed in nothing else since axe looked at it.
 */
export async function axeFindings(page: Page, isRecolored = false): Promise<string[]> {
  await atRest(page);
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(source);
  // Nothing is written down of what fits, which takes longer than to find it out.
  const options: axe.RunOptions = {
    runOnly: isRecolored ? { type: 'rule', values: ofColors } : tags,
    resultTypes: ['violations'],
  };
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const violations = (await page.evaluate(run)) as axe.Result[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}
