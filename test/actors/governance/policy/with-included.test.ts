import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { compileGuardrails } from '../../../../src/actors/governance/guardrails/guardrails.ts';
import { compileModify } from '../../../../src/actors/governance/modify/modify.ts';
import { argsDigest } from '../../../../src/actors/governance/policy/args-digest.ts';
import { createGovern } from '../../../../src/actors/governance/policy/govern.ts';
import { createPolicy, type Policy } from '../../../../src/actors/governance/policy/policy.ts';
import { noFacts } from '../../../../src/actors/governance/policy/rule-lists.ts';
import { withIncluded } from '../../../../src/actors/governance/policy/with-included.ts';
import { securitySchema } from '../../../../src/actors/governance/settings/schema-security.ts';
import { randomIds } from '../../../../src/actors/random-ids.ts';
import type { Caller, Deferral } from '../../../../src/machines/domain/task.ts';
import type { Ruling } from '../../../../src/machines/governance/ruling.ts';
import { satisfiesAcr } from '../../../../src/machines/governance/step-up.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { runs } from '../../../helpers/runs.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import { aCaller, aTaskInput } from '../../../helpers/task-fixtures.ts';

const tools = new Map([['pay', toolCalled('pay')]]);
const levels = ['silver', 'gold', 'platinum'];
const people = ['ann', 'bob', 'cy'].map((name) => `${name}@example.com`);

const terms = fc.record(
  {
    when: fc.constantFrom(
      ...['args.amount > 3.0', 'args.amount == 5.0', 'args.missing > 1.0', 'args.note == "a4"'],
      ...['caller.email == "ann@example.com"', 'has(caller.acr)'],
    ),
    shadow: fc.boolean(),
  },
  { requiredKeys: [] },
);

const ruleWith = <Rule extends object>(rule: fc.Arbitrary<Rule>) =>
  fc.tuple(terms, rule).map(([when, rest]) => ({ ...when, ...rest }));

const rulesOf = <Rule extends object>(rule: fc.Arbitrary<Rule>) =>
  fc.oneof(
    fc.constant({}),
    fc.array(ruleWith(rule), { minLength: 1, maxLength: 3 }).map((pay) => ({ pay })),
  );

const hold = fc.record(
  {
    to: fc.constantFrom('channel:console:one', 'channel:console:two'),
    timeout: fc.constantFrom('1m', '5m', '9m'),
    approvers: fc.subarray(people),
    quorum: fc.integer({ min: 1, max: 3 }),
    four_eyes: fc.boolean(),
    edit: fc.boolean(),
    require_reason: fc.constantFrom('approve' as const, 'reject' as const, 'both' as const),
  },
  { requiredKeys: ['to'] },
);

const change = fc.constantFrom<object>(
  ...[1, 4, 5, 9].map((set) => ({ path: 'amount', set })),
  { path: 'note', set: 'a4' },
  { path: 'note', remove: true },
  { path: 'note', replace: { pattern: '\\d', with: '*' } },
);

const security = fc
  .record({
    guardrails: fc.record({
      enabled: fc.boolean(),
      denied_tools: fc.array(ruleWith(fc.constant({ tool: 'pay' })), { maxLength: 2 }),
      deny_commands: fc.subarray([{ pattern: 'a4' }, { pattern: '"amount":9' }]),
      deny_prompts: fc.subarray([{ pattern: 'ignore' }, { pattern: 'please' }]),
      deny_output: fc.subarray([
        { pattern: 'secret', action: 'block' as const },
        { pattern: 'a4', action: 'redact' as const },
      ]),
    }),
    step_up: fc.record({
      enabled: fc.boolean(),
      acr_hierarchy: fc.constantFrom([], levels, levels.toReversed()),
      tools: rulesOf(fc.record({ acr: fc.constantFrom(...levels) })),
    }),
    modify: fc.record({
      enabled: fc.boolean(),
      tools: rulesOf(fc.record({ arguments: fc.array(change, { maxLength: 2 }) })),
    }),
    defer: fc.record({
      enabled: fc.boolean(),
      bind_approver: fc.boolean(),
      default_approvers: fc.subarray(people),
      on_reject: fc.constantFrom('fail' as const, 'tool_result' as const),
      tools: rulesOf(fc.oneof(hold, fc.constant({ allow: true as const }))),
    }),
    policy: fc.record({ mode: fc.constantFrom('enforce' as const, 'shadow' as const) }),
  })
  .map((written) => securitySchema.parse(written));

type Security = ReturnType<typeof securitySchema.parse>;

function policyOf(written: Security, from?: string): Policy {
  const guardrails = compileGuardrails(written.guardrails);
  const modify = compileModify(written.modify);
  if (!guardrails.ok || !modify.ok) throw new Error('the generated rules do not compile');
  return createPolicy({
    security: written,
    isAuthOn: true,
    tools,
    guardrails: written.guardrails.enabled ? guardrails.guardrails : null,
    modify: written.modify.enabled ? modify.modify : null,
    credentials: null,
    scrub: (text) => text,
    ...(from === undefined ? {} : { from }),
  });
}

const quiet = () => undefined;
const log = { info: quiet, warn: quiet, error: quiet };

/** Rules on a call with these arguments. */
function ruleOn(policy: Policy, args: JsonObject, requester: Caller | null): Promise<Ruling> {
  const call = { id: 'call-1', tool: 'pay', args, argsSha256: argsDigest('pay', args) };
  const logic = createGovern({ policy, scorer: null, tools, ids: randomIds(), log });
  const { request } = aTaskInput();
  const input = { taskId: 't', call, request, requester, scores: [], now: 0 };
  return toPromise(createActor(logic, { input }).start());
}

const rank = { allow: 0, defer: 1, stepUp: 2, misfit: 3, deny: 3, joined: 3 };

const args = fc.record(
  { amount: fc.constantFrom(1, 4, 5, 9), note: fc.constantFrom('a4', 'b', 'c7') },
  { requiredKeys: ['amount'] },
);

const requester = fc.constantFrom<Caller | null>(
  null,
  ...[...levels, undefined].map((acr) =>
    aCaller({ email: 'ann@example.com', ...(acr === undefined ? {} : { acr }) }),
  ),
);

/** What approvers may do less of; each entry holds for a deferral that is at least as strict. */
function isStricter(joint: Deferral, alone: Deferral): Record<string, boolean> {
  const demands = ({ requireReason: reason }: Deferral) =>
    reason === 'both' ? ['approve', 'reject'] : reason === undefined ? [] : [reason];
  return {
    targets: joint.to === alone.to,
    approvers:
      alone.approvers === null ||
      joint.approvers?.every((email) => alone.approvers?.includes(email)) === true,
    quorum: joint.quorum >= alone.quorum,
    timeout: joint.timeout <= alone.timeout,
    fourEyes: joint.fourEyes || !alone.fourEyes,
    bindApprover: joint.bindApprover || !alone.bindApprover,
    reason: demands(alone).every((each) => demands(joint).includes(each)),
    edit: joint.isEditable !== true || alone.isEditable === true,
    onReject: joint.onReject === 'fail' || alone.onReject !== 'fail',
  };
}

describe('a policy that includes another', () => {
  it('is at least as strict as the included one, for every call', async () => {
    await fc.assert(
      fc.asyncProperty(
        security,
        security,
        args,
        requester,
        async (own, included, given, caller) => {
          const alone = policyOf(included, 'shared.yaml');
          const joint = withIncluded(policyOf(own), alone);
          const [before, now] = await Promise.all([
            ruleOn(alone, given, caller),
            ruleOn(joint, given, caller),
          ]);
          expect(rank[now.kind]).toBeGreaterThanOrEqual(rank[before.kind]);
          if (now.kind === 'stepUp' && before.kind === 'stepUp') {
            const { acr_hierarchy: order } = included.step_up;
            const facts = { ...noFacts, requester: caller };
            const call = { id: '', tool: 'pay', args: given, argsSha256: '' };
            const jointOrder = joint.rulesFor(call, facts);
            const passing = levels.filter((acr) =>
              satisfiesAcr(acr, now.requiredAcr, jointOrder.acrHierarchy),
            );
            expect(passing.filter((acr) => !satisfiesAcr(acr, before.requiredAcr, order))).toEqual(
              [],
            );
          }
          if (now.kind === 'defer' && before.kind === 'defer') {
            const loose = Object.entries(isStricter(now.deferral, before.deferral));
            expect(loose.filter(([, isKept]) => !isKept)).toEqual([]);
          }
          if (now.kind !== 'allow' && now.kind !== 'defer') return;
          // The included policy allows the call as the agent's own MODIFY leaves it, and has the last word on it.
          const call = { id: '', tool: 'pay', args: given, argsSha256: argsDigest('pay', given) };
          const changed = policyOf(own).modify(call, { ...noFacts, requester: caller });
          const left = changed.kind === 'modified' ? changed.call.args : given;
          const again = await ruleOn(alone, left, caller);
          expect(rank[again.kind]).toBeLessThanOrEqual(rank[now.kind]);
          if (again.kind === 'allow' || again.kind === 'defer') {
            expect(again.call.args).toEqual(now.call.args);
          }
        },
      ),
      { numRuns: runs(3_000) },
    );
  });

  it('blocks, redacts and refuses like the included one', async () => {
    const texts = fc.constantFrom('secret', 'a4', 'se a4 cret', 'please', 'ignore it', 'x');
    await fc.assert(
      fc.asyncProperty(security, security, texts, async (own, included, text) => {
        const alone = policyOf(included);
        const joint = withIncluded(policyOf(own), alone);
        const { signal } = new AbortController();
        const before = await alone.checkOutput('pay', text, [], signal);
        const now = await joint.checkOutput('pay', text, [], signal);
        if (before.kind === 'withheld') expect(now.kind).toBe('withheld');
        if (before.kind === 'passed' && now.kind === 'passed' && !before.text.includes('a4')) {
          expect(now.text).not.toContain('a4');
        }
        const message = { ...aTaskInput().request, parts: [{ kind: 'text' as const, text }] };
        if (alone.refusalOf(message) !== null) expect(joint.refusalOf(message)).not.toBeNull();
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('names the file of an included rule that decides', async () => {
    const included = securitySchema.parse({
      defer: { enabled: true, tools: { pay: { to: 'channel:console:*', quorum: 1 } } },
    });
    const own = securitySchema.parse({ defer: { enabled: true, tools: { pay: { allow: true } } } });
    const joint = withIncluded(policyOf(own), policyOf(included, 'shared/payments.yaml'));
    const ruling = await ruleOn(joint, { amount: 1 }, null);
    expect(ruling).toMatchObject({ kind: 'defer', deferral: { to: 'channel:console:*' } });
    expect(ruling.records.at(-1)).toMatchObject({
      layer: 'defer',
      decision: 'defer',
      rule: 'shared/payments.yaml#defer.tools.pay',
    });
  });
});
