import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import type { Tone } from './tone.ts';

type Standing = Pick<AgentJson, 'status' | 'pending_deferrals' | 'not_responding_since'>;

/** The colour of the dot beside an agent: red for what is wrong, amber for calls that wait, then its process. */
export function toneOf(agent: Standing): Tone {
  const { status, pending_deferrals: pending } = agent;
  const tone = processTone(agent);
  return status === 'running' && pending > 0 && tone !== 'deny' ? 'hold' : tone;
}

/** The colour of the state of its process. */
export function processTone({ status, not_responding_since: since }: Standing): Tone {
  if (status === 'errored') return 'deny';
  if (status !== 'running') return 'plain';
  return since === undefined ? 'allow' : 'deny';
}

/** Says how many calls wait in an agent. */
export function waitingWords(pending: number): string {
  return `${pending.toLocaleString()} waiting`;
}
