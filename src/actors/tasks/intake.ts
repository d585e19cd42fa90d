import type { TaskStore } from '../records/records.ts';
import { SystemError, shuttingDown, unrecorded } from '../system-error.ts';
import type { TaskRegistry } from './task-registry.ts';

export interface IntakePorts {
  registry: Pick<TaskRegistry, 'isAccepting' | 'isStarting'>;
  store: Pick<TaskStore, 'isWritable' | 'remedy'>;
}

/** Decides whether new work is accepted: nothing starts that cannot be recorded or would be stopped at once. */
export class Intake {
  readonly #ports: IntakePorts;

  constructor(ports: IntakePorts) {
    this.#ports = ports;
  }

  /** True if new work is accepted and can be recorded. */
  isReady(): boolean {
    const { registry, store } = this.#ports;
    return registry.isAccepting && store.isWritable();
  }

  /** Throws SystemError unless a run may start. */
  checkRun(): void {
    this.checkStarted();
    if (!this.#ports.registry.isAccepting) throw shuttingDown();
    this.#checkWritable();
  }

  /** Throws SystemError if no task may receive a message; `checkStarted` refuses messages that come too early. */
  checkMessage(): void {
    const { registry } = this.#ports;
    if (!registry.isAccepting && !registry.isStarting) throw shuttingDown();
    this.#checkWritable();
  }

  /** Throws SystemError until recovery after a restart is complete. */
  checkStarted(): void {
    if (!this.#ports.registry.isStarting) return;
    throw new SystemError('starting', 'service is starting; try again in a moment');
  }

  #checkWritable(): void {
    const { store } = this.#ports;
    if (!store.isWritable()) throw unrecorded(store);
  }
}
