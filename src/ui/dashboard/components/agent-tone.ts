import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import type { Tone } from './tone.ts';

/** What the colour beside an agent says: amber that somebody waits, then how its process is. */
export function toneOf({ status, pending_deferrals }: AgentJson): Tone {
  if (status === 'errored') return 'deny';
  if (status !== 'running') return 'plain';
  return pending_deferrals > 0 ? 'hold' : 'allow';
}

/** The word for it. */
export function stateWords({ status, pending_deferrals: pending }: AgentJson): string {
  if (status === 'errored') return 'crashed';
  if (status !== 'running' || pending === 0) return status;
  return pending === 1 ? '1 waits' : `${pending} wait`;
}
