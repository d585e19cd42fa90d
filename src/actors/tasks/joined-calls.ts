import { hash } from 'node:crypto';
import type { JsonObject } from '../../machines/json.ts';
import { type Caller, isFinal, type Task, type ToolCall } from '../../machines/task/task.ts';
import { argumentsDigest, type Policy } from '../governance/governance.ts';
import type { Clock } from '../ports.ts';
import type { MessageRows } from '../records/records.ts';
import type { Recalled, SentMessages } from './sent-messages.ts';

/** What knowing calls again needs. */
export interface JoinedCallsPorts {
  policy: Pick<Policy, 'deferRuleOf' | 'modify'>;
  sent: SentMessages;
  rows: MessageRows;
  clock: Clock;
}

/** A call as its caller asks for it. */
export interface AskedCall {
  tool: string;
  args: JsonObject;
}

/** How long the decided outcome of a call that nobody has received is given to the next equal call, in milliseconds. */
const keptFor = 300_000;

/**
 * Which call of a caller is at work or waits: an equal one of the same caller leads to the same task, at every daemon
 * over the store. Calls of tools that no rule holds are not known again.
 */
export class JoinedCalls {
  readonly #ports: JoinedCallsPorts;

  constructor(ports: JoinedCallsPorts) {
    this.#ports = ports;
  }

  /** Returns what a call is known by, after MODIFY; `null` for a tool whose calls are never held. */
  keyOf(caller: Caller | null, { tool, args }: AskedCall): string | null {
    const { policy } = this.#ports;
    if (policy.deferRuleOf(tool) === null) return null;
    const asked = { id: '', tool, args, argsSha256: argumentsDigest(args) };
    const argsSha256 = modifiedDigest(policy, asked);
    const { provider, userId, orgId } = caller ?? {};
    // A list of another length than that of a message, whose keys stand in the same table.
    const known = [provider, userId, orgId, 'call', tool, argsSha256];
    return hash('sha256', JSON.stringify(known), 'base64url');
  }

  /** Runs `take` with the task that a call leads to, one call after the other. */
  inTurn<Answer>(key: string, take: (sent: Recalled) => Promise<Answer>): Promise<Answer> {
    return this.#ports.sent.inTurn(key, () => this.recall(key), take);
  }

  /** Returns the task that a call leads to. */
  recall(key: string): Promise<Recalled> {
    return this.#ports.sent.recallUnless(key, (task) => task !== undefined && this.#isOver(task));
  }

  /** Forgets a call whose outcome its caller has received, so that the next equal one is a new call. */
  async received(task: Task, call: AskedCall): Promise<void> {
    const key = task.settled === null ? null : this.keyOf(task.requester, call);
    if (key !== null) await this.#ports.rows.forget(key, task.id);
  }

  #isOver({ state, settled, changedAt }: Task): boolean {
    if (!isFinal(state)) return false;
    const isDecided = settled !== null && state !== 'canceled';
    return !isDecided || this.#ports.clock.now() - changedAt > keptFor;
  }
}

function modifiedDigest(policy: Pick<Policy, 'modify'>, asked: ToolCall): string {
  try {
    const modified = policy.modify(asked);
    return (modified.kind === 'modified' ? modified.call : asked).argsSha256;
  } catch {
    // Governance denies it.
    return asked.argsSha256;
  }
}
