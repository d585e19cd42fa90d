import type { OnRestart } from '../../../machines/agent-process/stop-words.ts';

/** Process states of an agent on the dashboard (docs/contract/dashboard.md). */
export type AgentStatus = 'stopped' | 'starting' | 'running' | 'errored';

/** A model by the names `service.yaml` gives it. */
export interface ModelJson {
  provider: string;
  name: string;
}

/** An agent of the workspace: an element of `GET /api/agents`, which sorts them by `id`. */
export interface AgentJson {
  /** The `agent_id` of its `service.yaml`; the name of its folder when that cannot be read. */
  id: string;
  version: string;
  /** An absolute path. */
  directory: string;
  model: ModelJson | null;
  fallbacks: ModelJson[];
  /** Names, sorted. */
  tools: string[];
  /** Those of `tools` that a DEFER rule holds. */
  held_tools: string[];
  channels: string[];
  /** Names. */
  skills: string[];
  status: AgentStatus;
  port?: number;
  url?: string;
  /** Last error of `serve.log`, 4 KiB of plain text at most, or what is wrong with `service.yaml`. */
  error?: string;
  started_at?: string;
  /** It runs and has answered nothing since then (RFC 3339); absent while it responds. */
  not_responding_since?: string;
  /** Its secrets are encrypted, and nobody has given a passphrase yet. */
  needs_passphrase: boolean;
  pending_deferrals: number;
  /** What becomes of them when it starts again. */
  on_restart: OnRestart;
  /** It runs with other rules than its files have: since when, and when `service.yaml` was written (RFC 3339). */
  policy_differs?: { started_at: string; changed_at: string };
  /** Warnings of its configuration, as `holdpoint validate` prints them. */
  warnings: string[];
  /** The flags that it was started with last, which a start from the dashboard repeats; absent for none. */
  start_flags?: string[];
  /** It runs in the program that serves the dashboard, such as `holdpoint try`, and ends with it. */
  in_dashboard?: true;
}

/** Body of `POST /api/agents/{id}/start` and of `/restart`. */
export interface StartJson {
  passphrase?: string;
}

/** Answer, with 202, to starting, stopping or restarting an agent. */
export interface StatusJson {
  status: AgentStatus;
}
