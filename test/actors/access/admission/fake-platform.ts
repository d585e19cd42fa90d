import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AdmissionSettings } from '../../../../src/actors/access/admission/admission.ts';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';

/** How the platform answers one call. */
export type Reply = (response: ServerResponse) => void;

/** A token that must show nowhere. */
export const canary = 'canary-91c4e2aa-platform-token';

/** What a platform says when a quota is used up. */
export const denial = {
  decision: 'deny',
  reason: 'cost_limit_exceeded',
  scope: 'workspace',
  window: 'daily',
  reset_at: '2026-11-22T00:00:00Z',
};

/** A platform on loopback that answers as a test wants, and notes every call. */
export class FakePlatform {
  readonly url: string;
  /** Every call, as it came. */
  readonly calls: { method: string; url: string; headers: IncomingHttpHeaders }[] = [];
  reply: Reply = says({ decision: 'admit' });

  constructor(url: string) {
    this.url = url;
  }

  /** How an agent is set up to ask it. */
  settings(overrides: Partial<AdmissionSettings> = {}): AdmissionSettings {
    const url = `${this.url}/v1/admission`;
    return { url, token: canary, orgId: '', workspaceId: '', ...overrides };
  }
}

/** Answers with a JSON document, or with a string as it is. */
export function says(document: unknown, status = 200): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof document === 'string' ? document : JSON.stringify(document));
  };
}

/** Answers with the head alone and then with a chunk every so many milliseconds, without end. */
export function drips(chunk: string, every: number): Reply {
  return (response) => {
    response.writeHead(200);
    response.flushHeaders();
    const drip = setInterval(() => response.write(chunk), every);
    response.once('close', () => clearInterval(drip));
  };
}

/** Starts a platform that is closed after the test. */
export async function startFakePlatform(): Promise<FakePlatform> {
  const server = createServer();
  const platform = new FakePlatform(await listenOnLoopback(server));
  server.on('request', ({ method = '', url = '', headers }, response) => {
    platform.calls.push({ method, url, headers });
    platform.reply(response);
  });
  return platform;
}
