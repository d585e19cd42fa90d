import { buildPage } from '../helpers/built-page.ts';
import { unpackedBrowser } from '../helpers/unpacked-browser.ts';

/** Builds the page of the dashboard and unpacks the browser that opens it, so that the first tests do not all do both. */
export async function setup(): Promise<void> {
  await Promise.all([buildPage(), unpackedBrowser()]);
}
