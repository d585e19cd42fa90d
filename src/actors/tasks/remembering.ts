import type { Grant, UsedGrant } from '../../machines/domain/grant.ts';
import type { CallOrigin } from '../../machines/domain/hold.ts';
import type { Caller, Deferral } from '../../machines/domain/task.ts';
import {
  type DecisionAttempt,
  excludesAskers,
  isListed,
  isProgram,
} from '../../machines/governance/approvers.ts';
import { withApproval } from '../../machines/governance/decision.ts';
import type { DeferRule } from '../../machines/governance/defer-policy.ts';
import type { AppliedRule } from '../../machines/governance/ruling.ts';
import { shorterMemory } from '../../machines/governance/stricter-terms.ts';
import { isFrom } from '../../machines/governance/tightened.ts';
import type { RedeemInput, RuledTask } from '../../machines/governance/tool-call-setup.ts';
import type { JsonObject } from '../../machines/json.ts';
import { canonicalDigest, type Policies } from '../governance/governance.ts';
import type { PeopleDirectory } from '../people/people.ts';
import type { Clock } from '../ports/clock.ts';
import { grantee } from '../ports/grants.ts';
import type { Ids } from '../ports/ids.ts';
import type { AgentEntity, TaskStore } from '../records/records.ts';

export interface RememberingPorts {
  store: Pick<TaskStore, 'grants' | 'record'>;
  policies: Policies;
  people: PeopleDirectory;
  envelope: AgentEntity;
  clock: Clock;
  ids: Ids;
}

/** The call of an approval that shall count for later calls. */
export interface RememberedCall {
  deferral: Deferral;
  attempt: DecisionAttempt;
  /** The rule in force for the call. */
  applied: AppliedRule | null;
  requester: Caller | null;
  task: RuledTask;
}

/** Releases of later calls: given with an approval, used by calls that they cover, suspended by a rejection. */
export class Remembering {
  readonly #ports: RememberingPorts;

  constructor(ports: RememberingPorts) {
    this.#ports = ports;
  }

  /** Returns why an approval cannot count for later calls, in one sentence; `null` if it can. */
  faultOf({ deferral, attempt, applied, requester, task }: RememberedCall): string | null {
    const { remember, verb, args } = attempt;
    if (remember === undefined) return null;
    const limits = shorterMemory(deferral.remember, applied?.rule?.remember);
    if (verb !== 'approve') return 'only an approval can be remembered; leave remember out';
    if (limits === undefined)
      return 'no approval under this rule is remembered; leave remember out';
    if (args !== undefined || deferral.edits !== undefined) {
      return 'the approval of a changed call is not remembered; leave remember out';
    }
    if (remember.duration > limits.time) {
      return `remember lasts at most ${limits.time / 60_000} minutes under this rule; name a shorter time`;
    }
    if (remember.uses > limits.uses) {
      return `remember counts for at most ${limits.uses} calls under this rule; name a smaller number`;
    }
    if (remember.when === undefined) return null;
    const facts = this.#factsOf({ taskId: '', requester, task });
    const { policy } = this.#ports.policies.current;
    const holds = policy.holds(remember.when, deferral, facts);
    if (typeof holds === 'string') return `remember.when cannot be used: ${holds}`;
    return holds
      ? null
      : 'remember.when does not hold for this call; write a condition that covers it';
  }

  /** Stores the release that an approval gives. */
  async give({ deferral, attempt, applied, requester, task }: RememberedCall): Promise<void> {
    const { store, clock, ids } = this.#ports;
    const { remember } = attempt;
    const { tool, argsSha256, runsSha256 = '' } = deferral;
    const rule = applied?.rule ?? null;
    if (remember === undefined || rule === null) return;
    const now = clock.now();
    const approval = withApproval(deferral, attempt).approvals.at(-1);
    const grant: Grant = {
      ...{ id: ids.next(), tool, requester: requester && keyOf(requester) },
      ...(remember.scope === 'task' ? { session: task.session } : {}),
      ...(task.call === undefined ? {} : { origin: task.call }),
      ...(remember.when === undefined ? { argsSha256 } : { when: remember.when }),
      ...{ runsSha256, ruleSha256: digestOf(rule), deferralId: deferral.id },
      approver: approval?.approver ?? '',
      ...(approval?.caller === undefined ? {} : { caller: approval.caller }),
      ...(approval?.for === undefined ? {} : { for: approval.for }),
      ...{ since: now, until: now + remember.duration, usesLeft: remember.uses },
    };
    await store.grants.put(grant);
    await this.#record({ event: 'grant_given', grant });
  }

  /** Uses a grant that covers a call; `null` if there is none. */
  async redeem(asked: RedeemInput): Promise<UsedGrant | null> {
    const { store, clock } = this.#ports;
    const now = clock.now();
    const grants = await store.grants.usable(asked.call.tool, grantee(asked.requester), now);
    if (grants.length === 0) return null;
    const ruleSha256 = digestOf(asked.rule);
    for (const grant of grants) {
      if (grant.ruleSha256 !== ruleSha256 || !this.#covers(grant, asked, now)) continue;
      const usesLeft = await store.grants.use(grant.id, now);
      if (usesLeft === null) continue;
      const { id, approver, for: delegator } = grant;
      return { id, approver, ...(delegator === undefined ? {} : { for: delegator }), usesLeft };
    }
    return null;
  }

  /** Gives back the use of a grant by a call that does not run. */
  giveBack(id: string): Promise<void> {
    return this.#ports.store.grants.giveBack(id);
  }

  /** Suspends the grants for calls like a rejected one. */
  async rejected({ tool }: Pick<Deferral, 'tool'>, requester: Caller | null): Promise<void> {
    const { store, clock } = this.#ports;
    const suspended = await store.grants.suspend(tool, grantee(requester));
    for (const grant of suspended) {
      if (grant.until > clock.now()) await this.#record({ event: 'grant_suspended', grant });
    }
  }

  /** Returns the grants in force, the suspended ones as well. */
  all(): Promise<Grant[]> {
    const { store, clock } = this.#ports;
    return store.grants.all(clock.now());
  }

  /** Ends a grant; returns it, or `undefined` if there is none. */
  async revoke(id: string): Promise<Grant | undefined> {
    const { store } = this.#ports;
    const grant = (await this.all()).find((one) => one.id === id);
    if (grant === undefined || !(await store.grants.delete(id))) return undefined;
    await this.#record({ event: 'grant_revoked', grant });
    return grant;
  }

  #covers(
    grant: Grant,
    { call, requester, speakers, task, taskId, rule, runsSha256 }: RedeemInput,
    now: number,
  ) {
    const { policies, people } = this.#ports;
    const { session, when, approver, for: delegator } = grant;
    if (session !== undefined && session !== task.session) return false;
    if (!isSameOrigin(grant.origin, task.call)) return false;
    if (grant.runsSha256 !== runsSha256) return false;
    // A program, or a person who contributed to the request, could not approve the call either.
    const { caller = null } = grant;
    if (isProgram(rule.separation, caller)) return false;
    if (excludesAskers(rule, caller) && speakers.some((one) => isFrom(grant, one))) return false;
    // A person who may not approve any more, or whose delegation is over, releases nothing.
    const { as, for: delegators = [] } = people.standingOf({ email: approver, caller: null }, now);
    const rights = [{ email: approver, as }, ...delegators];
    const right = rights.find(({ email }) => email === (delegator ?? approver));
    if (rule.approvers !== null && (right === undefined || !isListed(rule, right))) return false;
    if (when === undefined) return grant.argsSha256 === call.argsSha256;
    const facts = this.#factsOf({ taskId, requester, task });
    return policies.current.policy.holds(when, call, facts) === true;
  }

  #factsOf({
    taskId,
    requester,
    task: { session, call },
  }: {
    taskId: string;
    requester: Caller | null;
    task: RuledTask;
  }) {
    const origin = call === undefined ? {} : { call };
    const task = { id: taskId, surface: '', session, tags: {}, ...origin };
    return { requester, task, ran: null, now: this.#ports.clock.now() };
  }

  async #record({ event, grant }: GrantChange): Promise<void> {
    const { store, envelope, clock } = this.#ports;
    const { id, tool, when, argsSha256, approver, until, usesLeft, deferralId } = grant;
    const fields: JsonObject = {
      ...{ grant_id: id, tool, deferral_id: deferralId, approver },
      ...(when === undefined ? { args_sha256: argsSha256 ?? '' } : { when }),
      ...{ until: new Date(until).toISOString(), uses_left: usesLeft },
    };
    await store.record([{ ...envelope, ts: new Date(clock.now()).toISOString(), event, fields }]);
  }
}

interface GrantChange {
  event: 'grant_given' | 'grant_suspended' | 'grant_revoked';
  grant: Grant;
}

function digestOf(rule: DeferRule): string {
  return canonicalDigest(JSON.parse(JSON.stringify(rule)) as JsonObject);
}

function isSameOrigin(one: CallOrigin = {}, other: CallOrigin = {}): boolean {
  return one.cwd === other.cwd && one.client === other.client;
}

function keyOf({ provider, userId }: Caller): NonNullable<Grant['requester']> {
  return { provider, userId };
}
