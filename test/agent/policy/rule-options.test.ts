import { describe, expect, it } from 'vitest';
import { PolicyRules } from '../../../src/actors/governance/policy/policy-rules.ts';
import { securitySchema } from '../../../src/actors/governance/settings/schema-security.ts';
import { diffPolicies } from '../../../src/agent/policy/policy-diff.ts';
import { presentDeferral } from '../../../src/http/wire/deferral.ts';
import { noticeOf } from '../../../src/machines/channels/notice-of.ts';
import { whoMayDecide } from '../../../src/machines/channels/who-may-decide.ts';
import { type OptionTerms, ruleOptions } from '../../../src/machines/domain/rule-options.ts';
import { openDeferral } from '../../../src/machines/governance/defer-policy.ts';
import { stricter } from '../../../src/machines/governance/stricter-terms.ts';
import { aParkedTask } from '../../helpers/stored-tasks.ts';
import { toolCalled } from '../../helpers/system-story.ts';
import { aCall } from '../../helpers/task-fixtures.ts';

/** A value of each option, and the effect of adding it to a rule. */
const samples = {
  fourEyes: [true, 'tighter'],
  requireReason: ['both', 'tighter'],
  requirePasskey: [true, 'tighter'],
  isEditable: [true, 'looser'],
  display: [['args.amount'], 'may be looser'],
  mention: [true, 'may be looser'],
} as const satisfies {
  [Term in keyof OptionTerms]-?: [NonNullable<OptionTerms[Term]>, string];
};

const terms = Object.keys(samples) as (keyof typeof samples)[];

function securityWith(option: object) {
  const pay = { to: 'channel:console:*', ...option };
  return securitySchema.parse({ defer: { enabled: true, tools: { pay } } });
}

function ruleWith(option: object) {
  const security = securityWith(option);
  const tools = new Map([['pay', toolCalled('pay')]]);
  const { rule } = new PolicyRules({ security, isAuthOn: true, tools, environment: {} }).deferOf(
    { tool: 'pay', args: {} },
    {
      requester: null,
      task: { id: 't', surface: 'gate', session: 's', tags: {} },
      ran: [],
      now: 0,
    },
  );
  if (rule === null) throw new Error('the rule holds no call');
  return rule;
}

describe.each(terms)('the option of a rule: %s', (term) => {
  const [value, effect] = samples[term];
  const { key, ...entry } = ruleOptions[term];
  const option = { [key]: value };
  const rule = ruleWith(option);
  const deferral = openDeferral(aCall(), rule, 0);

  it('is a term of the rule, and absent without the option', () => {
    expect([rule[term], ruleWith({})[term]]).toEqual([value, undefined]);
  });

  it('is a field of the waiting call in the API and in notices', () => {
    const waiting = presentDeferral({ ...aParkedTask('t-1', 1_000), deferral });
    expect(waiting).toMatchObject(option);
    const asked = { taskId: 't-1', deferral, requester: null, stage: 'asked' as const };
    expect(noticeOf('channel:console:*', asked, null).request[term]).toEqual(value);
  });

  it('is a sentence for approvers if it has words', () => {
    const asked = { taskId: 't-1', deferral, requester: null, stage: 'asked' as const };
    const lines = whoMayDecide(noticeOf('channel:console:*', asked, null).request);
    expect(lines.slice(1)).toEqual('words' in entry ? [entry.words(value as never)] : []);
  });

  it('is joined with the strictest value of two rules', () => {
    const joined = [stricter(ruleWith({}), rule)[term], stricter(rule, ruleWith({}))[term]];
    const isStricter = effect === 'tighter';
    expect(joined).toEqual([
      isStricter ? value : undefined,
      effect === 'looser' ? undefined : value,
    ]);
  });

  it('is compared when a policy changes', () => {
    const [change] = diffPolicies(
      { security: securityWith({}) },
      { security: securityWith(option) },
    );
    expect(change?.effect).toBe(effect);
  });
});
