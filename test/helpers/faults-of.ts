import type { Page } from 'playwright-core';
import { axeFindings } from './axe-findings.ts';
import { missingOf } from './browser.ts';

/** A theme, and the width of the window. */
type Look = readonly [scheme: 'light' | 'dark', width: number];

/** How a page is opened that is looked at in several ways: most tests use it on a wide window, so these do on a narrow one. */
export const narrow = { scheme: 'dark', width: 320 } as const;

/** Both themes on a narrow window. */
export const narrowLooks: readonly Look[] = [
  ['light', 320],
  ['dark', 320],
];

/** Both themes on a wide window. */
export const wideLooks: readonly Look[] = [
  ['light', 1280],
  ['dark', 1280],
];

/** Both themes on both windows. */
export const everyLook: readonly Look[] = [...wideLooks, ...narrowLooks];

/** One of the two themes on each of the two windows. */
export const twoLooks: readonly Look[] = [
  ['light', 1280],
  ['dark', 320],
];

/**
 * Lists the faults of a page in each of these looks, one after the other in its current state: axe findings, missing
 * elements that every page needs, and elements wider than the window. Another theme at the same width has the same
 * elements in the same places, so axe checks only its colours.
 */
export async function faultsOf(page: Page, looks: readonly Look[]): Promise<string[]> {
  const faults: string[] = [];
  const widths = new Set<number>();
  for (const [colorScheme, width] of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const found = [...(await axeFindings(page, widths.has(width))), ...(await missingOf(page))];
    widths.add(width);
    faults.push(...found.map((fault) => `${colorScheme}, ${width} px: ${fault}`));
  }
  return faults;
}
