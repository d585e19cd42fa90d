import { silentLog } from '../../actors/silent-log.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { type AgentReading, readAgent } from '../../agent/start/read-agent.ts';
import type {
  CallExplanationJson,
  PolicyPreviewJson,
} from '../../http/wire/dashboard/explain-json.ts';
import type { RecordedCall } from '../../http/wire/dashboard/recorded-calls.ts';
import { explainRecorded } from './explain-recorded.ts';
import { openPolicy } from './open-policy.ts';

/** The `service.yaml` to evaluate recorded calls against: the one in the folder, or a replacement text. */
export interface PolicySource {
  directory: string;
  env: NodeJS.ProcessEnv;
  text?: string;
}

/** Returns the outcome of each call; `null` if `service.yaml` has problems. Rejects with the reason of the signal. */
export async function explainCalls(
  calls: readonly RecordedCall[],
  { directory, env, text }: PolicySource,
  signal: AbortSignal,
): Promise<CallExplanationJson[] | null> {
  const { agent, problems } = await readAgent(directory, env, systemClock(), () => null, text);
  if (agent === null || problems.length > 0) return null;
  return explainWith(agent, calls, env, signal);
}

/** Returns the outcome of each call under the policy of an agent. Rejects with the reason of the signal. */
export async function explainWith(
  agent: NonNullable<AgentReading['agent']>,
  calls: readonly RecordedCall[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<CallExplanationJson[]> {
  const clock = systemClock();
  const names = [...new Set(calls.map(({ tool }) => tool))];
  const policy = openPolicy(agent, names, { env, clock, log: silentLog });
  const explained: CallExplanationJson[] = [];
  for (const call of calls) {
    explained.push(
      await explainRecorded(call, { ...policy, outputRules: [], clock, log: silentLog, signal }),
    );
  }
  return explained;
}

/** Restrictiveness of each ruling; higher values prevent more. */
const strength: Record<string, number> = { run: 0, defer: 1, step_up: 1, deny: 2 };

/** Returns how much an outcome prevents; an unknown one prevents most. */
export function strengthOf(outcome: string): number {
  return strength[outcome] ?? 2;
}

/** Counts changed outcomes and names the tools whose calls would be less restricted. */
export function summaryOf(
  calls: readonly CallExplanationJson[],
): Pick<PolicyPreviewJson, 'counts' | 'weaker'> {
  const counts: Record<string, number> = {};
  const weaker = new Set<string>();
  for (const { tool, before, now } of calls) {
    if (before.outcome === now.outcome) continue;
    const word = `${before.outcome} → ${now.outcome}`;
    counts[word] = (counts[word] ?? 0) + 1;
    if (strengthOf(now.outcome) < strengthOf(before.outcome)) weaker.add(tool);
  }
  return { counts, weaker: [...weaker].toSorted() };
}
