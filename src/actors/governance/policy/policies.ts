import type { ToolCall } from '../../../machines/domain/task.ts';
import type { IntentScorer } from '../alignment/alignment.ts';
import { createGovern, type GovernPorts } from './govern.ts';
import type { Policy } from './policy.ts';

/** One version of an agent's policy, and all that decides on calls with it. */
export interface PolicyVersion {
  /** Digest by which evidence names the version. */
  sha256: string;
  policy: Policy;
  /** `null` while intent alignment is off. */
  scorer: IntentScorer | null;
  /** Maximum calls of one caller that may wait at once. */
  mostWaiting: number;
}

/** Replaced versions that calls under way may still need. */
const mostKept = 16;

/** The policy in force, and replaced versions for the calls that they ruled on. */
export class Policies<Version extends PolicyVersion = PolicyVersion> {
  #current: Version;
  readonly #replaced = new Map<string, Version>();
  readonly #listeners = new Set<() => void>();

  constructor(first: Version) {
    this.#current = first;
  }

  get current(): Version {
    return this.#current;
  }

  /** Puts a version in force. Calls whose ruling has begun keep theirs. */
  replace(next: Version): void {
    const before = this.#current;
    this.#replaced.delete(before.sha256);
    this.#replaced.set(before.sha256, before);
    const [oldest] = this.#replaced.keys();
    if (this.#replaced.size > mostKept && oldest !== undefined) this.#replaced.delete(oldest);
    this.#current = next;
    for (const listener of this.#listeners) listener();
  }

  /** Calls a listener after each replacement. */
  onReplaced(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Returns the version that ruled on a call; the one in force for a call that an earlier process ruled on. */
  of({ policySha256 }: Pick<ToolCall, 'policySha256'>): Version {
    if (policySha256 === undefined || policySha256 === this.#current.sha256) return this.#current;
    return this.#replaced.get(policySha256) ?? this.#current;
  }
}

/**
 * Creates the tool-call chart that rules on each call with the version in force at its start. The call carries the
 * digest of that version.
 */
export function createGovernInForce(
  policies: Policies,
  ports: Omit<GovernPorts, 'policy' | 'scorer'>,
): ReturnType<typeof createGovern> {
  const charts = new WeakMap<PolicyVersion, ReturnType<typeof createGovern>>();
  const chartOf = (version: PolicyVersion) => {
    const chart = charts.get(version) ?? createGovern({ ...version, ...ports });
    charts.set(version, chart);
    return chart;
  };
  const chart = chartOf(policies.current);
  const getInitialSnapshot: typeof chart.getInitialSnapshot = (scope, input) => {
    const version = policies.current;
    const { sha256: policySha256 } = version;
    const call = { ...input?.call, policySha256 } as ToolCall;
    const given = input === undefined ? input : { ...input, call };
    // A chart's snapshot keeps the chart that created it, so the call stays with this version.
    return chartOf(version).getInitialSnapshot(scope, given);
  };
  return Object.assign(Object.create(chart) as typeof chart, { getInitialSnapshot });
}
