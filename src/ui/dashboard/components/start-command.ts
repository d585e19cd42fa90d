import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import { shellWord } from '../../../machines/shell-word.ts';

/** Returns the command line equivalent to a start from the dashboard. */
export function startCommand({ directory, start_flags: flags = [] }: AgentJson): string {
  const inspecting = flags.indexOf('--inspect');
  // Only a foreground agent can run the inspector.
  const kept = inspecting === -1 ? flags : flags.slice(0, inspecting);
  return ['holdpoint serve start --dir', ...[directory, ...kept].map(shellWord)].join(' ');
}
