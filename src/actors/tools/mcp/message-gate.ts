import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { redactSecrets } from '../../governance/governance.ts';
import type { Clock } from '../../ports/clock.ts';
import { FloodGate } from './flood-gate.ts';
import { ServerFault } from './server-fault.ts';

/** Maximum message rate of a server, which a daemon can handle easily. */
export const mostMessages = { burst: 2_000, perSecond: 200 };

/** Maximum request rate of a server over HTTP: each answer is a request of its own. */
const mostRequests = { burst: 50, perSecond: 5 };

/**
 * Creates a check for every message of a server before it is processed. Throws a ServerFault if the server exceeds its
 * message rate.
 */
export function messageGate(clock: Pick<Clock, 'now'>): (message: JSONRPCMessage) => void {
  const messages = new FloodGate(mostMessages, clock);
  const requests = new FloodGate(mostRequests, clock);
  return (message) => {
    const isRequest = 'method' in message && 'id' in message;
    if (messages.takes(1) && (!isRequest || requests.takes(1))) return;
    throw flood();
  };
}

/** Creates the fault for a server that exceeds its message rate. */
export function flood(): ServerFault {
  return new ServerFault('sends more than can be read');
}

/** Removes the agent's credentials from a server's error before it is truncated and quoted. */
export function redactError(message: JSONRPCMessage, secrets: readonly string[]): void {
  if (!('error' in message)) return;
  const { error } = message;
  error.message = redactSecrets(error.message, secrets);
  if (error.data !== undefined) error.data = redactedData(error.data, secrets);
}

/** Omits data that cannot be searched. */
function redactedData(data: unknown, secrets: readonly string[]): unknown {
  try {
    return JSON.parse(redactSecrets(JSON.stringify(data), secrets));
  } catch {
    return undefined;
  }
}
