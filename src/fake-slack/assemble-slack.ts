import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../actors/clock.ts';
import type { Clock } from '../actors/ports.ts';
import { SocketHub } from './socket-mode/socket-hub.ts';
import { Watch } from './watch.ts';
import { WebApi } from './web-api/web-api.ts';
import { appScopes } from './workspace/app-scopes.ts';
import { usualChannels, usualUsers } from './workspace/people.ts';
import { type FakeChannel, type FakeUser, Workspace } from './workspace/workspace.ts';

/** Settings of a fake Slack; times are in milliseconds. */
export interface FakeSlackOptions {
  /** 0, or a port of 127.0.0.1. */
  port?: number;
  clock?: Clock;
  users?: readonly FakeUser[];
  channels?: readonly FakeChannel[];
  /** The scopes of the bot's token. */
  scopes?: readonly string[];
  /** An envelope that is not acknowledged within this time is sent again; 3000 without it. */
  ackWithin?: number;
  /** Maximum sends of an envelope; 3 by default. */
  mostDeliveries?: number;
  /** Time after a click within which a modal may open; 3000 by default. */
  triggerLife?: number;
  /** Time between two messages of the bot in one channel; 0, no limit, without it. */
  messageEvery?: number;
  /** Time between two pings over the socket; 5000 without it. */
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

/** Assembles a fake Slack on a server that listens already. */
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
