import type { RanCall } from '../../../machines/domain/task.ts';
import { isJsonObject, type JsonValue } from '../../../machines/json.ts';
import { normalName } from '../../tool-name.ts';

/** The calls of a session, as conditions read them. A method throws if it has no answer. */
export class History {
  readonly #ran: readonly RanCall[];
  /** Names of the output rules that matched a result of the session. */
  readonly labels: readonly string[];

  constructor(ran: readonly RanCall[]) {
    this.#ran = ran;
    this.labels = [...new Set(ran.flatMap(({ labels = [] }) => labels))];
  }

  /** Counts the calls of a tool that started; a failed one may have had an effect. */
  count(tool: string): number {
    return this.#of(tool).length;
  }

  /** Adds up a number in the arguments of the calls of a tool; `path` has dots. */
  sum(tool: string, path: string): number {
    return this.#of(tool).reduce((sum, call) => {
      const value = path
        .split('.')
        .reduce<JsonValue | undefined>(memberOf, JSON.parse(call.args) as JsonValue);
      if (typeof value !== 'number') throw new TypeError(`no number at ${path}`);
      return sum + value;
    }, 0);
  }

  /** Returns the newest call of a tool. Throws if there is none. */
  last(tool: string): object {
    const call = this.#of(tool).at(-1);
    if (call === undefined) throw new RangeError(`no call of ${tool}`);
    const { callId, args, outcome, at, approver } = call;
    return {
      call_id: callId,
      tool: call.tool,
      outcome,
      at: new Date(at),
      args: JSON.parse(args) as object,
      ...(approver === undefined ? {} : { approver }),
    };
  }

  #of(tool: string): RanCall[] {
    const name = normalName(tool);
    return this.#ran.filter((call) => normalName(call.tool) === name);
  }
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return value[Number(name)];
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
