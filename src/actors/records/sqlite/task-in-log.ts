import type { JsonObject } from '../../../machines/json.ts';
import type { AuditEvent } from '../../ports.ts';

/** A call that waits for a decision. */
export interface WaitingCall {
  tool: string;
  /** Epoch milliseconds. */
  since: number;
}

/** A call that has started. */
export interface StartedCall extends WaitingCall {
  /** Bytes of its arguments. */
  argsSize: number;
}

/** What of a line says whose it is; its place in a trace is its own. */
const envelopeKeys = [
  'correlation_id',
  'task_id',
  'workflow_id',
  'workflow_execution_id',
  'stage_id',
  'step_id',
  'invocation_caller',
  'org_id',
  'workspace_id',
  'entity_id',
  'entity_type',
] as const;

/** A task as its lines in the log tell it, taken in one after the other. */
export class TaskInLog {
  readonly id: string;
  /** The number of its last event. */
  seq = 0;
  /** When it was first heard of, in epoch milliseconds. */
  since = 0;
  /** A run of it has begun and has not ended. */
  isUnderWay = false;
  waiting: WaitingCall | null = null;
  started: StartedCall | null = null;
  /** The keys that say whose its lines are. */
  envelope: Partial<AuditEvent> = {};

  constructor(id: string) {
    this.id = id;
    this.envelope = { task_id: id };
  }

  /** Takes in the next line that names the task. */
  take(line: JsonObject): void {
    const { event, seq } = line;
    // Only what a run says of itself is numbered.
    if (typeof seq !== 'number' || typeof event !== 'string') return;
    const at = timeOf(line);
    if (this.since === 0) this.since = at;
    this.seq = seq;
    this.envelope = envelopeOf(line);
    this.isUnderWay = event !== 'session_end';
    this.#follow(event, (line['fields'] ?? {}) as JsonObject, at);
  }

  #follow(event: string, fields: JsonObject, at: number): void {
    const { tool: named } = fields;
    const tool = typeof named === 'string' ? named : '';
    switch (event) {
      case 'task_deferred':
        this.waiting = { tool, since: at };
        return;
      case 'task_deferred_decision': {
        // An approval may be one of several; what comes after it tells.
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
        this.started = hasStarted ? { tool, since: at, argsSize } : null;
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

/** The id of the task that a line names; `null` when it names none. */
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
