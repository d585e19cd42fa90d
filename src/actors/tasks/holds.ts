import { hash } from 'node:crypto';
import type { HoldOutcome, HoldRequest } from '../../machines/domain/hold.ts';
import type { Caller, Task } from '../../machines/domain/task.ts';
import type { JsonObject } from '../../machines/json.ts';
import { canonicalDigest, type Policies } from '../governance/governance.ts';
import type { TaskStore } from '../records/records.ts';
import { unrecorded } from '../system-error.ts';
import type { Changed, HoldAccounts, OutcomeAnswer } from './hold-accounts.ts';
import type { Intake } from './intake.ts';
import type { Recalled, SentMessages } from './sent-messages.ts';
import type { TaskRequest } from './task-request.ts';

export interface HoldsPorts {
  intake: Pick<Intake, 'checkRun'>;
  accounts: HoldAccounts;
  sent: SentMessages;
  policies: Policies;
  store: TaskStore;
  /** Returns a committed task. */
  find: (id: string) => Promise<Task | undefined>;
  /** Starts a task, or finds the task that another daemon started for the same key. */
  open: (
    request: TaskRequest,
    opening: { sent: Recalled; recall: () => Promise<Recalled> },
  ) => Promise<{ id: string; isNew: boolean }>;
}

/** The hold of a request; `isSame` is false for a hold of another call. */
export interface OpenedHold {
  id: string;
  isNew: boolean;
  isSame: boolean;
}

/** Holds of calls that other programs run: started by key, received, and ended. */
export class Holds {
  readonly #ports: HoldsPorts;

  constructor(ports: HoldsPorts) {
    this.#ports = ports;
  }

  /**
   * Starts the hold of one call, or finds the hold of the same caller with the same key. Throws SystemError.
   */
  async open(
    asked: Omit<TaskRequest, 'calls' | 'hold'>,
    args: JsonObject,
    asks: Omit<HoldRequest, 'askedSha256'>,
  ): Promise<OpenedHold> {
    const { sent: messages, store, find, open, intake } = this.#ports;
    intake.checkRun();
    const { tool, runsSha256, cwd } = asks;
    const place = cwd === undefined ? {} : { cwd };
    const askedSha256 = canonicalDigest({ tool, args, runsSha256: runsSha256 ?? null, ...place });
    const stated = runsSha256 === undefined ? {} : { runsSha256 };
    const hold = this.#shown({ ...asks, askedSha256 });
    const request = { ...asked, calls: [{ tool, args, ...stated }], hold };
    const key = keyOfHold(asked.requester, hold.key);
    const recall = () => messages.recallUnless(key, isAskedAgain);
    return messages.inTurn(key, recall, async (sent) => {
      const opened =
        sent.taskId === undefined
          ? await open(request, { sent, recall })
          : { id: sent.taskId, isNew: false };
      if (opened.isNew) return { ...opened, isSame: true };
      await messages.saved(key).catch((error: unknown) => {
        throw unrecorded(store, error);
      });
      const known = await find(opened.id);
      return { ...opened, isSame: known?.hold?.askedSha256 === askedSha256 };
    });
  }

  /** Returns the id of the requester's hold with a key. */
  async find(requester: Caller | null, key: string): Promise<string | undefined> {
    const { sent } = this.#ports;
    return (await sent.recallUnless(keyOfHold(requester, key), isAskedAgain)).taskId;
  }

  /**
   * Records that a process receives the call of an approved hold, unless the policy in force forbids it. Returns the
   * hold, and whether it changed. Throws SystemError.
   */
  take(id: string, claim: string | undefined): Promise<Changed> {
    return this.#ports.accounts.take(id, claim);
  }

  /** Records the outcome of a call that another program ran. The first one counts. Throws SystemError. */
  close(id: string, outcome: HoldOutcome): Promise<OutcomeAnswer> {
    return this.#ports.accounts.close(id, outcome);
  }

  /** Approvers and the log see what a program states of its call as they see arguments. */
  #shown(hold: HoldRequest): HoldRequest {
    const { agent, session, subject, cwd } = hold;
    // Approvers see the folder that the rules read.
    const context = cwd === undefined ? hold.context : { ...hold.context, cwd };
    const stated: JsonObject = {
      ...(agent === undefined ? {} : { agent }),
      ...(session === undefined ? {} : { session }),
      ...(subject === undefined ? {} : { subject }),
      ...(context === undefined ? {} : { context }),
    };
    return { ...hold, ...this.#ports.policies.current.policy.shown(stated) };
  }
}

/** A caller may ask again after a sign-in at a higher level, or with fewer waiting calls. */
function isAskedAgain(task: Task | undefined): boolean {
  const { failure } = task ?? {};
  return failure?.kind === 'stepUp' || (failure?.kind === 'denied' && failure.isOverLimit === true);
}

function keyOfHold(caller: Caller | null, key: string): string {
  const { provider, userId, orgId } = caller ?? {};
  return hash('sha256', JSON.stringify([provider, userId, orgId, 'hold', key]), 'base64url');
}
