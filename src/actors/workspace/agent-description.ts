import type { OnRestart } from '../../machines/agent-process/stop-words.ts';

/** What the files of an agent say of it, as far as they can be read. */
export interface AgentDescription {
  /** `null` when `service.yaml` names none that can be used. */
  agentId: string | null;
  version: string;
  model: { provider: string; name: string } | null;
  fallbacks: { provider: string; name: string }[];
  tools: string[];
  heldTools: string[];
  channels: string[];
  /** Names. */
  skills: string[];
  needsPassphrase: boolean;
  /** What becomes of its unfinished tasks when it starts again. */
  onRestart: OnRestart;
  warnings: string[];
  /** The digest of its policy; `null` while its files cannot be used. */
  policySha256: string | null;
  /** Why it could not be started as it is; `null` when nothing stands against it. */
  problem: string | null;
}
