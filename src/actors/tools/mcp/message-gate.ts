import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { redactSecrets } from '../../governance/governance.ts';
import type { Clock } from '../../ports.ts';
import { FloodGate } from './flood-gate.ts';
import { ServerFault } from './server-fault.ts';

/** What a server may say: no more than a daemon reads with one hand. */
export const mostMessages = { burst: 2_000, perSecond: 200 };

/** What a server may ask over HTTP: the answer to each is a request of its own. */
const mostRequests = { burst: 50, perSecond: 5 };

/**
 * Makes what each message of a server passes before anybody acts on it. It throws a ServerFault once the server says
 * more than anybody can read.
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

/** Returns the fault of a server that says more than is taken. */
export function flood(): ServerFault {
  return new ServerFault('says more than anybody can read');
}

/** Takes what the agent signs in with out of an error of a server, before it is cut and quoted. */
export function redactError(message: JSONRPCMessage, secrets: readonly string[]): void {
  if (!('error' in message)) return;
  const { error } = message;
  error.message = redactSecrets(error.message, secrets);
  if (error.data !== undefined) error.data = redactedData(error.data, secrets);
}

/** What cannot be looked through is left out. */
function redactedData(data: unknown, secrets: readonly string[]): unknown {
  try {
    return JSON.parse(redactSecrets(JSON.stringify(data), secrets));
  } catch {
    return undefined;
  }
}
