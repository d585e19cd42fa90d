import type { DeviceListJson } from '../../http/wire/approvals-page.ts';
import type { ApprovalsClient } from './approvals-client.ts';
import type { NotificationsState } from './notifications-machine.ts';

/** The notifications of this device. */
export class ThisDevice {
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

  /** Ends the subscription of the browser; the daemon ends its own with the session. Never rejects. */
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
