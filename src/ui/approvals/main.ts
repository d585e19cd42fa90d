import '../dashboard/styles/tokens.css';
import '../dashboard/styles/base.css';
import '../dashboard/styles/controls.css';
import '../dashboard/styles/utilities.css';
import { mount } from 'svelte';
import { fromCallback, fromPromise } from 'xstate';
import { ServerClock } from '../dashboard/state/server-clock.ts';
import { ApprovalsClient } from './approvals-client.ts';
import ApprovalsPage from './approvals-page.svelte';
import { ThisDevice } from './device.ts';
import { followCalls } from './follow-calls.ts';
import { notificationsMachine } from './notifications-machine.ts';
import { type PageEvent, pageMachine } from './page-machine.ts';
import { passkeysMachine } from './passkeys-machine.ts';
import { registerWorker } from './register-worker.ts';

const clock = new ServerClock();
const client = new ApprovalsClient((at) => clock.heard(at));
// A page without a worker is complete; it cannot be installed.
const device = new ThisDevice(
  client,
  registerWorker().catch(() => null),
);
const machine = pageMachine.provide({
  actors: {
    readSession: fromPromise(() => client.session()),
    follow: fromCallback<PageEvent>(({ sendBack }) => followCalls(client, sendBack)),
    signOut: fromPromise(async () => {
      const to = await client.signOut();
      await device.forget();
      return to;
    }),
  },
  actions: {
    leave: (_, { to }) => {
      if (to !== null) location.assign(to);
    },
  },
});
const keysMachine = passkeysMachine.provide({
  actors: {
    read: fromPromise(() => client.passkeys()),
    add: fromPromise(({ input: { name } }) => client.addPasskey(name)),
    remove: fromPromise(({ input: { id } }) => client.removePasskey(id)),
  },
});
const notesMachine = notificationsMachine.provide({
  actors: {
    read: fromPromise(() => device.read()),
    turnOn: fromPromise(() => device.turnOn()),
    turnOff: fromPromise(() => device.turnOff()),
  },
});
const target = document.querySelector('#app');
if (target === null) throw new Error('index.html has no element #app');
mount(ApprovalsPage, { target, props: { machine, keysMachine, notesMachine, client, clock } });
