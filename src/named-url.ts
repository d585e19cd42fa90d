import { hostname } from 'node:os';
import type { Log } from './actors/ports/log.ts';
import { urlOf } from './machines/url-of.ts';

/** Wildcard hosts, which cannot be used in a URL by other machines. */
const everyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** The agent's listening address and its configured public URL. */
export interface Listening {
  host: string;
  port: number;
  /** `server.public_url`; empty if not set. */
  publicUrl: string;
  log: Log;
}

/**
 * Returns the agent's URL for other machines: `server.public_url`, else the listening address. A wildcard host is
 * replaced with the machine's name, with a warning (docs/contract/agent-card.md).
 */
export function namedUrl({ host, port, publicUrl, log }: Listening): string {
  if (publicUrl !== '') return publicUrl;
  if (!everyAddress.has(host)) return urlOf(host, port);
  const url = urlOf(hostname(), port);
  log.warn(
    { url },
    `the agent listens on every address (${host}), so its card names this machine; set server.public_url to where others reach it`,
  );
  return url;
}
