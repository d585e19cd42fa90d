import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { AgentClient } from '../agent-client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, withAgent } from '../task/agent-session.ts';

export interface LoginOptions extends AgentOptions {
  /** Port of the redirect; a free one when absent. */
  port?: number;
}

/** Time for the sign-in in the browser, in milliseconds. */
const patience = 600_000;

/** Path of the redirect. */
const callback = '/callback';

const started = z.object({ url: z.url() });
const finished = z.object({ server: z.string(), issuer: z.string() });
const ended = z.object({ server: z.string(), had_tokens: z.boolean() });

/**
 * `mcp login NAME`: signs the running agent in at an MCP server. Prints the address that a person opens, and receives
 * the redirect on loopback. The agent makes every request to the issuer and keeps the tokens.
 */
export async function mcpLogin(
  session: Session,
  name: string,
  options: LoginOptions,
): Promise<void> {
  const { output } = session;
  await withAgent(session, options, patience, async ({ agent, signal }) => {
    const redirect = await listen(options.port ?? 0, signal);
    try {
      const redirect_uri = `http://127.0.0.1:${redirect.port}${callback}`;
      const path = `/mcp-servers/${encodeURIComponent(name)}/login`;
      const post = (to: string, body: Record<string, string>) =>
        agent.json({ method: 'POST', path: to, body, signal });
      const { url } = started.parse(await post(path, { redirect_uri }));
      output.note('open this address in a browser on this machine, and sign in:');
      output.line(plainLine(url));
      const query = await redirect.queryWith(new URL(url).searchParams.get('state'));
      const { server, issuer } = finished.parse(await post(`${path}/finish`, { query }));
      output.json({ server, issuer });
      output.note(plainLine(`the agent is signed in to ${server} at ${issuer}`));
    } finally {
      redirect.close();
    }
  });
}

/** `mcp logout NAME`: deletes the tokens of the running agent for an MCP server. */
export async function mcpLogout(
  session: Session,
  name: string,
  options: AgentOptions,
): Promise<void> {
  const { output } = session;
  await withAgent(session, options, 30_000, async ({ agent, signal }) => {
    const answer = await logout(agent, name, signal);
    output.json(answer);
    output.line(
      plainLine(answer.had_tokens ? `signed out of ${name}` : `there were no tokens for ${name}`),
    );
  });
}

async function logout(agent: AgentClient, name: string, signal: AbortSignal) {
  const path = `/mcp-servers/${encodeURIComponent(name)}/logout`;
  return ended.parse(await agent.json({ method: 'POST', path, body: {}, signal }));
}

const page =
  '<!doctype html><meta charset="utf-8"><title>Holdpoint</title><p>You can close this page.';

/**
 * Receives the redirect on loopback. Other pages in the browser may call it too, so a redirect with another state is
 * refused.
 */
async function listen(port: number, signal: AbortSignal) {
  const arrived = Promise.withResolvers<string>();
  arrived.promise.catch(() => undefined);
  let state: string | null = null;
  const server: Server = createServer(({ url = '/', method }, response) => {
    const { pathname, search, searchParams } = new URL(url, 'http://127.0.0.1');
    const isOurs = pathname === callback && method === 'GET';
    if (!isOurs || state === null || searchParams.get('state') !== state) {
      return void response.writeHead(404).end();
    }
    response.writeHead(200, headers).end(page);
    arrived.resolve(search.slice(1));
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', () => {
      failed(
        new CliError(`port ${port} is in use`, {
          code: 'port_taken',
          exitCode: exitCodes.failed,
          hint: 'choose another one with --port',
        }),
      );
    });
    server.listen(port, '127.0.0.1', listening);
  });
  const abort = () => arrived.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return {
    port: (server.address() as AddressInfo).port,
    queryWith(expected: string | null): Promise<string> {
      state = expected;
      return arrived.promise;
    },
    close() {
      signal.removeEventListener('abort', abort);
      server.close();
      server.closeAllConnections();
    },
  };
}

const headers = {
  'content-type': 'text/html',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  connection: 'close',
};
