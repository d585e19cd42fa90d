import { createServer, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { CardPublisher } from '../../../src/actors/card/card.ts';
import { PushNotifications } from '../../../src/actors/outbound/push/push-notifications.ts';
import { SqliteStore } from '../../../src/actors/records/sqlite/sqlite-store.ts';
import { TaskSystem } from '../../../src/actors/tasks/task-system.ts';
import { startAgent } from '../../../src/agent/start/start-agent.ts';
import { AuthLog } from '../../../src/http/auth-log.ts';
import { ListenError } from '../../../src/http/listen.ts';
import { AgentFolder } from '../../helpers/agent-folder.ts';

const silent = { info() {}, warn() {}, error() {} };

/** What an agent is made of, as far as it can be seen to close. */
const parts = [
  [TaskSystem.prototype, 'drain'],
  [Server.prototype, 'close'],
  [AuthLog.prototype, 'flush'],
  [CardPublisher.prototype, 'stop'],
  [PushNotifications.prototype, 'stop'],
  [TaskSystem.prototype, 'stop'],
  [SqliteStore.prototype, 'close'],
] as const;

/** Notes what is closed of an agent, in that order, once where it happens twice in a row; `failing` ones then throw. */
function noteClosing(failing: readonly string[] = []): string[] {
  const closed: string[] = [];
  for (const [prototype, method] of parts) {
    const name = `${prototype.constructor.name}.${method}`;
    const original: (...given: unknown[]) => unknown = Reflect.get(prototype, method);
    Reflect.set(prototype, method, function (this: unknown, ...given: unknown[]) {
      if (closed.at(-1) !== name) closed.push(name);
      const result = original.apply(this, given);
      if (failing.includes(name)) throw new Error(`${name} failed`);
      return result;
    });
    onTestFinished(() => void Reflect.set(prototype, method, original));
  }
  return closed;
}

function start(folder: AgentFolder, port = 0) {
  return startAgent({
    directory: folder.path,
    host: '127.0.0.1',
    port,
    noAuth: false,
    inspectPort: null,
    env: {},
    log: silent,
  });
}

function aFolder(): AgentFolder {
  const folder = new AgentFolder({});
  onTestFinished(() => folder.remove());
  return folder;
}

/** Takes a port until the test is over. */
async function takePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** In the order in which they are closed; the last servers are those of the proxy of the scripts. */
const whole = [
  'TaskSystem.drain',
  'Server.close',
  'AuthLog.flush',
  'CardPublisher.stop',
  'PushNotifications.stop',
  'TaskSystem.stop',
  'SqliteStore.close',
  'Server.close',
];

it('an agent closes its parts in reverse order when it is stopped, once', async () => {
  const folder = aFolder();
  const agent = await start(folder);
  const closed = noteClosing();
  await agent.stop();
  await agent.stop();
  expect(closed).toEqual(whole);
});

it('an agent closes every part although some fail, and rejects with the first failure', async () => {
  const folder = aFolder();
  const agent = await start(folder);
  const closed = noteClosing(['TaskSystem.stop', 'AuthLog.flush', 'TaskSystem.drain']);
  await expect(agent.stop()).rejects.toThrow(/^TaskSystem\.drain failed$/);
  expect(closed).toEqual(whole);
  await expect((await start(folder)).stop()).rejects.toThrow(/^TaskSystem\.drain failed$/);
});

it('an agent that cannot start reports the reason, not a later close failure, and frees its folder', async () => {
  const folder = aFolder();
  const taken = await takePort();
  const closed = noteClosing(['TaskSystem.stop', 'AuthLog.flush']);
  await expect(start(folder, taken)).rejects.toThrow(ListenError);
  expect(closed).toEqual(whole.slice(2));
  await expect((await start(folder)).stop()).rejects.toThrow(/^AuthLog\.flush failed$/);
});
