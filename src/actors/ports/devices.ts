import type { OpenSession } from './web-sessions.ts';

/** A Web Push subscription of a browser; keys are in base64url. */
export interface DeviceSubscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** A device that receives notifications of a person. */
export interface Device {
  /** SHA-256 of its endpoint, in lower-case hex. */
  id: string;
  /** Epoch milliseconds. */
  createdAt: number;
}

/** The devices on which people turned on notifications of the approvals page. */
export interface Devices {
  /** Returns the public VAPID key of the daemons over the store, in base64url; `null` if there are no notifications. */
  publicKey(): Promise<string | null>;
  list(open: OpenSession): Promise<Device[]>;
  /** Stores a device, or binds a known one to this session. The problem of a refusal is one sentence. */
  add(
    open: OpenSession,
    subscription: DeviceSubscription,
  ): Promise<{ kind: 'added'; device: Device } | { kind: 'refused'; problem: string }>;
  /** Removes a device; returns false if the person has no such device. */
  remove(open: OpenSession, id: string): Promise<boolean>;
  /** Removes the devices of a session that ends. */
  endSession(open: OpenSession): Promise<void>;
}
