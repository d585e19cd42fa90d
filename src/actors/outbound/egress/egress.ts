import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { EgressMode, EgressRecord, EgressScope } from '../../ports/egress.ts';
import { checkedAddresses, type Lookup, lookupAll } from './checked-addresses.ts';
import { type ConnectPolicy, checkedConnect, checkedConnector } from './checked-connect.ts';
import {
  type DerivedEndpoint,
  type EffectiveHost,
  matcherOf,
  readPatterns,
} from './effective-hosts.ts';
import { EgressError } from './egress-error.ts';
import { createEgressFetch } from './egress-fetch.ts';
import { guardProcess } from './guard-process.ts';
import { type HopSettings, hopPolicy } from './hop-policy.ts';
import { normaliseHost } from './host-pattern.ts';
import {
  type DialLimits,
  dialLimits,
  type EgressLimits,
  patientLimits,
  toolLimits,
} from './limits.ts';
import { createOwnListeners, type ListeningAddress, type OwnListeners } from './own-listeners.ts';
import { hopOf, policyInterceptor, type Sending, userFault } from './policy-interceptor.ts';
import { addressPolicyFor, type Hop, type HopPolicy, isDaemons, ruleHop } from './rule-hop.ts';

export { createAddressRules, readNetwork } from './address-rules.ts';
export type { Lookup } from './checked-addresses.ts';
export { type Dial, dialChannelName } from './checked-connect.ts';
export {
  type DerivedEndpoint,
  type EffectiveHost,
  type EffectiveHosts,
  effectiveHosts,
} from './effective-hosts.ts';
export { EgressError, EgressLimitError, egressCause } from './egress-error.ts';
export {
  type HostPattern,
  isCoveredBy,
  matchesHost,
  normaliseHost,
  readHostEntry,
  readHostPattern,
  writeHostPattern,
} from './host-pattern.ts';
export { type DialLimits, type EgressLimits, patientLimits } from './limits.ts';
export { createOwnFetch } from './own-fetch.ts';
export type { ListeningAddress } from './own-listeners.ts';
export { hopOf } from './policy-interceptor.ts';
export type { Hop } from './rule-hop.ts';

export interface EgressOptions extends HopSettings {
  /** Host patterns that receive the workflow headers (docs/contract/correlation.md). */
  propagateTo: readonly string[];
  /** Called once for each hop before anything is sent; an exception stops the hop. */
  record: (record: EgressRecord) => void;
  /** Resolves the addresses of a host; the system resolver by default. */
  lookup?: Lookup;
  /** Returns the ports of this machine on which neighbours of the agent listen; none by default. */
  neighbours?: () => ReadonlySet<number>;
  /** Identifies addresses of the daemon itself; based on this machine's interfaces by default. */
  listeners?: OwnListeners;
  /** Limits of tool requests and of opening connections. */
  limits?: Partial<EgressLimits & DialLimits>;
  /** Creates the dispatcher that connects under a policy; undici pools by default. */
  pool?: (policy: ConnectPolicy) => Dispatcher;
}

/** Egress of the daemon; every outgoing request passes through it (docs/contract/egress.md). */
export interface Egress {
  readonly mode: EgressMode;
  /** Effective allowlist, with the users and source of each entry. */
  readonly hosts: readonly EffectiveHost[];
  /** Checks each hop; requests outside a scope are limited only by their caller and undici. */
  readonly dispatcher: Dispatcher;
  /** Node's fetch under the policy; follows at most five redirects and rejects with an EgressError. */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Attributes the requests of `run` to a scope. The limits of a tool apply, unless `limits` is given or the scope is
   * the daemon's own.
   */
  within<T>(scope: EgressScope, run: () => T, limits?: EgressLimits): T;
  /** Returns the caller's scope; `null` for the daemon itself. */
  scope(): EgressScope | null;
  /**
   * Throws an EgressError, and records it, if the name of a hop is refused. An allowed hop is recorded when it is sent,
   * by `connect` or the dispatcher, so that each hop is recorded once.
   */
  checkHop(hop: Hop, scope: EgressScope | null): void;
  /**
   * Returns why a URL would be refused now, without a request or a record; `null` if it would not. A host that does not
   * resolve is not refused, as it may resolve later.
   */
  refusalOf(url: URL, scope: EgressScope | null): Promise<string | null>;
  /** Opens a tunnel to a checked address, and records the hop. Rejects with an EgressError. */
  connect(
    hop: { hostname: string; port: number },
    scope: EgressScope | null,
    signal?: AbortSignal,
  ): Promise<Socket>;
  /** Closes a listening address of the daemon to every task, in every mode and spelling. */
  listensAt(listening: ListeningAddress): void;
  /** Closes the addresses of other daemons over the same store; replaces the previous list. */
  fellowsListenAt(listening: readonly ListeningAddress[]): void;
  /**
   * Opens to the daemon a host that an issuer has named; its address must be public, since the operator has not named
   * the host.
   */
  discovered(endpoint: Omit<DerivedEndpoint, 'mayBePrivate'>): void;
  /** Applies the policy to every fetch of this process until the returned function is called. */
  guardProcess(): () => void;
  close(): Promise<void>;
}

/** Creates the policy. Throws an Error that names an invalid pattern or network. */
export function createEgress(options: EgressOptions): Egress {
  const { mode, record, neighbours, listeners = createOwnListeners(neighbours) } = options;
  const policy = hopPolicy(options, listeners);
  const connectPolicy = (on: EgressScope | null) => connectPolicyOf(options, policy, on);
  const settle = (host: string, refusal: EgressError | null, on: EgressScope | null) =>
    record({ scope: on, domain: host, mode, reason: refusal?.why ?? null });
  const refuse = (host: string, why: string, on: EgressScope | null) => {
    const refusal = new EgressError({ host, why, mode });
    settle(host, refusal, on);
    return refusal;
  };
  const sendings = new AsyncLocalStorage<Sending>();
  const scope = () => sendings.getStore()?.scope ?? null;
  const limits = { ...toolLimits, ...options.limits };
  const { pool = agentOf } = options;
  const pools = { own: pool(connectPolicy(null)), tasks: pool(connectPolicy(aTask)) };
  const dispatcher = pools.own.compose(
    poolOfTasks(pools.tasks, () => !isDaemons(scope())),
    policyInterceptor({
      sending: () => sendings.getStore() ?? null,
      rule: (hop, on) => ruleHop(hop, on, policy),
      refuse,
      settle,
      propagatesTo: propagationOf(options),
    }),
  );
  const fetch = createEgressFetch({
    dispatcher,
    refuse: ({ hostname }, why) => refuse(normaliseHost(hostname) ?? hostname, why, scope()),
    together: (run) => together(sendings, run),
  });
  const passHop = (hop: Hop, on: EgressScope | null) => {
    const { host, why } = ruleHop(hop, on, policy);
    if (why !== null) throw refuse(host, why, on);
    return host;
  };
  return {
    mode,
    get hosts() {
      return policy.hosts.entries;
    },
    dispatcher,
    fetch,
    within: (on, run, own = on.isOwn === true ? patientLimits : limits) =>
      sendings.run({ scope: on, limits: own, deadline: null }, run),
    scope,
    checkHop: (hop, on) => void passHop(hop, on),
    async refusalOf(url, on) {
      const hop = hopOf(url);
      const { host, why } = ruleHop(hop, on, policy);
      const fault = why ?? userFault(url) ?? (await faultAt(connectPolicy(on), host, hop.port));
      return fault === null ? null : new EgressError({ host, why: fault, mode }).message;
    },
    async connect({ hostname, port }, on, signal) {
      const host = passHop({ protocol: 'https:', hostname, port, isTunnel: true }, on);
      const tell = (refusal: EgressError | null) => settle(host, refusal, on);
      return checkedConnect(connectPolicy(on), { hostname: host, port }, tell, signal);
    },
    listensAt: (listening) => listeners.add(listening),
    fellowsListenAt: (listening) => listeners.setFellows(listening),
    discovered: (endpoint) => policy.hosts.add({ ...endpoint, mayBePrivate: false }),
    guardProcess: () => guardProcess({ dispatcher, fetch }),
    async close() {
      await Promise.all([pools.own.destroy(), pools.tasks.destroy()]);
    },
  };
}

/** Represents any scope other than the daemon's own. */
const aTask: EgressScope = { taskId: '', correlationId: null, tags: {} };

/** Sends tasks' requests over separate connections, since the daemon may dial more addresses than tasks. */
function poolOfTasks(
  pool: Dispatcher,
  isForTask: () => boolean,
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (request, handler) =>
    isForTask() ? pool.dispatch(request, handler) : dispatch(request, handler);
}

/** Returns the fault of a host's addresses; `null` if there is none, or if the host does not resolve. */
async function faultAt(policy: ConnectPolicy, host: string, port: number): Promise<string | null> {
  try {
    const deadline = policy.limits.lookup;
    const checked = await checkedAddresses({ host, port }, { ...policy, deadline });
    return checked.ok ? null : checked.why;
  } catch {
    return null;
  }
}

function connectPolicyOf(
  { mode, lookup = lookupAll, limits }: EgressOptions,
  policy: HopPolicy,
  scope: EgressScope | null,
): ConnectPolicy {
  const addresses = addressPolicyFor(scope, policy);
  return { ...addresses, mode, lookup, limits: { ...dialLimits, ...limits } };
}

/** Pools connections by origin; a connection outlives the DNS result of its name by at most one minute. */
function agentOf(policy: ConnectPolicy): Agent {
  const oldest = { clientTtl: 60_000, keepAliveMaxTimeout: 60_000 };
  return new Agent({ allowH2: false, connect: checkedConnector(policy), ...oldest });
}

function propagationOf({ propagateTo }: EgressOptions): (host: string) => boolean {
  return matcherOf(readPatterns('workflow_propagation.allowed_hosts', propagateTo));
}

/** Runs all hops of one request under one deadline, if their scope has one. */
function together<T>(sendings: AsyncLocalStorage<Sending>, run: () => Promise<T>): Promise<T> {
  const sending = sendings.getStore();
  if (sending === undefined || sending.limits.total === null) return run();
  const deadline = sending.deadline ?? performance.now() + sending.limits.total;
  return sendings.run({ ...sending, deadline }, run);
}
