import type { Clock, Ids, Log } from '../../actors/ports.ts';
import type { Workspace } from '../../actors/workspace/workspace.ts';
import type { AuditJson } from '../wire/dashboard/audit-json.ts';
import type { ConfigCheckJson } from '../wire/dashboard/config-json.ts';
import type { PolicyJson } from '../wire/dashboard/policy-json.ts';
import type { TimelineEntryJson } from '../wire/dashboard/task-detail-json.ts';
import type { DashboardHub } from './dashboard-hub.ts';
import type { PageFiles } from './page-files.ts';

/** What reads the files of an agent beside its configuration; each is given the folder, absolute. */
export interface AgentFiles {
  /** Checks the text of a `service.yaml` as if it stood in the folder. */
  check(directory: string, content: string): Promise<ConfigCheckJson>;
  /** `null` while `service.yaml` cannot be used. */
  policy(directory: string): Promise<PolicyJson | null>;
  audit(
    directory: string,
    page: { limit: number; before: number | null },
  ): Promise<Omit<AuditJson, 'keys'>>;
  timeline(directory: string, taskId: string): Promise<TimelineEntryJson[]>;
  /** The end of `serve.log`, as plain text. */
  logs(directory: string, lines: number): string[];
}

/** What the dashboard's server stands on. */
export interface DashboardPorts {
  workspace: Workspace;
  hub: DashboardHub;
  files: AgentFiles;
  /** The built page; `null` when it is not there. */
  page: PageFiles | null;
  /** JSON Schema of `service.yaml`. */
  schema: () => Promise<object>;
  version: string;
  /** What `/api` asks for; `null` for nothing. */
  token: string | null;
  /** The names that a request may have for this server, in lower case, without their port. */
  hosts: readonly string[];
  /** The port that it listens on. */
  port: () => number;
  clock: Clock;
  ids: Ids;
  log: Log;
}
