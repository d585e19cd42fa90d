import { serveBrowser } from '../helpers/open-browser.ts';

/** Starts the browser that all tests of a run share: each opens pages of its own in it. */
export async function setup(): Promise<() => Promise<void>> {
  const { url, close } = await serveBrowser();
  process.env['HOLDPOINT_TEST_BROWSER'] = url;
  return close;
}
