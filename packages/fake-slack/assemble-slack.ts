import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../src/actors/ports/clock.ts';
import { systemClock } from '../../src/actors/system-clock.ts';
import { SocketHub } from './socket-mode/socket-hub.ts';
import { Watch } from './watch.ts';
import { WebApi } from './web-api/web-api.ts';
import { appScopes } from './workspace/app-scopes.ts';
import { usualChannels, usualUsers } from './workspace/people.ts';
import { type FakeChannel, type FakeUser, Workspace } from './workspace/workspace.ts';

/** Settings of a fake Slack; times are in milliseconds. */
export interface FakeSlackOptions {
  /** A port of 127.0.0.1; 0 selects a free one. */
  port?: number;
  clock?: Clock;
  users?: readonly FakeUser[];
  channels?: readonly FakeChannel[];
  /** The scopes of the bot token. */
  scopes?: readonly string[];
  /** Time after which an unacknowledged envelope is resent. Default: 3000. */
  ackWithin?: number;
  /** Maximum number of deliveries of an envelope. Default: 3. */
  mostDeliveries?: number;
  /** Time after a click in which a modal may be opened. Default: 3000. */
  triggerLife?: number;
  /** Minimum time between two messages of the bot in one channel. Default: 0 (no limit). */
  messageEvery?: number;
  /** Interval of pings on the socket. Default: 5000. */
  pingEvery?: number;
}

export interface FakeSlackParts {
  server: Server;
  web: WebApi;
  hub: SocketHub;
  watch: Watch;
  workspace: Workspace;
  tokens: { bot: string; app: string };
  origin: string;
}

/** Assembles a fake Slack on a listening server. */
export function assembleSlack(server: Server, options: FakeSlackOptions): FakeSlackParts {
  const { clock = systemClock(), users = usualUsers, channels = usualChannels } = options;
  const origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const watch = new Watch();
  const copied = channels.map((channel) => ({ ...channel }));
  const workspace = new Workspace(clock, [...users], copied);
  const tokens = { bot: `xoxb-fake-${randomUUID()}`, app: `xapp-fake-${randomUUID()}` };
  const hub = new SocketHub({
    clock,
    appId: workspace.appId,
    ackWithin: options.ackWithin ?? 3_000,
    mostDeliveries: options.mostDeliveries ?? 3,
    pingEvery: options.pingEvery ?? 5_000,
    watch,
  });
  const web = new WebApi({
    clock,
    botToken: tokens.bot,
    appToken: tokens.app,
    messageEvery: options.messageEvery ?? 0,
    watch,
    context: () => ({
      workspace,
      scopes: options.scopes ?? appScopes,
      triggerLife: options.triggerLife ?? 3_000,
      newSocketUrl: () =>
        `ws://${origin}/link/?ticket=${hub.newTicket()}&app_id=${workspace.appId}`,
      uploadUrl: (id) => `http://${origin}/upload/v1/${id}`,
    }),
  });
  server.on('request', (request, response) => void web.handle(request, response));
  server.on('upgrade', (request, socket, head) => hub.accept(request, socket, head));
  return { server, web, hub, watch, workspace, tokens, origin: `http://${origin}` };
}
