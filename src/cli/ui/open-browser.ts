import { spawn } from 'node:child_process';

/** Programs that open a URL, by platform. */
const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' };

/** Opens a URL in this machine's browser, if there is one. Does not wait and ignores errors. */
export function openBrowser(url: string): void {
  const opener = openers[process.platform];
  if (opener === undefined) return;
  const child = spawn(opener, [url], { detached: true, stdio: 'ignore' });
  child.once('error', () => undefined);
  child.unref();
}
