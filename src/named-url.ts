import { hostname } from 'node:os';
import type { Log } from './actors/ports.ts';
import { urlOf } from './machines/url-of.ts';

/** Hosts that mean every address of a machine, and that nobody elsewhere can call. */
const everyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Where an agent listens, and whether somebody has said where others reach it. */
export interface Listening {
  host: string;
  port: number;
  /** `server.public_url`; empty when it is not set. */
  publicUrl: string;
  log: Log;
}

/**
 * Returns the URL under which others reach an agent: `server.public_url`, else where it listens, with the name of the
 * machine in place of a host that means every address, which is warned of (docs/contract/agent-card.md).
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
