import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Caller, Deferral } from '../../../src/machines/domain/task.ts';
import type { DecisionAttempt } from '../../../src/machines/governance/approvers.ts';
import type { DecisionAnswer } from '../../../src/machines/governance/decision.ts';
import { runs } from '../../helpers/runs.ts';
import { publicState, restingStates, type Step, step } from '../../helpers/step-task.ts';
import { aDeferral, anAttempt } from '../../helpers/task-fixtures.ts';

const people = ['ann', 'bob', 'cy', 'rita'] as const;
type Person = (typeof people)[number];

/** Rita asks, and is on the list as well; cy is not. */
const list = ['ann@example.com', 'bob@example.com', 'rita@example.com'];

const emailOf = (person: Person) => `${person}@example.com`;

/** Paths on which a decision arrives, and the identity of its sender for the daemon. */
const ways: Record<string, (person: Person) => Partial<DecisionAttempt>> = {
  token: (person) => ({ caller: { provider: 'sso', userId: person, email: emailOf(person) } }),
  'other token': (person) => ({
    caller: { provider: 'iap', userId: `${person}-2`, email: ` ${emailOf(person).toUpperCase()}` },
  }),
  chat: (person) => ({
    email: emailOf(person),
    approver: emailOf(person),
    caller: { provider: 'chat', userId: `slack:T1/${person}`, email: emailOf(person) },
    source: 'slack',
  }),
  'emailless token': (person) => ({ caller: { provider: 'sso', userId: `${person}-job` } }),
  'look-alike': (person) => ({
    caller: { provider: 'sso', userId: `${person}-x`, email: `\u200B${emailOf(person)}` },
  }),
  operator: () => ({ caller: { provider: 'runtime', userId: 'runtime' } }),
  'chat over the endpoint': (person) => ({
    caller: { provider: 'chat', userId: `slack:T1/${person}`, email: emailOf(person) },
  }),
  anonymous: () => ({ caller: null }),
  'misplaced click': (person) => ({ ...ways['chat']!(person), isUntrusted: true as const }),
};

/** Ways that show who decides. */
const sure = ['token', 'other token', 'chat'];

interface Try {
  person: Person;
  way: string;
  attempt: DecisionAttempt;
}

const asserted = fc.constantFrom(
  null,
  '',
  ...people.map(emailOf),
  'ANN@example.com ',
  '\u0430nn@example.com',
  'bob@example.com\u200B',
  'somebody',
);

const aTry: fc.Arbitrary<Try> = fc
  .record({
    person: fc.constantFrom(...people),
    way: fc.constantFrom(...Object.keys(ways), ...sure, ...sure),
    verb: fc.nat(11).map((mood) => (mood > 0 ? ('approve' as const) : ('reject' as const))),
    approver: asserted,
    email: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, asserted),
  })
  .map(({ person, way, ...said }) => ({
    person,
    way,
    attempt: anAttempt({ ...said, ...ways[way]!(person) }),
  }));

const aRule = fc
  .record({ approvers: fc.constantFrom(list, list, null), quorum: fc.constantFrom(1, 2, 3) })
  .chain((rule) => fc.constantFrom({ ...rule }, { ...rule, fourEyes: true as const }));

const someTries = fc.array(aTry, { maxLength: 20, size: 'max' });

const requester: Caller = { provider: 'sso', userId: 'rita', email: emailOf('rita') };

interface Told extends Try {
  answer: DecisionAnswer['kind'];
}

/** Puts one attempt after another to a task that waits, and tells what it answered to each. */
function tell(deferral: Deferral, tries: readonly Try[]): { last: Step; told: Told[] } {
  let last = restingStates.asked(deferral, { requester });
  const told = tries.map((each) => {
    last = step(last, { type: 'deferral.decide', attempt: each.attempt });
    const [answer] = last.effects.flatMap((effect) =>
      effect[0] === 'emit' && effect[1].type === 'decision.answered' ? [effect[1]] : [],
    );
    return { ...each, answer: answer?.answer.kind ?? 'notPending' };
  });
  return { last, told };
}

/** Returns whether a person may decide who states nothing wrong about themselves. */
function isEntitled({ approvers, fourEyes }: Deferral, { person, way, attempt }: Try): boolean {
  if (!sure.includes(way)) return false;
  const said = attempt.email?.trim() ?? '';
  if (said !== '' && said.toLowerCase() !== emailOf(person)) return false;
  if (fourEyes && (person === 'rita' || attempt.approver?.trim() === emailOf('rita'))) return false;
  return approvers === null || approvers.includes(emailOf(person));
}

/** What has to come of attempts that are bound to who makes them. */
function outcomeOf(deferral: Deferral, tries: readonly Try[]): 'deferred' | 'working' | 'failed' {
  const approving = new Set<Person>();
  for (const each of tries) {
    if (!isEntitled(deferral, each)) continue;
    if (each.attempt.verb === 'reject') return 'failed';
    approving.add(each.person);
    if (approving.size === deferral.quorum) return 'working';
  }
  return 'deferred';
}

describe('for any attempt of any kind of caller', () => {
  it('a call under bind_approver is decided only by its entitled approvers', () => {
    const seen = { deferred: 0, working: 0, failed: 0 };
    fc.assert(
      fc.property(aRule, someTries, (rule, tries) => {
        const deferral = aDeferral({ ...rule, bindApprover: true, distinctCallers: true });
        const { last, told } = tell(deferral, tries);
        const outcome = outcomeOf(deferral, tries);
        expect(publicState(last)).toBe(outcome);
        seen[outcome] += 1;
        for (const { answer, ...each } of told) {
          if (answer === 'forbidden') expect(isEntitled(deferral, each)).toBe(false);
          if (answer === 'recorded' || answer === 'resolved') {
            expect(isEntitled(deferral, each)).toBe(true);
          }
        }
      }),
      { numRuns: runs(500) },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(runs(5));
  });

  it('a call without bind_approver is released by as many callers as approvers, none of whom requested it', () => {
    let released = 0;
    fc.assert(
      fc.property(aRule, someTries, (rule, tries) => {
        const signedIn = tries.filter(({ way }) => way !== 'anonymous');
        const deferral = aDeferral({ ...rule, distinctCallers: true });
        const { last, told } = tell(deferral, signedIn);
        const counted = told.filter(({ answer }) => ['recorded', 'resolved'].includes(answer));
        for (const { way, person, attempt } of counted) {
          expect(['chat over the endpoint', 'misplaced click']).not.toContain(way);
          const email = attempt.email?.trim().toLowerCase() ?? '';
          if (rule.approvers !== null) expect(rule.approvers).toContain(email);
          if (!('fourEyes' in rule)) continue;
          expect(email).not.toBe(emailOf('rita'));
          if (sure.includes(way)) expect(person).not.toBe('rita');
        }
        if (publicState(last) !== 'working') return;
        const approving = counted.filter(({ attempt }) => attempt.verb === 'approve');
        expect(new Set(approving.map(callerOf)).size).toBeGreaterThanOrEqual(rule.quorum);
        if (rule.approvers === null) return;
        released += 1;
        const approvers = approving.map(({ attempt }) => attempt.email?.trim().toLowerCase());
        expect(new Set(approvers).size).toBeGreaterThanOrEqual(rule.quorum);
      }),
      { numRuns: runs(500) },
    );
    expect(released).toBeGreaterThan(runs(5));
  });
});

/** One caller is one, however many emails are named. */
function callerOf({ person, way }: Try): string {
  return sure.includes(way) ? person : `${way} ${way === 'operator' ? '' : person}`;
}
