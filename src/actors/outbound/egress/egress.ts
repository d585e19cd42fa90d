import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { EgressMode, EgressRecord, EgressScope } from '../../ports.ts';
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

export type { EgressMode, EgressRecord, EgressScope } from '../../ports.ts';
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
  /** Host patterns that get the workflow headers (docs/contract/correlation.md). */
  propagateTo: readonly string[];
  /** Hears once about each hop, before anything is sent; what throws here stops the hop. */
  record: (record: EgressRecord) => void;
  /** Finds the addresses of a host; the system's own way unless given. */
  lookup?: Lookup;
  /** Returns the ports of this machine where neighbours of the agent listen; none unless given. */
  neighbours?: () => ReadonlySet<number>;
  /** Tells which addresses are the daemon itself; this machine's interfaces when it is left out. */
  listeners?: OwnListeners;
  /** What a tool's request may take, and what opening a connection may. */
  limits?: Partial<EgressLimits & DialLimits>;
  /** Makes what dials and speaks under a policy; pools of undici unless given. */
  pool?: (policy: ConnectPolicy) => Dispatcher;
}

/** The egress of the daemon: every request goes out here (docs/contract/egress.md). */
export interface Egress {
  readonly mode: EgressMode;
  /** What may be reached and by whom, with where each entry comes from. */
  readonly hosts: readonly EffectiveHost[];
  /** Rules on each hop; what is sent outside a scope has no limits but those of its caller and undici. */
  readonly dispatcher: Dispatcher;
  /** Node's fetch under the policy; follows at most five redirects and rejects with an EgressError. */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Attributes what `run` sends to a scope; its limits are those of a tool unless given, or unless it is the daemon's
   * own.
   */
  within<T>(scope: EgressScope, run: () => T, limits?: EgressLimits): T;
  /** Returns the scope of the caller; `null` for the daemon itself. */
  scope(): EgressScope | null;
  /**
   * Throws an EgressError, and records it, when the name of a hop is refused. What is allowed is recorded
   * where it goes out, by `connect` or the dispatcher, so that each hop is recorded once.
   */
  checkHop(hop: Hop, scope: EgressScope | null): void;
  /**
   * Returns why a URL would be refused now, without asking it and without a record; `null` when it would not.
   * A host that cannot be resolved is not refused, as it may be resolved later.
   */
  refusalOf(url: URL, scope: EgressScope | null): Promise<string | null>;
  /** Opens a tunnel to an address that was checked, and records the hop. Rejects with an EgressError. */
  connect(
    hop: { hostname: string; port: number },
    scope: EgressScope | null,
    signal?: AbortSignal,
  ): Promise<Socket>;
  /** Closes an address where the daemon listens to every task, whatever the mode and the spelling. */
  listensAt(listening: ListeningAddress): void;
  /** Closes the addresses where fellow daemons over the same store listen, and opens those named before. */
  fellowsListenAt(listening: readonly ListeningAddress[]): void;
  /** Opens a host to the daemon that an issuer has named; it must be public, as the operator has not named it. */
  discovered(endpoint: Omit<DerivedEndpoint, 'mayBePrivate'>): void;
  /** Puts every fetch of this process under the policy until the returned function is called. */
  guardProcess(): () => void;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Creates the policy. Throws an Error that names the entry when a pattern or a network cannot be read. */
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

/** Any scope that is not the daemon's own. */
const aTask: EgressScope = { taskId: '', correlationId: null, tags: {} };

/** Sends what a task asks for over connections of their own, as what the daemon may dial is more. */
function poolOfTasks(
  pool: Dispatcher,
  isForTask: () => boolean,
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (request, handler) =>
    isForTask() ? pool.dispatch(request, handler) : dispatch(request, handler);
}

/** Returns what is wrong with the addresses of a host; `null` for nothing, and when none can be found. */
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

/** Pools by origin; a connection outlives what its name resolved to by no more than a minute. */
function agentOf(policy: ConnectPolicy): Agent {
  const oldest = { clientTtl: 60_000, keepAliveMaxTimeout: 60_000 };
  return new Agent({ allowH2: false, connect: checkedConnector(policy), ...oldest });
}

function propagationOf({ propagateTo }: EgressOptions): (host: string) => boolean {
  return matcherOf(readPatterns('workflow_propagation.allowed_hosts', propagateTo));
}

/** Runs all hops of one request under one deadline, when their scope has any. */
function together<T>(sendings: AsyncLocalStorage<Sending>, run: () => Promise<T>): Promise<T> {
  const sending = sendings.getStore();
  if (sending === undefined || sending.limits.total === null) return run();
  const deadline = sending.deadline ?? performance.now() + sending.limits.total;
  return sendings.run({ ...sending, deadline }, run);
}
