/** A receiver of push notifications for one task (docs/contract/a2a.md). */
export interface PushTarget {
  taskId: string;
  /** Unique within the task. */
  id: string;
  url: string;
  /** Token by which the receiver recognises notifications; empty for none. */
  token: string;
  /** Credentials for the receiver; `null` if it needs none. */
  authentication: { scheme: string; credentials: string } | null;
  /** A2A version in which the receiver was set, and of its notifications. */
  version: string;
}

/** An invalid receiver of push notifications; the message gives the reason. */
export class PushTargetError extends Error {
  readonly code = 'push_target_refused';
}

/** Push notification receivers of tasks. */
export interface PushTargets {
  /** Stores a receiver; replaces one with the same id. Rejects with PushTargetError. */
  set(target: PushTarget): Promise<PushTarget>;
  find(taskId: string, id: string): Promise<PushTarget | undefined>;
  /** Returns the receivers of a task, sorted by id. */
  list(taskId: string): Promise<PushTarget[]>;
  /** Deletes a receiver; returns whether it existed. */
  delete(taskId: string, id: string): Promise<boolean>;
}

/** A push notification in wire format. */
export interface PushNotification {
  body: string;
  contentType: string;
}
