import { spawn } from 'node:child_process';

/** Programs that open an address, by platform. */
const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' };

/** Opens an address in the browser of this machine where there is one; nobody waits for it, and nothing is said of a failure. */
export function openBrowser(url: string): void {
  const opener = openers[process.platform];
  if (opener === undefined) return;
  const child = spawn(opener, [url], { detached: true, stdio: 'ignore' });
  child.once('error', () => undefined);
  child.unref();
}
