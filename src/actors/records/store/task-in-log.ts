import type { CallMark } from '../../../machines/domain/facts.ts';
import { eventOfWait } from '../../../machines/domain/hold-events.ts';
import type { JsonObject } from '../../../machines/json.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';

/** A call that waits for a decision. */
export interface WaitingCall {
  call: CallMark;
  /** Digest of the policy in the line of the call; absent for a call from the store. */
  policySha256?: string;
  tool: string;
  /** Epoch milliseconds. */
  since: number;
  /** True if another program runs the call. */
  isHold?: true;
}

/** A call that has started. */
export interface StartedCall extends WaitingCall {
  /** Size of its arguments, in bytes. */
  argsSize: number;
}

/** Envelope keys that identify a line's task and owner, without trace ids. */
const envelopeKeys = [
  'correlation_id',
  'task_id',
  'workflow_id',
  'workflow_execution_id',
  'stage_id',
  'step_id',
  'invocation_caller',
  'invocation_depth',
  'org_id',
  'workspace_id',
  'entity_id',
  'entity_type',
] as const;

/** Events of a hold after its run. */
const afterRun = new Set(['hold_released', 'hold_outcome', 'hold_unaccounted', 'hold_withdrawn']);

/** Returns whether a line is of a hold whose call may have been received by its program. */
export function isOfReceivedHold({ event }: JsonObject): boolean {
  return typeof event === 'string' && afterRun.has(event);
}

/** State of a task, reconstructed from its log lines one by one. */
export class TaskInLog {
  readonly id: string;
  /** Number of its last event. */
  seq = 0;
  /** Time of its first event, in epoch milliseconds. */
  since = 0;
  /** True if a run has started and not ended. */
  isUnderWay = false;
  waiting: WaitingCall | null = null;
  started: StartedCall | null = null;
  /** Envelope keys that identify the owner. */
  envelope: Partial<AuditEvent> = {};

  constructor(id: string) {
    this.id = id;
    this.envelope = { task_id: id };
  }

  /** Processes the next line of the task. */
  take(line: JsonObject): void {
    const { event, seq } = line;
    // Only events of a run have a number.
    if (typeof seq !== 'number' || typeof event !== 'string') return;
    const at = timeOf(line);
    if (this.since === 0) this.since = at;
    this.seq = seq;
    this.envelope = envelopeOf(line);
    // The run of a hold has ended when its call is released.
    if (!afterRun.has(event)) this.isUnderWay = event !== 'session_end';
    this.#follow(event, (line['fields'] ?? {}) as JsonObject, at);
  }

  #follow(event: string, fields: JsonObject, at: number): void {
    const { tool: named } = fields;
    const tool = typeof named === 'string' ? named : '';
    const own = eventOfWait(event);
    switch (own) {
      case 'task_deferred': {
        const ofHold = own === event ? {} : ({ isHold: true } as const);
        this.waiting = { ...namedIn(fields), tool, since: at, ...ofHold };
        return;
      }
      case 'task_deferred_decision': {
        // One of several approvals may not end the wait; later events show that.
        const isRefused = fields['authorized'] === false;
        if (!isRefused && fields['decision'] !== 'approve') this.waiting = null;
        return;
      }
      case 'message_received':
      case 'task_deferred_repeated':
      case 'task_deferred_reminder':
      case 'task_deferred_escalated':
      case 'egress_allowed':
      case 'egress_blocked':
        return;
      case 'tool_exec': {
        const hasStarted = fields['phase'] === 'start';
        const argsSize = Number(fields['args_size'] ?? 0);
        this.started = hasStarted ? { ...namedIn(fields), tool, since: at, argsSize } : null;
        this.waiting = null;
        return;
      }
      case 'session_start':
      case 'session_end':
        this.started = null;
        this.waiting = null;
        return;
      default:
        this.waiting = null;
    }
  }
}

function namedIn(fields: JsonObject): Pick<WaitingCall, 'call' | 'policySha256'> {
  const text = <Name extends string>(name: Name, value: unknown) =>
    (typeof value === 'string' ? { [name]: value } : {}) as { [Key in Name]?: string };
  return {
    call: {
      ...text('callId', fields['call_id']),
      ...text('deferralId', fields['deferral_id']),
      ...text('argsSha256', fields['args_sha256']),
      ...text('runsSha256', fields['runs_sha256']),
    },
    ...text('policySha256', fields['policy_sha256']),
  };
}

/** Returns the task id of a line; `null` if it names none. */
export function taskOfLine(line: JsonObject): string | null {
  const id = line['task_id'];
  return typeof id === 'string' && id !== '' ? id : null;
}

function envelopeOf(line: JsonObject): Partial<AuditEvent> {
  const present = envelopeKeys.filter((key) => typeof line[key] === 'string');
  return Object.fromEntries(present.map((key) => [key, line[key]]));
}

function timeOf(line: JsonObject): number {
  const { ts } = line;
  const at = typeof ts === 'string' ? Date.parse(ts) : 0;
  return Number.isNaN(at) ? 0 : at;
}
