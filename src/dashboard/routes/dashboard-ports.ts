import type { Clock, Ids, Log } from '../../actors/ports.ts';
import type { Workspace } from '../../actors/workspace/workspace.ts';
import type { AgentMaker } from '../../http/dashboard/agent-maker.ts';
import type { SignInPort } from '../../http/dashboard/sign-in-port.ts';
import type { SkillBuilder } from '../../http/dashboard/skill-builder.ts';
import type { A2aLineJson, CardInspectionJson } from '../../http/wire/dashboard/a2a-json.ts';
import type { AuditJson } from '../../http/wire/dashboard/audit-json.ts';
import type { ConfigCheckJson } from '../../http/wire/dashboard/config-json.ts';
import type { DoctorJson } from '../../http/wire/dashboard/doctor-json.ts';
import type { PolicyPreviewJson } from '../../http/wire/dashboard/explain-json.ts';
import type { PolicyJson } from '../../http/wire/dashboard/policy-json.ts';
import type { RecordedCall } from '../../http/wire/dashboard/recorded-calls.ts';
import type {
  SkillDetailJson,
  SkillPlanJson,
  SkillSummaryJson,
} from '../../http/wire/dashboard/skill-json.ts';
import type { TimelineEntryJson } from '../../http/wire/dashboard/task-detail-json.ts';
import type { BuiltinToolJson } from '../../http/wire/dashboard/tool-json.ts';
import type { PageFiles } from '../server/page-files.ts';
import type { DashboardHub } from '../workspace/dashboard-hub.ts';

/** A query for lines of an audit log. */
export interface AuditQuery {
  limit: number;
  /** Returns lines before this line number; `null` for the end of the log. */
  before: number | null;
  /** Filter texts; an empty text matches anything. `null` disables the filter. */
  wanted: { event: string; task: string; decision: string } | null;
  isVerified: boolean;
}

/** Reads agents' audit logs. Every method rejects with the reason of the signal when aborted. */
export interface AuditFiles {
  page(directory: string, query: AuditQuery, signal: AbortSignal): Promise<Omit<AuditJson, 'keys'>>;
  /** Opens a range of lines by number, inclusive; `null` for the first or the last line. */
  lines(
    directory: string,
    range: { from: number | null; to: number | null },
    signal: AbortSignal,
  ): Promise<AuditBytes>;
  timeline(directory: string, taskId: string, signal: AbortSignal): Promise<TimelineEntryJson[]>;
}

/** Raw log lines; the files stay open until `close`. */
export interface AuditBytes {
  bytes: number;
  chunks: AsyncIterable<Uint8Array>;
  close: () => Promise<void>;
}

/** Reads an agent's files other than its configuration. Every method receives the folder's absolute path. */
export interface AgentFiles {
  /** Validates the text of a `service.yaml` as if it were in the folder. */
  check(directory: string, content: string): Promise<ConfigCheckJson>;
  /** `null` if `service.yaml` is invalid. */
  policy(directory: string): Promise<PolicyJson | null>;
  /**
   * Computes the outcome that recorded calls would have now, or under the given `service.yaml`. Runs no tool. `null` if
   * the configuration is invalid. Rejects with the reason of the signal when aborted.
   */
  explain(
    directory: string,
    asked: { calls: readonly RecordedCall[]; content?: string },
    signal: AbortSignal,
  ): Promise<Omit<PolicyPreviewJson, 'unread'> | null>;
  /** Returns why a passphrase does not decrypt the agent's secrets; `null` if it does or there are none. */
  refusePassphrase(directory: string, passphrase: string): Promise<string | null>;
}

/** The bundled skills. */
export interface SkillShelf {
  /** Lists all skills sorted by name. */
  list(): Promise<SkillSummaryJson[]>;
  /** `null` if there is no skill with this name. */
  find(name: string): Promise<SkillDetailJson | null>;
  /** Adds a skill to the agent in a folder, or previews the change; `null` if there is no skill with this name. */
  add(
    directory: string,
    name: string,
    options: { isPreview: boolean },
  ): Promise<SkillPlanJson | null>;
}

/** An agent that the user named, inside or outside the workspace. */
export interface A2aTarget {
  url: URL;
  /** Sent only to this origin, neither stored nor logged. */
  token: string | null;
  /** True if the user allowed an address on this machine. */
  mayBeLoopback: boolean;
}

/**
 * Sends requests to agents for a user, and only to the named address. Both methods reject with the reason of the
 * signal.
 */
export interface A2aInspector {
  /** Fetches and checks the card in every format. */
  card(target: A2aTarget, signal: AbortSignal): Promise<CardInspectionJson>;
  /** Sends one request and streams the response, or reports why there was none. */
  send(
    target: A2aTarget,
    asked: { method: 'GET' | 'POST'; path: string; version: string; body: string | null },
    tell: (line: A2aLineJson) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
}

/** The dependencies of the dashboard's server. */
export interface DashboardPorts {
  workspace: Workspace;
  hub: DashboardHub;
  files: AgentFiles;
  audit: AuditFiles;
  /** Returns the end of an agent's `serve.log` as plain text. */
  logs: (directory: string, lines: number) => string[];
  builder: SkillBuilder;
  skills: SkillShelf;
  maker: AgentMaker;
  inspector: A2aInspector;
  /** Runs the checks on a folder's agent. Rejects with a one-sentence message. The signal ends the checks. */
  examine: (directory: string, signal: AbortSignal) => Promise<DoctorJson>;
  signIns: SignInPort;
  /** The built page; `null` if it does not exist. */
  page: PageFiles | null;
  /** JSON Schema of `service.yaml`. */
  schema: () => Promise<object>;
  /** The tools that `builtin_tools` may list. */
  tools: () => Promise<BuiltinToolJson[]>;
  version: string;
  /** Returns the latest known release if it is newer than this version; `null` if there is none or the check is off. */
  newerRelease: () => string | null;
  /** The token that `/api` requires; `null` if none is required. */
  token: string | null;
  /** The approver's name for decisions on the page without a name. */
  operator: string;
  /** Accepted host names of this server in lower case, without port. */
  hosts: readonly string[];
  /** Returns the listening port. */
  port: () => number;
  clock: Clock;
  ids: Ids;
  log: Log;
}
