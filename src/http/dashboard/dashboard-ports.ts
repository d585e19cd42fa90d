import type { Clock, Ids, Log } from '../../actors/ports.ts';
import type { Workspace } from '../../actors/workspace/workspace.ts';
import type { A2aLineJson, CardInspectionJson } from '../wire/dashboard/a2a-json.ts';
import type { AuditJson } from '../wire/dashboard/audit-json.ts';
import type { ConfigCheckJson } from '../wire/dashboard/config-json.ts';
import type { DoctorJson } from '../wire/dashboard/doctor-json.ts';
import type { PolicyPreviewJson } from '../wire/dashboard/explain-json.ts';
import type { PolicyJson } from '../wire/dashboard/policy-json.ts';
import type { RecordedCall } from '../wire/dashboard/recorded-calls.ts';
import type {
  SkillDetailJson,
  SkillPlanJson,
  SkillSummaryJson,
} from '../wire/dashboard/skill-json.ts';
import type { TimelineEntryJson } from '../wire/dashboard/task-detail-json.ts';
import type { BuiltinToolJson } from '../wire/dashboard/tool-json.ts';
import type { AgentMaker } from './agent-maker.ts';
import type { DashboardHub } from './dashboard-hub.ts';
import type { PageFiles } from './page-files.ts';
import type { SignInPort } from './sign-in-port.ts';
import type { SkillBuilder } from './skill-builder.ts';

/** Which lines of an audit log are asked for. */
export interface AuditQuery {
  limit: number;
  /** Number of the line before which they lie; `null` for the end of the log. */
  before: number | null;
  /** What they hold, an empty text for anything; `null` takes all. */
  wanted: { event: string; task: string; decision: string } | null;
  isVerified: boolean;
}

/** Reads the audit logs of agents. Each rejects with the reason of the signal once it aborts. */
export interface AuditFiles {
  page(directory: string, query: AuditQuery, signal: AbortSignal): Promise<Omit<AuditJson, 'keys'>>;
  /** Opens lines by their numbers, both among them; `null` for the first and the last. */
  lines(
    directory: string,
    range: { from: number | null; to: number | null },
    signal: AbortSignal,
  ): Promise<AuditBytes>;
  timeline(directory: string, taskId: string, signal: AbortSignal): Promise<TimelineEntryJson[]>;
}

/** Lines of a log byte for byte; its files stay open until `close`. */
export interface AuditBytes {
  bytes: number;
  chunks: AsyncIterable<Uint8Array>;
  close: () => Promise<void>;
}

/** What reads the files of an agent beside its configuration; each is given the folder, absolute. */
export interface AgentFiles {
  /** Checks the text of a `service.yaml` as if it stood in the folder. */
  check(directory: string, content: string): Promise<ConfigCheckJson>;
  /** `null` while `service.yaml` cannot be used. */
  policy(directory: string): Promise<PolicyJson | null>;
  /**
   * Says what would become of recorded calls now, or under a `service.yaml` of this content; nothing is run. `null` while
   * it cannot be used. Rejects with the reason of the signal once it aborts.
   */
  explain(
    directory: string,
    asked: { calls: readonly RecordedCall[]; content?: string },
    signal: AbortSignal,
  ): Promise<Omit<PolicyPreviewJson, 'unread'> | null>;
  /** Why its encrypted secrets cannot be opened with a passphrase; `null` when they can, or when there are none. */
  refusePassphrase(directory: string, passphrase: string): Promise<string | null>;
}

/** The skills that are shipped with the product. */
export interface SkillShelf {
  /** All of them, sorted by name. */
  list(): Promise<SkillSummaryJson[]>;
  /** `null` when there is none of that name. */
  find(name: string): Promise<SkillDetailJson | null>;
  /** Adds one to the agent of a folder, or says what that would do; `null` when there is none of that name. */
  add(
    directory: string,
    name: string,
    options: { isPreview: boolean },
  ): Promise<SkillPlanJson | null>;
}

/** An agent that a person has named, be it of the workspace or not. */
export interface A2aTarget {
  url: URL;
  /** Shown to this origin alone, neither kept nor logged. */
  token: string | null;
  /** The person has said that it may be on this machine. */
  mayBeLoopback: boolean;
}

/** Asks agents for a person, and no address but what was named. Both reject with the reason of the signal. */
export interface A2aInspector {
  /** Reads the card in every form and checks it. */
  card(target: A2aTarget, signal: AbortSignal): Promise<CardInspectionJson>;
  /** Sends one request and tells the answer as it comes, or why there was none. */
  send(
    target: A2aTarget,
    asked: { method: 'GET' | 'POST'; path: string; version: string; body: string | null },
    tell: (line: A2aLineJson) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
}

/** What the dashboard's server stands on. */
export interface DashboardPorts {
  workspace: Workspace;
  hub: DashboardHub;
  files: AgentFiles;
  audit: AuditFiles;
  /** The end of the `serve.log` in the folder of an agent, as plain text. */
  logs: (directory: string, lines: number) => string[];
  builder: SkillBuilder;
  skills: SkillShelf;
  maker: AgentMaker;
  inspector: A2aInspector;
  /** Checks the agent of a folder; rejects with one sentence, and ends what it began with the signal. */
  examine: (directory: string, signal: AbortSignal) => Promise<DoctorJson>;
  signIns: SignInPort;
  /** The built page; `null` when it is not there. */
  page: PageFiles | null;
  /** JSON Schema of `service.yaml`. */
  schema: () => Promise<object>;
  /** What `builtin_tools` may list. */
  tools: () => Promise<BuiltinToolJson[]>;
  version: string;
  /** The newest release that is known and newer than this one; `null` for none, and where nobody asked for it. */
  newerRelease: () => string | null;
  /** What `/api` asks for; `null` for nothing. */
  token: string | null;
  /** Who decides on the page and gives no name. */
  operator: string;
  /** The names that a request may have for this server, in lower case, without their port. */
  hosts: readonly string[];
  /** The port that it listens on. */
  port: () => number;
  clock: Clock;
  ids: Ids;
  log: Log;
}
