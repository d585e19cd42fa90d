import type { OnRestart } from '../../../machines/agent-process/stop-words.ts';

/** Process states of an agent on the dashboard (docs/contract/dashboard.md). */
export type AgentStatus = 'stopped' | 'starting' | 'running' | 'errored';

/** A model with the key names of `service.yaml`. */
export interface ModelJson {
  provider: string;
  name: string;
}

/** An agent of the workspace: an element of `GET /api/agents`, which is sorted by `id`. */
export interface AgentJson {
  /** The `agent_id` of its `service.yaml`, or the folder's name if the file is unreadable. */
  id: string;
  version: string;
  /** Absolute path. */
  directory: string;
  model: ModelJson | null;
  fallbacks: ModelJson[];
  /** Sorted names. */
  tools: string[];
  /** The subset of `tools` held by a DEFER rule. */
  held_tools: string[];
  channels: string[];
  /** Names. */
  skills: string[];
  status: AgentStatus;
  port?: number;
  url?: string;
  /** Last error of `serve.log`, at most 4 KiB of plain text, or the problem of `service.yaml`. */
  error?: string;
  started_at?: string;
  /** Set while the agent runs but does not respond: the start of the silence (RFC 3339). */
  not_responding_since?: string;
  /** True if the secrets are encrypted and no passphrase has been given yet. */
  needs_passphrase: boolean;
  pending_deferrals: number;
  /** What happens to interrupted tasks at a restart. */
  on_restart: OnRestart;
  /**
   * Set if the running agent's policy differs from its files: the start time, and the time when `service.yaml` was
   * written (RFC 3339).
   */
  policy_differs?: {
    started_at: string;
    changed_at: string;
    /** `wait`: the agent is about to apply the files. */
    remedy: 'correct' | 'restart' | 'reload' | 'wait';
    /** The problem of the files; absent for none. */
    problem?: string;
  };
  /** When the running agent applies changed rules; absent if it needs a restart, or does not run. */
  policy_reload?: 'auto' | 'manual';
  /** Warnings about its configuration, as printed by `holdpoint validate`. */
  warnings: string[];
  /** The flags of the last start, reused for a start from the dashboard; absent if there were none. */
  start_flags?: string[];
  /** True if the agent runs inside the dashboard's process, such as `holdpoint try`, and ends with it. */
  in_dashboard?: true;
}

/** Body of `POST /api/agents/{id}/start` and of `/restart`. */
export interface StartJson {
  passphrase?: string;
}

/** Response, with 202, to starting, stopping or restarting an agent. */
export interface StatusJson {
  status: AgentStatus;
}
