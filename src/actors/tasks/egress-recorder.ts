import type { AuditEvent } from '../ports/audit-event.ts';
import type { Clock } from '../ports/clock.ts';
import type { EgressRecord } from '../ports/egress.ts';
import type { Log } from '../ports/log.ts';
import { type AgentEntity, egressWords, type TaskStore } from '../records/records.ts';
import { shuttingDown } from '../system-error.ts';
import type { LiveTasks } from './live-tasks.ts';

export interface EgressRecorderPorts {
  tasks: Pick<LiveTasks, 'noteEgress'>;
  store: Pick<TaskStore, 'record'>;
  envelope: AgentEntity;
  clock: Clock;
  log: Log;
}

/** Records rulings of the egress policy, either with their task or as events of their own (docs/contract/egress.md). */
export class EgressRecorder {
  readonly #ports: EgressRecorderPorts;
  #isStopped = false;

  constructor(ports: EgressRecorderPorts) {
    this.#ports = ports;
  }

  /**
   * Records a ruling on one hop, with its task while that is running. After the system has stopped, the daemon's own
   * final requests may remain unrecorded; throws SystemError for all others.
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

  /** Stops recording. */
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
