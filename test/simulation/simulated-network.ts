import { Dispatcher } from 'undici';
import { checkedAddresses } from '../../src/actors/outbound/egress/checked-addresses.ts';
import type { ConnectPolicy } from '../../src/actors/outbound/egress/checked-connect.ts';
import { EgressError } from '../../src/actors/outbound/egress/egress.ts';
import type { Chance } from '../helpers/chance.ts';

/** How a simulated network is, and how often each way of it comes. */
export const networkMoods = {
  good: { answer: 1, refuse: 0, reset: 0, cut: 0, hang: 0, slow: 0 },
  poor: { answer: 4, refuse: 2, reset: 2, cut: 1, hang: 1, slow: 2 },
  gone: { answer: 0, refuse: 0, reset: 3, cut: 0, hang: 2, slow: 0 },
} as const;

export type NetworkMood = keyof typeof networkMoods;

/** A request that came to a simulated server. */
export interface SimulatedRequest {
  host: string;
  address: string;
  path: string;
  /** In epoch milliseconds. */
  at: number;
  /** The process that asked. */
  process: number;
}

/** Addresses by host; a host that is not here is not found. */
const addressesOf: Readonly<Record<string, string>> = {
  'desk.example.com': '93.184.216.10',
  'hook.example.com': '93.184.216.11',
  'api.example.com': '93.184.216.12',
  'platform.example.com': '93.184.216.13',
  // A name that the operator permits, and that an attacker has pointed at the metadata of the cloud.
  'rebound.example.com': '169.254.169.254',
  'evil.example.net': '93.184.216.66',
};

/** Servers outside, and the way to them. */
export class SimulatedNetwork {
  mood: NetworkMood = 'good';
  /** The process that asks now. */
  process = 0;
  /** What was dialled, in that order. */
  readonly requests: SimulatedRequest[] = [];
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  readonly lookup = async (host: string) => {
    const address = addressesOf[host];
    if (address === undefined) throw new Error(`getaddrinfo ENOTFOUND ${host}`);
    return [{ address, family: 4 }];
  };

  /** Makes what dials and speaks under a policy, as a pool of connections does. */
  readonly pool = (policy: ConnectPolicy): Dispatcher => new SimulatedPool(this, policy);

  /** Returns how a request comes out, and after how many milliseconds. */
  fateOf(asked: Omit<SimulatedRequest, 'process'>) {
    this.requests.push({ ...asked, process: this.process });
    const fate = this.#chance.weighed(networkMoods[this.mood]);
    const delay = this.#chance.below(fate === 'slow' ? 40_000 : 300);
    const refusal = this.#chance.pick([429, 500, 503]);
    return { fate, delay, status: fate === 'refuse' ? refusal : 200 };
  }
}

class SimulatedPool extends Dispatcher {
  readonly #network: SimulatedNetwork;
  readonly #policy: ConnectPolicy;

  constructor(network: SimulatedNetwork, policy: ConnectPolicy) {
    super();
    this.#network = network;
    this.#policy = policy;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    const controller = new Answering(handler);
    handler.onRequestStart?.(controller, {});
    if (!controller.aborted) {
      this.#speak(options, controller).catch((error: unknown) => controller.fail(error as Error));
    }
    return true;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  override destroy(): Promise<void> {
    return Promise.resolve();
  }

  async #speak({ origin, path }: Dispatcher.DispatchOptions, answering: Answering) {
    const { hostname: host, port } = new URL(String(origin));
    const { mode, limits } = this.#policy;
    const asked = { host, port: Number(port === '' ? 443 : port) };
    const checked = await checkedAddresses(asked, { ...this.#policy, deadline: limits.lookup });
    if (!checked.ok) throw new EgressError({ host, why: checked.why, mode });
    const { address } = checked.addresses[0];
    const { fate, delay, status } = this.#network.fateOf({ host, address, path, at: Date.now() });
    if (fate === 'hang') return;
    setTimeout(() => {
      if (fate === 'reset') answering.fail(resetError());
      else answering.answer(status, bodyFor(host), fate === 'cut');
    }, delay);
  }
}

/** One request under way, which its caller can give up. */
class Answering implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  readonly rawHeaders = null;
  readonly rawTrailers = null;
  readonly #handler: Dispatcher.DispatchHandler;
  #isOver = false;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
    this.fail(reason);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseError?.(this, error);
  }

  answer(status: number, body: string, isCut: boolean): void {
    if (this.#isOver) return;
    const headers = { 'content-type': 'application/json', date: new Date().toUTCString() };
    this.#handler.onResponseStarted?.();
    this.#handler.onResponseStart?.(this, status, headers, '');
    this.#handler.onResponseData?.(this, Buffer.from(isCut ? body.slice(0, 1) : body));
    if (isCut) return this.fail(resetError());
    this.#isOver = true;
    this.#handler.onResponseEnd?.(this, {});
  }
}

function resetError(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

function bodyFor(host: string): string {
  return host === 'platform.example.com' ? '{"decision":"admit"}' : '{"ok":true}';
}
