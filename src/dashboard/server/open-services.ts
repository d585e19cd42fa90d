import type { Clock } from '../../actors/ports.ts';
import { tailServeLog } from '../../actors/workspace/workspace.ts';
import type { DashboardPorts } from '../routes/dashboard-ports.ts';
import type { SignIns } from '../sign-in/sign-in.ts';
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
  const audit = late(async () => (await import('../reading/audit-reader.ts')).auditReader(env));
  return {
    audit,
    logs: tailServeLog,
    files: late(async () => (await import('../reading/agent-files.ts')).agentFiles(env, audit)),
    skills: late(async () => (await import('../workspace/skill-shelf.ts')).skillShelf(env)),
    inspector: late(async () =>
      (await import('../reading/a2a-inspector.ts')).a2aInspector(ownPort),
    ),
    builder: late(async () => {
      const { skillBuilder } = await import('../builder/skill-builder.ts');
      return skillBuilder({ workspace, env, clock });
    }),
    maker: late(async () => {
      const { agentMaker } = await import('../workspace/agent-maker.ts');
      return agentMaker({ workspace, signIns });
    }),
  };
}
