import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import type { Tone } from './tone.ts';

type Standing = Pick<AgentJson, 'status' | 'pending_deferrals' | 'not_responding_since'>;

/**
 * Returns the colour of an agent's dot: red for problems, amber for waiting calls, otherwise the process state's
 * colour.
 */
export function toneOf(agent: Standing): Tone {
  const { status, pending_deferrals: pending } = agent;
  const tone = processTone(agent);
  return status === 'running' && pending > 0 && tone !== 'deny' ? 'hold' : tone;
}

/** Returns the colour of an agent's process state. */
export function processTone({ status, not_responding_since: since }: Standing): Tone {
  if (status === 'errored') return 'deny';
  if (status !== 'running') return 'plain';
  return since === undefined ? 'allow' : 'deny';
}

/** Describes the number of an agent's waiting calls. */
export function waitingWords(pending: number): string {
  return `${pending.toLocaleString()} waiting`;
}
