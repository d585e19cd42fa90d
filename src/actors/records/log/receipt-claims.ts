import { eventOfWait } from '../../../machines/domain/hold-events.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';

/** A parsed line of the log with the SHA-256 of its bytes. */
export interface HashedLine {
  line: JsonObject;
  sha256: string;
}

/** The digests of a decision that changed the arguments. */
const editedNames = ['args_sha256', 'edited_args_sha256'];

/** Version of the claims; a reader refuses any other. */
export const receiptVersion = 2;

/**
 * Builds the claims of a receipt from the lines of its task, oldest first (docs/audit-log.md). The lines that the claims
 * cite give the same claims again. Returns `unknown` if no line names the call, and `underWay` if the call has not ended.
 */
export function receiptClaims(
  lines: readonly HashedLine[],
  callId: string,
): JsonObject | 'unknown' | 'underWay' {
  const own = lines.filter(({ line }) => fieldsOf(line)['call_id'] === callId);
  const [first] = own;
  const last = own.at(-1);
  if (first === undefined || last === undefined) return 'unknown';
  const begin = lines
    .slice(0, lines.indexOf(first))
    .findLast(({ line }) => line['event'] === 'session_start');
  const story = new CallLines(own);
  const later = story.hasEnded ? [] : lines.slice(lines.indexOf(last) + 1);
  const heldAgain = later.find(({ line }) => isEditOf(line, callId));
  const over = heldAgain ?? later.find(({ line }) => line['event'] === 'session_end');
  if (!story.hasEnded && over === undefined) return 'underWay';
  const cited = [begin, ...own, over].filter((one) => one !== undefined);
  return {
    version: receiptVersion,
    ...named(first.line, { agent: 'entity_id' }),
    ...picked(first.line, ['task_id', 'correlation_id']),
    ...story.claims(callId),
    ...(heldAgain === undefined
      ? {}
      : named(fieldsOf(heldAgain.line), { held_again_as: 'call_id' })),
    ...(begin === undefined ? {} : requesterOf(begin.line)),
    lines: cited.map(({ line, sha256 }) => ({ ...picked(line, ['seq', 'event']), sha256 })),
  };
}

/** The lines of one call by event. */
class CallLines {
  readonly #lines: readonly JsonObject[];

  constructor(own: readonly HashedLine[]) {
    this.#lines = own.map(({ line }) => line);
  }

  /** True if no later line of the call can follow. */
  get hasEnded(): boolean {
    const ruling = this.#of('call_ruled').at(-1);
    const { decision } = fieldsOf(ruling ?? {});
    return (
      this.#run('end') !== undefined ||
      this.#end() !== undefined ||
      this.#waitEnd() !== undefined ||
      decision === 'deny' ||
      decision === 'step_up' ||
      this.#of('task_deferred_decision').some(
        (line) => fieldsOf(line)['decision'] === 'reject' && fieldsOf(line)['authorized'] !== false,
      )
    );
  }

  claims(callId: string): JsonObject {
    const digests = ['deferral_id', 'args_sha256', 'runs_sha256'] as const;
    const all = this.#lines.flatMap((line) => Object.entries(picked(fieldsOf(line), digests)));
    const waitEnd = this.#waitEnd();
    return {
      call_id: callId,
      ...Object.fromEntries(all),
      asked: this.#asked(),
      rulings: this.#of('call_ruled').map((line) =>
        told(line, ['decision', 'layer', 'rule', 'reason', 'policy_sha256']),
      ),
      decisions: this.#of('task_deferred_decision').map((line) =>
        told(line, [
          ...(['edited_args_sha256', 'passkey'].some((name) => name in fieldsOf(line))
            ? editedNames
            : []),
          ...['decision', 'approver', 'for', 'as', 'note', 'method', 'vouched_by', 'provider'],
          ...['user_id', 'source', 'authorized', 'policy_sha256', 'passkey'],
        ]),
      ),
      ...this.#grant(),
      ...this.#limits(),
      ...(waitEnd === undefined
        ? {}
        : { wait_ended: { event: waitEnd['event'] ?? '', ...told(waitEnd, ['reason']) } }),
      ran: this.#ran(),
    };
  }

  /** The earlier approval that released the call. */
  #grant(): JsonObject {
    const [used] = this.#of('grant_used');
    return used === undefined ? {} : { grant: told(used, ['grant_id', 'approver', 'for']) };
  }

  /** The limits that the call counts for, and the statement of a person on its outcome. */
  #limits(): JsonObject {
    const reserved = this.#of('limit_reserved').at(-1);
    const settled = this.#of('limit_settled').at(-1);
    return {
      ...(reserved === undefined ? {} : picked(fieldsOf(reserved), ['limits', 'over'])),
      ...(settled === undefined
        ? {}
        : { settled: told(settled, ['ran', 'by', 'reason', 'method', 'vouched_by']) }),
    };
  }

  #asked(): JsonObject {
    const [first] = this.#lines;
    const [held] = this.#of('task_deferred');
    const start = this.#run('start');
    return {
      ...picked(fieldsOf(first ?? {}), ['tool']),
      ...picked(fieldsOf(start ?? held ?? {}), ['args']),
      ...(held === undefined
        ? {}
        : picked(fieldsOf(held), ['to', 'context', 'approvers', 'timeout_ms', 'edited_from'])),
      ...named(held ?? first ?? {}, { at: 'ts' }),
    };
  }

  #ran(): JsonObject | null {
    const start = this.#run('start');
    if (start === undefined) return this.#ranElsewhere();
    const end = this.#run('end');
    const ended = end === undefined ? {} : fieldsOf(end);
    return {
      ...named(start, { started_at: 'ts' }),
      ...picked(fieldsOf(start), ['policy_sha256']),
      ...(end === undefined ? {} : named(end, { ended_at: 'ts' })),
      ...picked(ended, ['duration_ms', 'result_size', 'result_sha256', 'error']),
      outcome: ended['outcome'] ?? 'unknown',
    };
  }

  /** The program that ran the call reported its end, or did not in time. */
  #ranElsewhere(): JsonObject | null {
    const [start] = [...this.#of('hold_released'), ...this.#of('call_ruled')];
    const end = this.#end();
    if (start === undefined || end === undefined) return null;
    const { status } = fieldsOf(end);
    return {
      ...named(start, { started_at: 'ts' }),
      ...picked(fieldsOf(start), ['policy_sha256']),
      ...named(end, { ended_at: 'ts' }),
      ...picked(fieldsOf(end), ['result_sha256', 'error']),
      outcome: status ?? 'unknown',
    };
  }

  /** A late outcome replaces the end of the time for it. */
  #end(): JsonObject | undefined {
    return [...this.#of('hold_unaccounted'), ...this.#of('hold_outcome')].at(-1);
  }

  #of(event: string): JsonObject[] {
    return this.#lines.filter((line) => eventOfWait(line['event']) === event);
  }

  /** A call that a restart repeats starts once and ends once. */
  #run(phase: 'start' | 'end'): JsonObject | undefined {
    return this.#of('tool_exec').findLast((line) => fieldsOf(line)['phase'] === phase);
  }

  #waitEnd(): JsonObject | undefined {
    const ends = ['task_deferred_timeout', 'task_deferred_abandoned', 'hold_withdrawn'];
    return ends.flatMap((event) => this.#of(event)).at(-1);
  }
}

/** Returns whether a line holds a call anew because an approver changed the arguments of this one. */
function isEditOf(line: JsonObject, callId: string): boolean {
  const { edited_from: from } = fieldsOf(line);
  return isJsonObject(from) && from['call_id'] === callId;
}

function requesterOf(begin: JsonObject): JsonObject {
  const requester = picked(fieldsOf(begin), ['user_id', 'email', 'provider', 'org_id']);
  return Object.keys(requester).length === 0 ? {} : { requester };
}

/** Returns fields of an event with its time. */
function told(line: JsonObject, names: readonly string[]): JsonObject {
  return { ...picked(fieldsOf(line), names), ...named(line, { at: 'ts' }) };
}

/** Returns the fields of a line; none for a line without them. */
export function fieldsOf(line: JsonObject): JsonObject {
  const { fields } = line;
  return isJsonObject(fields) ? fields : {};
}

function picked(object: JsonObject, names: readonly string[]): JsonObject {
  return named(object, Object.fromEntries(names.map((name) => [name, name])));
}

/** Returns members of an object under other names, without absent ones. */
function named(object: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const present: [string, JsonValue][] = [];
  for (const [name, source] of Object.entries(names)) {
    const value = object[source];
    if (value !== undefined) present.push([name, value]);
  }
  return Object.fromEntries(present);
}
