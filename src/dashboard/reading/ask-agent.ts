import { createEgress, egressCause } from '../../actors/outbound/outbound.ts';

/** An agent that the user named. */
export interface AskedAgent {
  url: URL;
  /** Sent only to this origin, neither stored nor logged. */
  token: string | null;
  /** True if the user allowed an address on this machine. */
  mayBeLoopback: boolean;
  /** Ports of this machine that are never requested, such as the dashboard's port. */
  closedPorts: readonly number[];
  /** Resolves host names; defaults to the system resolver. */
  lookup?: NonNullable<Parameters<typeof createEgress>[0]['lookup']>;
}

/** One request to the agent. */
export interface AskedCall {
  method: 'GET' | 'POST';
  /** Starts with exactly one slash. */
  path: string;
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
  /** Timeout in milliseconds. */
  patience: number;
}

/** The agent's response; the body is streamed. */
export interface AskedAnswer {
  status: number;
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array>;
}

/** The agent was not asked, or its answer is not allowed. The message is one sentence. */
export class AskError extends Error {
  readonly code = 'agent_not_asked';
}

/** Maximum size of a response in bytes. */
const longestAnswer = 1024 * 1024;

const loopback = ['127.0.0.0/8', '::1/128'];

/**
 * Sends a request to an agent that the user named, and to no other host. Rejects private addresses, except loopback if
 * the user allowed it. Follows no redirect, sends only the given data, and limits the size of the response. Rejects
 * with AskError.
 */
export async function askAgent(
  agent: AskedAgent,
  call: AskedCall,
  read: (answer: AskedAnswer) => Promise<void>,
): Promise<void> {
  const { url, token, mayBeLoopback, closedPorts, lookup } = agent;
  const target = targetOf(url, call.path);
  const egress = createEgress({
    mode: 'allowlist',
    propagateTo: [],
    endpoints: [],
    record: () => undefined,
    allowedDomains: [target.host],
    allowPrivateIps: false,
    allowedPrivateCidrs: mayBeLoopback ? loopback : [],
    ...(lookup === undefined ? {} : { lookup }),
  });
  for (const port of closedPorts) egress.listensAt({ address: '127.0.0.1', port });
  const idle = Math.min(60_000, call.patience);
  const limits = { headers: 10_000, idle, total: call.patience, bytes: longestAnswer };
  const scope = { taskId: 'inspection', correlationId: null, tags: {} };
  try {
    await egress.within(
      scope,
      async () => {
        const response = await egress.fetch(target, {
          method: call.method,
          headers: {
            ...call.headers,
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          },
          ...(call.body === null ? {} : { body: call.body }),
          redirect: 'manual',
          signal: call.signal,
        });
        await read({
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: response.body ?? nothing(),
        });
      },
      limits,
    );
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    throw explained(error, target, mayBeLoopback);
  } finally {
    await egress.close();
  }
}

/** Joins a path to an agent's URL. Throws AskError if the result has another origin. */
export function targetOf(url: URL, path: string): URL {
  const target = URL.parse(url.href.replace(/\/+$/, '') + path);
  if (target === null || target.origin !== url.origin || !/^\/(?!\/)/.test(path)) {
    throw new AskError('the path must begin with one slash and stay at the URL of the agent');
  }
  return target;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // A 204 has no body.
}

function explained(error: unknown, target: URL, mayBeLoopback: boolean): AskError {
  const cause = egressCause(error);
  const text = cause?.message ?? reasonOf(error);
  const isLoopback = !mayBeLoopback && /a loopback address/.test(text);
  const hint = isLoopback ? '; say that it may be on this machine to ask it' : '';
  const why = text.replace(/^egress (blocked|stopped): /, '').replace(/ \(mode=[\w-]+\)$/, '');
  return new AskError(
    cause === null ? `${target.host} could not be asked: ${why}` : `${why}${hint}`,
    { cause: error },
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error as { cause?: unknown };
  const inner = cause instanceof Error ? cause : error;
  return (inner as NodeJS.ErrnoException).code ?? inner.message;
}
