import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import { messageOf } from '../../machines/message-of.ts';
import { isSource, version } from '../../version.ts';
import type { DashboardServices } from '../routes/dashboard-ports.ts';
import type { SignIns } from '../sign-in/sign-ins.ts';
import type { DashboardHub } from '../workspace/dashboard-hub.ts';
import { late } from './late.ts';
import type { UpdateCheck } from './update-check.ts';

export interface ServicesOptions {
  /** Absolute path of the workspace's folder. */
  workspace: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
  hub: DashboardHub;
  /** The dashboard's own port, which is never requested. */
  ownPort: () => number;
}

/** Creates the services behind the routes. Each is loaded at its first call, so that the server listens sooner. */
export function openServices({
  workspace,
  env,
  clock,
  log,
  hub,
  ownPort,
}: ServicesOptions): DashboardServices & { close: () => void } {
  let opened: SignIns | null = null;
  let loading: Promise<SignIns> | null = null;
  const signIns = (): Promise<SignIns> => {
    loading ??= import('../sign-in/sign-ins.ts').then(({ openSignIns }) => {
      opened = openSignIns(env, { clock, moved: () => hub.tell('sign_in', {}) });
      return opened;
    });
    return loading;
  };
  const audit = late(async () => (await import('../reading/audit-reader.ts')).auditReader(env));
  return {
    audit,
    signIns,
    files: late(async () => (await import('../reading/agent-files.ts')).agentFiles(env, audit)),
    skills: late(async () => (await import('../workspace/skill-shelf.ts')).skillShelf(env)),
    inspector: late(async () => {
      const { a2aInspector } = await import('../reading/a2a-inspector.ts');
      return a2aInspector(ownPort);
    }),
    builder: late(async () => {
      const { SkillBuilder } = await import('../builder/skill-builder.ts');
      return new SkillBuilder({ workspace, env, clock });
    }),
    maker: late(async () => {
      const { agentMaker } = await import('../workspace/agent-maker.ts');
      return agentMaker({ workspace, signIns });
    }),
    newerRelease: newerRelease(env, clock, log),
    close: () => opened?.close(),
  };
}

/** Returns the update check. Its code is loaded only if the user configured a URL. */
function newerRelease(env: NodeJS.ProcessEnv, clock: Clock, log: Log): () => string | null {
  if ((env['SERVICE_UPDATE_URL'] ?? '') === '') return () => null;
  let check: UpdateCheck | null = null;
  import('./update-check.ts')
    .then(({ openUpdateCheck }) => {
      check = openUpdateCheck({ env, version, isSource, clock });
      // Starts the look-up early, so a page opened soon after shows the result.
      check.newer();
    })
    .catch((error: unknown) => {
      log.warn({}, messageOf(error));
    });
  return () => check?.newer() ?? null;
}
