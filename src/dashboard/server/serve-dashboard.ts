import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { loginName } from '../../actors/login-name.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import { noteDashboard } from '../../actors/process/process.ts';
import { randomIds } from '../../actors/random-ids.ts';
import { systemClock } from '../../actors/system-clock.ts';
import {
  type AgentCommand,
  openWorkspace,
  type Workspace,
} from '../../actors/workspace/workspace.ts';
import { builtPages } from '../../agent/start/built-page.ts';
import { listen } from '../../http/listen.ts';
import { readPageFiles } from '../../http/middleware/page-files.ts';
import { urlOf } from '../../machines/url-of.ts';
import { version } from '../../version.ts';
import { dashboardFeed } from '../workspace/dashboard-feed.ts';
import { DashboardHub } from '../workspace/dashboard-hub.ts';
import { examineAgent } from '../workspace/examine-agent.ts';
import { HeldLooks } from '../workspace/held-looks.ts';
import { createDashboardApp } from './dashboard-app.ts';
import { openServices } from './open-services.ts';
import type { Team, TeamPorts } from './open-team.ts';
import type { TeamOptions } from './team-access.ts';

export interface DashboardOptions {
  /** The folder of the workspace. */
  directory: string;
  host: string;
  port: number;
  /** If false and the port is taken, uses one of the ten ports after it or any free port. Default: true. */
  isFixed?: boolean;
  token: string | null;
  /** The sign-in of people at a public address; absent without one. */
  team?: TeamOptions;
  /**
   * If false, writes no note to the workspace, so agents there do not block this port in their egress. Default: true.
   */
  isNoted?: boolean;
  /** The command that runs an agent in the background. */
  command: AgentCommand;
  env: NodeJS.ProcessEnv;
  log: Log;
  /** The clock of the machine when absent. */
  clock?: Clock;
  /** Aborts the build of the page. */
  signal?: AbortSignal;
}

/** A listening dashboard. */
export interface Dashboard {
  url: string;
  port: number;
  workspace: Workspace;
  /** Stops serving. Agents keep running. */
  close(): Promise<void>;
}

/**
 * Serves a workspace's dashboard and returns once it listens. Its agents are discovered afterwards. Rejects with
 * ListenError or PageBuildError.
 */
export async function serveDashboard(options: DashboardOptions): Promise<Dashboard> {
  const {
    directory,
    host,
    port,
    isFixed = true,
    isNoted = true,
    token,
    command,
    env,
    log,
    clock = systemClock(),
  } = options;
  const pages = await builtPages(options.signal);
  const page = readPageFiles(pages.dashboard);
  const ids = randomIds();
  const hub = new DashboardHub(randomBytes(6).toString('hex'));
  const looks = new HeldLooks({ clock, hub });
  const workspace = await openWorkspace({
    ...dashboardFeed({ hub, looks, log }),
    directory,
    command,
    clock,
    log,
    describe: async (folder) => {
      const { describeAgent } = await import('../workspace/describe-agent.ts');
      return describeAgent(folder, env, options.team?.settings.sign_in.issuer);
    },
  });
  const team =
    options.team === undefined
      ? null
      : await openTeamOf(options.team, {
          ...{ directory: workspace.directory, env, clock, log },
          approvalsPage: readPageFiles(pages.approvals),
        });
  const servers: Server[] = [];
  const portOf = (): number => (servers[0]?.address() as AddressInfo | undefined)?.port ?? port;
  const services = openServices({
    workspace: workspace.directory,
    env,
    clock,
    log,
    hub,
    ownPort: portOf,
  });
  const app = createDashboardApp({
    ...services,
    workspace,
    hub,
    looks,
    version,
    token,
    clock,
    ids,
    log,
    page,
    examine: (folder, signal) => examineAgent(command, folder, signal),
    async schema() {
      const { editorSchema } = await import('../../actors/config/config.ts');
      return editorSchema('service.yaml');
    },
    async tools() {
      const { describeBuiltins } = await import('../../actors/tools/tools.ts');
      return describeBuiltins().map(({ parameters, ...tool }) => ({
        ...tool,
        input_schema: parameters,
      }));
    },
    operator: `${loginName()} on the dashboard`,
    // With a sign-in, no other name of this machine serves its token.
    hosts: namesOf(team === null ? host : '127.0.0.1'),
    port: portOf,
    publicOrigin: options.team?.publicOrigin ?? null,
    team,
  });
  const trustedProxies = team?.trustedProxies ?? [];
  try {
    servers.push(await listen(app, { host, port, isFixed, ids, trustedProxies }));
  } catch (error) {
    await workspace.close();
    team?.close();
    throw error;
  }
  if (host === '127.0.0.1') {
    // A browser may resolve `localhost` to the other loopback address.
    const second = listen(app, { host: '::1', port: portOf(), isFixed: true, ids });
    await second.then((server) => servers.push(server)).catch(() => undefined);
  }
  const beginning = setImmediate(() => workspace.begin());
  const at = { host, port: portOf() };
  const removeNote = isNoted ? note(workspace.directory, at, log) : () => undefined;
  return {
    url: urlOf(host === '127.0.0.1' ? 'localhost' : host, portOf()),
    port: portOf(),
    workspace,
    async close() {
      clearImmediate(beginning);
      removeNote();
      hub.close();
      services.close();
      await Promise.all(servers.map(closeServer));
      team?.close();
      await workspace.close();
    },
  };
}

/** Loaded only with a sign-in, so that other dashboards listen sooner. */
async function openTeamOf(options: TeamOptions, ports: TeamPorts): Promise<Team> {
  const { openTeam } = await import('./open-team.ts');
  return openTeam(options, ports);
}

/** Records the dashboard's address for the agents of the workspace. Returns a function that removes the record. */
function note(directory: string, at: { host: string; port: number }, log: Log): () => void {
  const remove = attempt(() => noteDashboard(directory, at), log);
  return () => void attempt(() => remove?.(), log);
}

function attempt<Result>(act: () => Result, log: Log): Result | null {
  try {
    return act();
  } catch (error) {
    log.warn(
      { error },
      'dashboard: .service/ui.json cannot be written, so agents do not close this port to their tools',
    );
    return null;
  }
}

/** Returns the host names under which a browser may address a server on a host. */
function namesOf(host: string): string[] {
  const own = ['localhost', '127.0.0.1', '[::1]'];
  const named = host.includes(':') ? `[${host}]` : host;
  if (host !== '0.0.0.0' && host !== '::') return [...own, named.toLowerCase()];
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const names = addresses.map(({ address }) => (address.includes(':') ? `[${address}]` : address));
  return [...own, hostname(), ...names].map((name) => name.toLowerCase());
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
