import '../dashboard/styles/tokens.css';
import '../dashboard/styles/base.css';
import '../dashboard/styles/controls.css';
import '../dashboard/styles/utilities.css';
import { mount } from 'svelte';
import { fromCallback, fromPromise } from 'xstate';
import type { DeviceListJson } from '../../http/wire/approvals-page.ts';
import { ServerClock } from '../dashboard/state/server-clock.ts';
import { ApprovalsClient } from './approvals-client.ts';
import ApprovalsPage from './approvals-page.svelte';
import { followCalls } from './follow-calls.ts';
import { type NotificationsState, notificationsMachine } from './notifications-machine.ts';
import { type PageEvent, pageMachine } from './page-machine.ts';
import { passkeysMachine } from './passkeys-machine.ts';

/** The notifications of this device. */
class ThisDevice {
  readonly #client: ApprovalsClient;
  readonly #registered: Promise<ServiceWorkerRegistration | null>;

  constructor(client: ApprovalsClient, registered: Promise<ServiceWorkerRegistration | null>) {
    this.#client = client;
    this.#registered = registered;
  }

  /** Returns whether the person receives notifications here, and keeps them for the present session. */
  async read(): Promise<NotificationsState> {
    const manager = await this.#manager();
    if (manager === null) return null;
    const { devices, public_key } = await this.#client.devices();
    if (public_key === null) return null;
    const subscription = await manager.getSubscription();
    if (subscription === null || !includes(devices, await idOf(subscription))) return 'off';
    await this.#client.addDevice(subscription.toJSON());
    return 'on';
  }

  /** Asks for permission and subscribes. Rejects with an error whose message is a sentence. */
  async turnOn(): Promise<void> {
    if ((await Notification.requestPermission()) !== 'granted') {
      throw new Error('Allow notifications of this page in the settings of the browser.');
    }
    const manager = await this.#manager();
    // Only an active worker can subscribe.
    if (manager !== null) await navigator.serviceWorker.ready;
    const { public_key: applicationServerKey } = await this.#client.devices();
    const subscription = await manager
      ?.subscribe({ userVisibleOnly: true, applicationServerKey })
      .catch(() => null);
    if (!subscription) throw new Error('The push service of this browser is not available.');
    await this.#client.addDevice(subscription.toJSON());
  }

  /** Ends the notifications. Rejects with ApiError. */
  async turnOff(): Promise<void> {
    const subscription = await (await this.#manager())?.getSubscription();
    if (!subscription) return;
    await this.#client.removeDevice(await idOf(subscription));
    await subscription.unsubscribe();
  }

  /** Ends the subscription of the browser; the daemon removes its own with the session. Never rejects. */
  async forget(): Promise<void> {
    const subscription = await (await this.#manager())?.getSubscription().catch(() => null);
    await subscription?.unsubscribe().catch(() => false);
  }

  async #manager(): Promise<PushManager | null> {
    const registration = await this.#registered;
    if (registration === null || !('Notification' in globalThis)) return null;
    return (registration as { pushManager?: PushManager }).pushManager ?? null;
  }
}

function includes(devices: DeviceListJson['devices'], id: string): boolean {
  return devices.some((one) => one.id === id);
}

/** Returns the id of a subscription at the daemon: the SHA-256 of its endpoint, in hex. */
async function idOf({ endpoint }: PushSubscription): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(endpoint));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The parts of Trusted Types that are used. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/**
 * Registers the service worker of the page, which makes it installable. Returns `null` in a browser without service
 * workers.
 */
async function registerWorker(): Promise<ServiceWorkerRegistration | null> {
  if (!('serviceWorker' in navigator)) return null;
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  // The policy of the page accepts a script address only from a named maker; this one makes a single address.
  const maker = trustedTypes?.createPolicy('worker', { createScriptURL: () => address });
  const url = maker?.createScriptURL('') ?? address;
  return navigator.serviceWorker.register(url, { updateViaCache: 'none' });
}

const address = './service-worker.js';

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
