import { realpathSync } from 'node:fs';
import { onTestFinished } from 'vitest';
// Loaded when first needed; what these packages leave on the process is theirs for its whole life.
import { systemClock } from '../../src/actors/system-clock.ts';
import '../../src/dashboard/reading/agent-files.ts';
import '../../src/dashboard/workspace/describe-agent.ts';
import '../../src/dashboard/builder/skill-builder.ts';
import type { Clock } from '../../src/actors/ports/clock.ts';
import type { Log } from '../../src/actors/ports/log.ts';
import '../../src/dashboard/workspace/skill-shelf.ts';
import { type Dashboard, serveDashboard } from '../../src/dashboard/server/serve-dashboard.ts';
import type { TeamOptions } from '../../src/dashboard/server/team-access.ts';
import { AgentClient } from './agent-client.ts';
import { commandFile } from './real-command.ts';
import { temporaryFolder } from './test-system.ts';

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A dashboard that this process serves until the test has finished. */
export interface TestDashboard extends AgentClient {
  workspace: string;
  dashboard: Dashboard;
  /** Serves the workspace once more. */
  serveAgain: () => Promise<Dashboard>;
}

/** Serves the dashboard of a new workspace, once `prepare` has filled it. */
export async function openDashboard(
  prepare: (workspace: string) => void = () => undefined,
  {
    token = null,
    env = process.env,
    log = silent,
    isNoted = false,
    clock = systemClock(),
    team,
  }: {
    token?: string | null;
    env?: NodeJS.ProcessEnv;
    log?: Log;
    isNoted?: boolean;
    clock?: Clock;
    /** How people sign in to a workspace. */
    team?: (workspace: string) => TeamOptions;
  } = {},
): Promise<TestDashboard> {
  const workspace = realpathSync(temporaryFolder());
  prepare(workspace);
  const serve = async (): Promise<Dashboard> => {
    const served = await serveDashboard({
      ...{ directory: workspace, host: '127.0.0.1', port: 0, token, env, log, isNoted, clock },
      ...(team === undefined ? {} : { team: team(workspace) }),
      command: { file: process.execPath, args: [commandFile()], env },
    });
    onTestFinished(() => served.close());
    return served;
  };
  const dashboard = await serve();
  const client = new AgentClient(`http://127.0.0.1:${dashboard.port}`, token);
  return Object.assign(client, { workspace, dashboard, serveAgain: serve });
}
