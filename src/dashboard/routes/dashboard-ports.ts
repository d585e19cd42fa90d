import type { Clock } from '../../actors/ports/clock.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { Workspace } from '../../actors/workspace/workspace.ts';
import type { DoctorJson } from '../../http/wire/dashboard/doctor-json.ts';
import type { BuiltinToolJson } from '../../http/wire/dashboard/tool-json.ts';
import type { SkillBuilder } from '../builder/skill-builder.ts';
import type { A2aInspector } from '../reading/a2a-inspector.ts';
import type { AgentFiles } from '../reading/agent-files.ts';
import type { AuditReader } from '../reading/audit-reader.ts';
import type { SignIns } from '../sign-in/sign-ins.ts';
import type { AgentMaker } from '../workspace/agent-maker.ts';
import type { DashboardHub } from '../workspace/dashboard-hub.ts';
import type { HeldLooks } from '../workspace/held-looks.ts';
import type { SkillShelf } from '../workspace/skill-shelf.ts';

/** The services behind the routes. */
export interface DashboardServices {
  audit: AuditReader;
  builder: SkillBuilder;
  files: AgentFiles;
  inspector: A2aInspector;
  maker: AgentMaker;
  skills: SkillShelf;
  signIns: () => Promise<SignIns>;
  /** Returns the latest known release if it is newer than this version; `null` if there is none or the check is off. */
  newerRelease: () => string | null;
}

/** The dependencies of the routes. */
export interface DashboardPorts extends DashboardServices {
  workspace: Workspace;
  hub: DashboardHub;
  looks: HeldLooks;
  /** Runs the checks on a folder's agent. Rejects with a one-sentence message. The signal ends the checks. */
  examine: (directory: string, signal: AbortSignal) => Promise<DoctorJson>;
  /** JSON Schema of `service.yaml`. */
  schema: () => Promise<object>;
  /** The tools that `builtin_tools` may list. */
  tools: () => Promise<BuiltinToolJson[]>;
  version: string;
  /** The token that `/api` requires; `null` if none is required. */
  token: string | null;
  /** Origin of the public address at which people sign in; `null` without one. */
  publicOrigin: string | null;
  /** The approver's name for decisions on the page without a name. */
  operator: string;
  clock: Clock;
  ids: Ids;
  log: Log;
}
