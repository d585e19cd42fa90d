import type { Clock } from '../../actors/ports.ts';
import type { SignIns } from '../../actors/sign-in/sign-in.ts';
import { tailServeLog } from '../../actors/workspace/workspace.ts';
import type { DashboardPorts } from '../../http/dashboard/dashboard-ports.ts';
import { late } from './late.ts';

export interface LatePortsOptions {
  workspace: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  signIns: () => Promise<SignIns>;
  /** The dashboard's own port, which is never requested. */
  ownPort: () => number;
}

/** Creates the dashboard's ports for folders and for requests to other servers. */
export function latePorts({
  workspace,
  env,
  clock,
  signIns,
  ownPort,
}: LatePortsOptions): Pick<
  DashboardPorts,
  'audit' | 'builder' | 'files' | 'inspector' | 'logs' | 'maker' | 'skills'
> {
  const audit = late(async () => (await import('./audit-reader.ts')).auditReader(env));
  return {
    audit,
    logs: tailServeLog,
    files: late(async () => (await import('./agent-files.ts')).agentFiles(env, audit)),
    skills: late(async () => (await import('./skill-shelf.ts')).skillShelf(env)),
    inspector: late(async () => (await import('./a2a-inspector.ts')).a2aInspector(ownPort)),
    builder: late(async () => {
      const { skillBuilder } = await import('./skill-builder.ts');
      return skillBuilder({ workspace, env, clock });
    }),
    maker: late(async () => {
      const { agentMaker } = await import('./agent-maker.ts');
      return agentMaker({ workspace, signIns });
    }),
  };
}
