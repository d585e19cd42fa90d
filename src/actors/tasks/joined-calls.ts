import { hash } from 'node:crypto';
import { type Caller, isFinal, type Task, type ToolCall } from '../../machines/domain/task.ts';
import { satisfiesAcr } from '../../machines/governance/step-up.ts';
import { wellFormed } from '../../machines/text.ts';
import { argsDigest, noFacts, type Policies, type Policy } from '../governance/governance.ts';
import type { Clock } from '../ports/clock.ts';
import type { MessageRows } from '../records/records.ts';
import type { Recalled, SentMessages } from './sent-messages.ts';
import type { AskedCall } from './task-request.ts';

export interface JoinedCallsPorts {
  policies: Pick<Policies, 'current'>;
  sent: SentMessages;
  rows: MessageRows;
  clock: Clock;
}

/** Time for which an unreceived outcome of a decided call is returned for the next identical call, in milliseconds. */
const keptFor = 300_000;

/**
 * Recognises identical calls: a running or waiting call leads an identical call of the same caller to the same task, on
 * every daemon over the store. Applies only to tools with a hold rule.
 */
export class JoinedCalls {
  readonly #ports: JoinedCallsPorts;

  constructor(ports: JoinedCallsPorts) {
    this.#ports = ports;
  }

  /**
   * Returns the key of a call after MODIFY; `null` for a call that would not be held, because its tool is never held or
   * not in the caller's view, a static denial applies, or the caller's sign-in is too weak. Governance handles such calls separately.
   */
  keyOf(caller: Caller | null, call: AskedCall): string | null {
    const { policy } = this.#ports.policies.current;
    const asked = askedAs(call);
    return wouldBeHeld(policy, asked, caller) ? keyOf(caller, policy, asked) : null;
  }

  /** Runs `take` with the task of an identical call; calls with the same key run one after the other. */
  inTurn<Answer>(key: string, take: (sent: Recalled) => Promise<Answer>): Promise<Answer> {
    return this.#ports.sent.inTurn(key, () => this.recall(key), take);
  }

  /** Returns the task of an identical call. */
  recall(key: string): Promise<Recalled> {
    return this.#ports.sent.recallUnless(key, (task) => task !== undefined && this.#isOver(task));
  }

  /** Forgets a call whose outcome its caller has received, so that the next identical call is new. */
  async received(task: Task, call: AskedCall): Promise<void> {
    if (task.settled === null) return;
    const key = keyOf(task.requester, this.#ports.policies.current.policy, askedAs(call));
    await this.#ports.rows.forget(key, task.id);
  }

  #isOver({ surface, state, settled, changedAt }: Task): boolean {
    // A finished task may have started another run since, with another request.
    if (surface !== 'mcp') return true;
    if (!isFinal(state)) return false;
    const isDecided = settled !== null && state !== 'canceled';
    return !isDecided || this.#ports.clock.now() - changedAt > keptFor;
  }
}

/** Returns a call as it is accepted. */
function askedAs({ tool, args: given }: AskedCall): ToolCall {
  const args = wellFormed(given);
  return { id: '', tool, args, argsSha256: argsDigest(tool, args) };
}

function wouldBeHeld(
  policy: Pick<Policy, 'rulesFor' | 'isConditional' | 'mayHold'>,
  asked: ToolCall,
  caller: Caller | null,
): boolean {
  try {
    const task = { ...noFacts.task, surface: 'mcp' };
    const facts = { ...noFacts, requester: caller, task };
    const { defer, refusal, requiredAcr, acrHierarchy } = policy.rulesFor(asked, facts);
    if (policy.isConditional(asked.tool)) {
      // Its conditions are evaluated with the facts of its task, and an equal call of this caller may wait.
      return policy.mayHold(asked.tool) && (refusal === null || refusal.rule !== undefined);
    }
    if (defer === null || refusal !== null) return false;
    return requiredAcr === null || satisfiesAcr(caller?.acr, requiredAcr, acrHierarchy);
  } catch {
    // Governance denies the call.
    return false;
  }
}

function keyOf(caller: Caller | null, policy: KeyPolicy, asked: ToolCall): string {
  const { provider, userId, orgId } = caller ?? {};
  // Its length differs from that of a message key, since both share a table.
  const known = [provider, userId, orgId, 'call', asked.tool, modifiedDigest(policy, asked)];
  return hash('sha256', JSON.stringify(known), 'base64url');
}

type KeyPolicy = Pick<Policy, 'modify' | 'isConditional'>;

function modifiedDigest(policy: KeyPolicy, asked: ToolCall): string {
  // Another MODIFY may apply to an equal call of another task.
  if (policy.isConditional(asked.tool)) return asked.argsSha256;
  try {
    const modified = policy.modify(asked);
    return (modified.kind === 'modified' ? modified.call : asked).argsSha256;
  } catch {
    // Governance denies the call.
    return asked.argsSha256;
  }
}
