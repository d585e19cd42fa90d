import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import { shellWord } from '../../../machines/shell-word.ts';

/** Returns the command that starts an agent as a start from the dashboard does. */
export function startCommand({ directory, start_flags: flags = [] }: AgentJson): string {
  const inspecting = flags.indexOf('--inspect');
  // Only an agent in the foreground shows its charts.
  const kept = inspecting === -1 ? flags : flags.slice(0, inspecting);
  return ['holdpoint serve start --dir', ...[directory, ...kept].map(shellWord)].join(' ');
}
