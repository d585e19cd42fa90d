import type { OnRestart } from '../../machines/agent-process/stop-words.ts';

/** Description of an agent from its files, as far as they are readable. */
export interface AgentDescription {
  /** `null` if `service.yaml` contains no valid id. */
  agentId: string | null;
  version: string;
  model: { provider: string; name: string } | null;
  fallbacks: { provider: string; name: string }[];
  tools: string[];
  heldTools: string[];
  channels: string[];
  /** Skill names. */
  skills: string[];
  needsPassphrase: boolean;
  /** Treatment of unfinished tasks at the next start. */
  onRestart: OnRestart;
  warnings: string[];
  /** Digest of its policy; `null` if its files are invalid. */
  policySha256: string | null;
  /** Why it could not be started; `null` if it can. */
  problem: string | null;
}
