import type { AuditEvent, Clock, EgressRecord, Log } from '../ports.ts';
import { type AgentEntity, egressWords, type TaskStore } from '../records/records.ts';
import { shuttingDown } from '../system-error.ts';
import type { LiveTasks } from './live-tasks.ts';

/** What recording egress needs. */
export interface EgressRecorderPorts {
  tasks: Pick<LiveTasks, 'noteEgress'>;
  store: Pick<TaskStore, 'record'>;
  envelope: AgentEntity;
  clock: Clock;
  log: Log;
}

/**
 * Records what the egress policy rules, in the words of the task that it was for or on its own
 * (docs/contract/egress.md).
 */
export class EgressRecorder {
  readonly #ports: EgressRecorderPorts;
  #isStopped = false;

  constructor(ports: EgressRecorderPorts) {
    this.#ports = ports;
  }

  /**
   * Records what the egress policy ruled on one hop, with the task it was for while that is at work. Once the
   * system has stopped, only the daemon's own last words may go out unrecorded. Throws SystemError for others.
   */
  record(hop: EgressRecord): void {
    if (this.#isStopped) {
      if (hop.scope !== null && hop.scope.taskId !== null) throw shuttingDown();
      return;
    }
    const { tasks, store, log } = this.#ports;
    if (tasks.noteEgress(hop)) return;
    store.record([this.#eventOf(hop)]).catch((error: unknown) => {
      log.error({ error }, 'egress: an event could not be recorded');
    });
  }

  /** Records nothing any more. */
  stop(): void {
    this.#isStopped = true;
  }

  #eventOf(hop: EgressRecord): AuditEvent {
    const { scope } = hop;
    const { envelope, clock } = this.#ports;
    const [event, fields] = egressWords(hop);
    return {
      ...envelope,
      ...scope?.tags,
      ts: new Date(clock.now()).toISOString(),
      ...(scope?.taskId && { task_id: scope.taskId }),
      ...(scope?.correlationId && { correlation_id: scope.correlationId }),
      event,
      fields,
    };
  }
}
