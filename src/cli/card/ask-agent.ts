import { createEgress, egressCause } from '../../actors/outbound/outbound.ts';

/** An agent that a person has named. */
export interface AskedAgent {
  url: URL;
  token: string | null;
  /** The person has said that it may be on this machine. */
  mayBeLoopback: boolean;
  /** Ports of this machine that are never asked, such as that of the dashboard. */
  closedPorts: readonly number[];
  /** Finds the addresses of a host; the system's own way unless given. */
  lookup?: NonNullable<Parameters<typeof createEgress>[0]['lookup']>;
}

/** One request to it. */
export interface AskedCall {
  method: 'GET' | 'POST';
  /** Begins with one slash. */
  path: string;
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
  /** Milliseconds until it must be over. */
  patience: number;
}

/** What the agent answered; the body comes as it is read. */
export interface AskedAnswer {
  status: number;
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array>;
}

/** The agent was not asked, or did not answer as it may; the message is one sentence. */
export class AskError extends Error {
  readonly code = 'agent_not_asked';
}

/** Bytes of an answer. */
const longestAnswer = 1024 * 1024;

const loopback = ['127.0.0.0/8', '::1/128'];

/**
 * Asks an agent that a person has named, and nobody else: no private address but loopback where the person said so, no
 * redirect is followed, nothing but what is given is sent, and the answer is bounded. Rejects with an AskError.
 */
export async function askAgent(
  agent: AskedAgent,
  call: AskedCall,
  read: (answer: AskedAnswer) => Promise<void>,
): Promise<void> {
  const { url, token, mayBeLoopback, closedPorts, lookup } = agent;
  const target = targetOf(url, call.path);
  const egress = createEgress({
    ...{ mode: 'allowlist', propagateTo: [], endpoints: [], record: () => undefined },
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

/** Joins a path to the URL of an agent; throws an AskError for one that leads to another origin. */
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
