import { hash } from 'node:crypto';
import { type ActorRefFrom, createActor, fromPromise } from 'xstate';
import type { Caller, Task } from '../../../machines/domain/task.ts';
import {
  type DevicePushOutcome,
  devicePushMachine,
} from '../../../machines/push/device-push-machine.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Device, DeviceSubscription, Devices } from '../../ports/devices.ts';
import type { Outbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import type { WebRecord, WebRecords } from '../../ports/web-records.ts';
import type { OpenSession } from '../../ports/web-sessions.ts';
import { sessionDigest, webOwner } from '../../web-owner.ts';
import { PostTurns } from './post-turns.ts';
import { pushServiceFault } from './push-service.ts';
import { type VapidKey, vapidKey } from './vapid-key.ts';

/** What a person may do now. */
export interface PersonRights {
  /** Reads again who belongs to the groups that others keep. Never rejects. */
  refresh(): Promise<void>;
  /** Returns true if a person is listed to decide the pending call of a task. */
  mayDecide(task: Task, person: Caller): boolean;
  /** Counts the calls that wait for a person. */
  waiting(person: Caller): Promise<number>;
}

export interface PageDevicesOptions {
  /** Origin of the approvals page. */
  origin: string;
  /** Hosts of push services, as in `approvals.push_services`. */
  services: readonly string[];
  records: WebRecords;
  /** Returns the random key of a purpose, which all daemons over the store share. */
  key: (purpose: string) => Promise<Buffer>;
  rights: PersonRights;
  egress: Outbound;
  clock: Clock;
  log: Log;
}

/** What is stored of a device. */
interface StoredDevice extends DeviceSubscription {
  createdAt: number;
  /** Digest of the session that turned the notifications on, or used the page on the device last. */
  session: string;
  caller: Caller;
  /** Epoch milliseconds until which the groups and claims of the sign-in count. */
  groupsUntil: number;
}

/** Time after the last use of the page on a device until its notifications end, in milliseconds. */
const lifetime = 30 * 86_400_000;

const mostDevices = 10;

/** Timeout of a push service, in milliseconds. */
const patience = 10_000;

/** Seconds for which a push service keeps a push for a device that is offline. */
const timeToLive = 3_600;

/** Sends people the number of calls that wait for them, on devices where they turned notifications on. */
export class PageDevices implements Devices {
  readonly #options: PageDevicesOptions;
  readonly #pushes = new Map<string, ActorRefFrom<typeof devicePushMachine>>();
  readonly #turns = new PostTurns();
  readonly #stopped = new AbortController();
  #key: Promise<VapidKey> | null = null;

  constructor(options: PageDevicesOptions) {
    this.#options = options;
  }

  async publicKey(): Promise<string | null> {
    if (this.#options.services.length === 0) return null;
    return (await this.#vapid()).publicKey;
  }

  async list(open: OpenSession): Promise<Device[]> {
    const found = await this.#options.records.list('device', webOwner(open));
    return found.filter((one) => this.#isLive(one)).map(shownOf);
  }

  async add(open: OpenSession, { endpoint, keys }: DeviceSubscription): ReturnType<Devices['add']> {
    const { records, services, clock } = this.#options;
    const problem = pushServiceFault(endpoint, services) ?? keyFault(keys);
    if (problem !== null) return { kind: 'refused', problem };
    const id = hash('sha256', endpoint, 'hex');
    const others = (await this.list(open)).filter((one) => one.id !== id);
    if (others.length >= mostDevices) {
      const full = `${mostDevices} devices receive your notifications; turn them off on one first`;
      return { kind: 'refused', problem: full };
    }
    const now = clock.now();
    const { caller, expiresAt } = open.session;
    const stored: StoredDevice = {
      ...{ endpoint, keys, createdAt: now, session: sessionDigest(open) },
      ...{ caller, groupsUntil: expiresAt },
    };
    const owner = webOwner(open);
    const value = { ...stored } as unknown as WebRecord['value'];
    const record: WebRecord = { kind: 'device', id, owner, expiresAt: now + lifetime, value };
    // The browser may have been of another person, who has not signed out. Only this browser knows its endpoint.
    if (!(await records.put(record, now))) {
      await records.take('device', id);
      await records.put(record, now);
    }
    return { kind: 'added', device: { id, createdAt: now } };
  }

  async remove(open: OpenSession, id: string): Promise<boolean> {
    const { records } = this.#options;
    const found = await records.find('device', id);
    if (found === undefined || found.owner !== webOwner(open)) return false;
    await records.take('device', id);
    return true;
  }

  async endSession(open: OpenSession): Promise<void> {
    const { records } = this.#options;
    const session = sessionDigest(open);
    for (const found of await records.list('device', webOwner(open))) {
      if (found.value['session'] === session) await records.take('device', found.id);
    }
  }

  /** Pushes to the people for whom a call begins to wait with a change that this daemon committed. */
  changed(task: Task, before: Task | null): void {
    const { deferral } = task;
    if (deferral === null || deferral.id === before?.deferral?.id) return;
    if (this.#stopped.signal.aborted) return;
    this.#began(task).catch((error: unknown) => {
      const { log } = this.#options;
      log.error({ error, task_id: task.id }, 'approvals: notifications of a call failed');
    });
  }

  /** Stops every push. */
  stop(): void {
    this.#stopped.abort();
    for (const push of this.#pushes.values()) push.stop();
    this.#pushes.clear();
  }

  async #began(task: Task): Promise<void> {
    const { records, rights } = this.#options;
    const devices = (await records.list('device')).filter((one) => this.#isLive(one));
    if (devices.length === 0) return;
    await rights.refresh();
    for (const device of devices) {
      if (rights.mayDecide(task, this.#personOf(device))) this.#push(device.id);
    }
  }

  #push(id: string): void {
    const running = this.#pushes.get(id);
    if (running !== undefined) return running.send({ type: 'call.waits' });
    if (this.#stopped.signal.aborted) return;
    const { clock, log } = this.#options;
    const logic = devicePushMachine.provide({
      actors: { post: fromPromise(({ signal }) => this.#post(id, signal)) },
      actions: {
        noteGivenUp: (_, { error }) =>
          log.warn({ error: String(error) }, 'approvals: a notification was given up'),
      },
    });
    const push = createActor(logic, { clock });
    this.#pushes.set(id, push);
    push.subscribe({
      complete: () => void this.#pushes.delete(id),
      error: (error) => {
        this.#pushes.delete(id);
        log.error({ error }, 'approvals: notifications of a device failed');
      },
    });
    push.start();
  }

  async #post(id: string, signal: AbortSignal): Promise<DevicePushOutcome> {
    const { records, rights, egress } = this.#options;
    const found = await records.find('device', id);
    if (found === undefined || !this.#isLive(found)) return 'gone';
    const waiting = await rights.waiting(this.#personOf(found));
    if (waiting === 0) return 'sent';
    const { endpoint, keys } = storedOf(found);
    const url = new URL(endpoint);
    const { headers, body } = await this.#request({ endpoint, keys }, waiting);
    const { hostname: host, protocol, port } = url;
    if (protocol === 'https:') {
      const source = 'approvals.push_services (discovered)';
      egress.discovered?.({ host, port: Number(port === '' ? 443 : port), source });
    }
    return this.#turns.take(url.host, signal, async () => {
      const response = await egress.fetch(endpoint, {
        ...{ method: 'POST', redirect: 'manual', headers, body },
        signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
      });
      await response.body?.cancel();
      if (response.status === 404 || response.status === 410) {
        await records.take('device', id);
        return 'gone';
      }
      if (!response.ok) throw new Error(`the push service answered ${response.status}`);
      return 'sent';
    });
  }

  /** Builds the request with an encrypted payload (RFC 8291), which has the number alone. */
  async #request(
    subscription: DeviceSubscription,
    waiting: number,
  ): Promise<{ headers: Record<string, string>; body: Uint8Array<ArrayBuffer> }> {
    const { default: webPush } = await import('web-push');
    const { origin } = this.#options;
    const { protocol, hostname } = new URL(origin);
    const subject = protocol === 'https:' ? origin : `mailto:approvals@${hostname}`;
    const details = webPush.generateRequestDetails(subscription, JSON.stringify({ waiting }), {
      vapidDetails: { subject, ...(await this.#vapid()) },
      ...{ TTL: timeToLive, urgency: 'high', topic: 'waiting', contentEncoding: 'aes128gcm' },
    });
    // The client of the egress computes the length.
    const { 'Content-Length': _, ...others } = details.headers as Record<string, unknown>;
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(others)) headers[name] = String(value);
    return { headers, body: new Uint8Array(details.body) };
  }

  #vapid(): Promise<VapidKey> {
    this.#key ??= this.#options.key('web-push').then(vapidKey, (error: unknown) => {
      this.#key = null;
      throw error;
    });
    return this.#key;
  }

  /** The push services of the settings may have changed since a device was added. */
  #isLive(record: WebRecord): boolean {
    const { services, clock } = this.#options;
    const { expiresAt } = record;
    const isOver = expiresAt === null || expiresAt <= clock.now();
    return !isOver && pushServiceFault(storedOf(record).endpoint, services) === null;
  }

  /** Groups and claims of a token count until its session ends, as on the page. */
  #personOf(record: WebRecord): Caller {
    const { caller, groupsUntil } = storedOf(record);
    if (groupsUntil > this.#options.clock.now()) return caller;
    const { provider, userId, orgId, email } = caller;
    return {
      ...{ provider, userId },
      ...(orgId === undefined ? {} : { orgId }),
      ...(email === undefined ? {} : { email }),
    };
  }
}

function storedOf({ value }: WebRecord): StoredDevice {
  // Safe to cast: `add` wrote the value.
  return value as unknown as StoredDevice;
}

function shownOf(record: WebRecord): Device {
  return { id: record.id, createdAt: storedOf(record).createdAt };
}

/** A browser sends an uncompressed point of P-256 and 16 random bytes. */
function keyFault({ p256dh, auth }: DeviceSubscription['keys']): string | null {
  const [point, secret] = [p256dh, auth].map((text) => Buffer.from(text, 'base64url'));
  if (point?.length === 65 && point[0] === 4 && secret?.length === 16) return null;
  return 'the keys of the subscription must be those of a browser; turn the notifications on again';
}
