import { channel } from 'node:diagnostics_channel';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector } from 'undici';
import type { EgressMode } from '../../ports/egress.ts';
import type { AddressPolicy } from './address-policy.ts';
import { normaliseAddress } from './address-rules.ts';
import { checkedAddresses, type HostAddress, type Lookup } from './checked-addresses.ts';
import { EgressError } from './egress-error.ts';
import type { DialLimits } from './limits.ts';

export interface ConnectPolicy extends AddressPolicy {
  mode: EgressMode;
  lookup: Lookup;
  limits: DialLimits;
}

/** Diagnostics event for each connection that the policy opens. */
export interface Dial {
  socket: Socket;
  hostname: string;
  port: number;
  /** The checked addresses, one of which is dialled. */
  addresses: readonly string[];
}

/**
 * Diagnostics channel on which each connection is published as a `Dial` when it starts; tests use it to detect
 * unchecked connections.
 */
export const dialChannelName = 'holdpoint:egress:dial';

const dials = channel(dialChannelName);

/**
 * Creates an undici connector that resolves a host once, checks every address and dials a checked one, which defeats
 * DNS rebinding (docs/contract/egress.md). The request keeps its Host header and TLS server name. Fails with an
 * EgressError.
 */
export function checkedConnector(policy: ConnectPolicy): buildConnector.connector {
  const open = callbackify((options: buildConnector.Options) => {
    const port = options.port || (options.protocol === 'https:' ? '443' : '80');
    return openChecked(policy, { ...options, port });
  });
  return (options, callback) => {
    open(options, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(error, null);
    });
  };
}

/**
 * Opens a raw connection with the same checks. Calls `settle` right before the socket is returned, and on a refusal.
 * Rejects with an EgressError if an address is refused, with the signal's reason if it aborts, and with connection
 * errors.
 */
export async function checkedConnect(
  policy: ConnectPolicy,
  { hostname, port }: { hostname: string; port: number },
  settle: (refusal: EgressError | null) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<Socket> {
  signal.throwIfAborted();
  const opening = openChecked(policy, { hostname, protocol: 'http:', port: String(port) });
  const socket = await unlessAborted(opening, signal).catch((error: unknown) => {
    settle(error instanceof EgressError ? error : null);
    throw error;
  });
  try {
    settle(null);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function unlessAborted(opening: Promise<Socket>, signal: AbortSignal): Promise<Socket> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(asError(signal.reason));
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([opening, aborted]);
  } catch (error) {
    // A socket that opens after the abort is unused.
    opening.then((socket) => socket.destroy()).catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function openChecked(
  policy: ConnectPolicy,
  options: buildConnector.Options,
): Promise<Socket> {
  const addresses = await checkedFor(policy, options.hostname, Number(options.port));
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  dial(policy, options, addresses, (error, socket) => {
    if (error === null) resolve(socket);
    else reject(error);
  });
  return promise;
}

async function checkedFor(
  policy: ConnectPolicy,
  hostname: string,
  port: number,
): Promise<[HostAddress, ...HostAddress[]]> {
  const { mode, limits } = policy;
  const asked = { host: hostname, port };
  const checked = await checkedAddresses(asked, { ...policy, deadline: limits.lookup });
  if (checked.ok) return checked.addresses;
  throw new EgressError({ host: hostname, why: checked.why, mode });
}

function dial(
  { mode, limits, closedAt }: ConnectPolicy,
  options: buildConnector.Options,
  addresses: [HostAddress, ...HostAddress[]],
  callback: buildConnector.Callback,
): void {
  const { hostname } = options;
  const port = Number(options.port);
  const known = new Set(addresses.map(({ address }) => normaliseAddress(address)));
  const connect = buildConnector({
    // The socket can only resolve to the checked addresses.
    lookup: answering(addresses),
    autoSelectFamily: true,
    allowH2: false,
    maxCachedSessions: 0,
    timeout: limits.connect,
    host: hostname,
    port,
  });
  const name = isIP(hostname) === 0 ? { servername: hostname } : {};
  const { servername: _, ...rest } = options;
  // undici's types omit it, but the connector returns the socket that it opens.
  const socket: unknown = connect({ ...rest, ...name }, (error, opened) => {
    if (error !== null) return callback(error, null);
    const { remoteAddress = '', localAddress } = opened;
    const isKnown = known.has(normaliseAddress(remoteAddress));
    const why = isKnown ? closedAt(remoteAddress, port, localAddress) : unchecked;
    if (why === null) return callback(null, opened);
    opened.destroy();
    return callback(new EgressError({ host: hostname, why, mode }), null);
  });
  if (dials.hasSubscribers) {
    dials.publish({ socket, hostname, port, addresses: addresses.map(({ address }) => address) });
  }
}

const unchecked = 'was connected to an unchecked address';

function answering(addresses: [HostAddress, ...HostAddress[]]): LookupFunction {
  return (_hostname, { all }, callback) => {
    if (all === true) callback(null, addresses);
    else callback(null, addresses[0].address, addresses[0].family);
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the connection failed', { cause: error });
}
