import type { TaskStore } from '../records/records.ts';
import { SystemError, shuttingDown, unrecorded } from '../system-error.ts';
import type { TaskRegistry } from './task-registry.ts';

/** What tells whether work is taken in. */
export interface IntakePorts {
  registry: Pick<TaskRegistry, 'isAccepting' | 'isStarting'>;
  store: Pick<TaskStore, 'isWritable' | 'remedy'>;
}

/** Says what is taken in, and refuses the rest: nothing begins that cannot be recorded or would be stopped at once. */
export class Intake {
  readonly #ports: IntakePorts;

  constructor(ports: IntakePorts) {
    this.#ports = ports;
  }

  /** True when new work is taken in and can be recorded. */
  isReady(): boolean {
    const { registry, store } = this.#ports;
    return registry.isAccepting && store.isWritable();
  }

  /** Throws SystemError unless a run may begin. */
  checkRun(): void {
    this.checkStarted();
    if (!this.#ports.registry.isAccepting) throw shuttingDown();
    this.#checkWritable();
  }

  /** Throws SystemError when no task may be given a message; one that comes too early is refused by `checkStarted`. */
  checkMessage(): void {
    const { registry } = this.#ports;
    if (!registry.isAccepting && !registry.isStarting) throw shuttingDown();
    this.#checkWritable();
  }

  /** Throws SystemError while what a restart interrupted is dealt with. */
  checkStarted(): void {
    if (!this.#ports.registry.isStarting) return;
    throw new SystemError('starting', 'service is starting; try again in a moment');
  }

  #checkWritable(): void {
    const { store } = this.#ports;
    if (!store.isWritable()) throw unrecorded(store);
  }
}
