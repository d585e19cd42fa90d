import { hash } from 'node:crypto';
import { satisfiesAcr } from '../../machines/governance/step-up.ts';
import type { JsonObject } from '../../machines/json.ts';
import { type Caller, isFinal, type Task, type ToolCall } from '../../machines/task/task.ts';
import { argumentsDigest, type Policy } from '../governance/governance.ts';
import type { Clock } from '../ports.ts';
import type { MessageRows } from '../records/records.ts';
import type { Recalled, SentMessages } from './sent-messages.ts';

/** What knowing calls again needs. */
export interface JoinedCallsPorts {
  policy: Pick<Policy, 'rulesFor' | 'modify'>;
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

  /**
   * Returns what a call is known by, after MODIFY; `null` for one that would not be held: its tool is never held, a static
   * denial stands against it, or its caller has not signed in strongly enough. Governance rules on that one by itself.
   */
  keyOf(caller: Caller | null, call: AskedCall): string | null {
    const { policy } = this.#ports;
    const asked = askedAs(call);
    return wouldBeHeld(policy, asked, caller) ? keyOf(caller, policy, asked) : null;
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
    if (task.settled === null) return;
    const key = keyOf(task.requester, this.#ports.policy, askedAs(call));
    await this.#ports.rows.forget(key, task.id);
  }

  #isOver({ surface, state, settled, changedAt }: Task): boolean {
    // A task that came to its end may have begun another run since, with another request.
    if (surface !== 'mcp') return true;
    if (!isFinal(state)) return false;
    const isDecided = settled !== null && state !== 'canceled';
    return !isDecided || this.#ports.clock.now() - changedAt > keptFor;
  }
}

function askedAs({ tool, args }: AskedCall): ToolCall {
  return { id: '', tool, args, argsSha256: argumentsDigest(args) };
}

function wouldBeHeld(
  policy: Pick<Policy, 'rulesFor'>,
  asked: ToolCall,
  caller: Caller | null,
): boolean {
  try {
    const { defer, refusal, requiredAcr, acrHierarchy } = policy.rulesFor(asked);
    if (defer === null || refusal !== null) return false;
    return requiredAcr === null || satisfiesAcr(caller?.acr, requiredAcr, acrHierarchy);
  } catch {
    // Governance denies it.
    return false;
  }
}

function keyOf(caller: Caller | null, policy: Pick<Policy, 'modify'>, asked: ToolCall): string {
  const { provider, userId, orgId } = caller ?? {};
  // A list of another length than that of a message, whose keys stand in the same table.
  const known = [provider, userId, orgId, 'call', asked.tool, modifiedDigest(policy, asked)];
  return hash('sha256', JSON.stringify(known), 'base64url');
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
