import { createServer, type Server } from 'node:http';
import { openWorkspace } from '../../src/actors/workspace/workspace.ts';
import { createDashboardApp } from '../../src/dashboard/server/dashboard-app.ts';
import { openServices } from '../../src/dashboard/server/open-services.ts';
import { DashboardHub } from '../../src/dashboard/workspace/dashboard-hub.ts';
import { HeldLooks } from '../../src/dashboard/workspace/held-looks.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { ManualClock } from './manual-clock.ts';
import { temporaryFolder } from './test-system.ts';

/** A dashboard without agents, whose hub a test speaks through. */
export interface HubServer {
  url: string;
  hub: DashboardHub;
  clock: ManualClock;
  server: Server;
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Serves a dashboard whose agents are not searched, on a clock that does not advance. */
export async function openHub(newerRelease: () => string | null = () => null): Promise<HubServer> {
  const hub = new DashboardHub('run');
  const clock = new ManualClock(0);
  const workspace = await openWorkspace({
    ...{ directory: temporaryFolder(), clock, log: silent },
    command: { file: 'none', args: [], env: {} },
    describe: () => Promise.reject(new Error('nobody looks')),
    onCreated: () => undefined,
    onRemoved: () => undefined,
    onChange: () => undefined,
    onTasks: () => Promise.resolve(),
    onGap: () => undefined,
  });
  let port = 0;
  let ids = 0;
  const app = createDashboardApp({
    ...openServices({
      ...{ workspace: workspace.directory, env: {}, clock, log: silent, hub },
      ownPort: () => port,
    }),
    ...{ workspace, hub, clock, log: silent, version: '0', token: null, page: null },
    looks: new HeldLooks({ clock, hub }),
    newerRelease,
    tools: async () => [],
    examine: () => Promise.reject(new Error('nobody looks')),
    operator: 'ann on the dashboard',
    schema: () => Promise.resolve({}),
    ids: {
      next: () => {
        ids += 1;
        return `id-${ids}`;
      },
    },
    publicOrigin: null,
    team: null,
    hosts: ['127.0.0.1'],
    port: () => port,
  });
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  const url = await listenOnLoopback(server);
  port = Number(new URL(url).port);
  return { url, hub, clock, server };
}
