import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import type { ToolRulesJson } from '../../../../../src/http/wire/dashboard/policy-edit-json.ts';
import { lineChanges } from '../../../../../src/ui/dashboard/views/policy/line-changes.ts';
import {
  type PreviewOutcome,
  rulesMachine,
  type SaveOutcome,
} from '../../../../../src/ui/dashboard/views/policy/rules-machine.ts';
import {
  conditionChanges,
  weakerWords,
} from '../../../../../src/ui/dashboard/views/policy/weaker-words.ts';

const held = { to: ['channel:console:*'], timeout: '5m', quorum: 2, approvers: ['a@x.org'] };
const pay: ToolRulesJson = {
  tool: 'pay',
  deny: false,
  defer: held,
  acr: '',
  modify: '',
  listed: [],
  conditions: [],
};
const denied = { ...pay, deny: true };
const preview = {
  tests: null,
  ...{ calls: [], counts: {}, weaker: [], unread: null },
  ...{ before: 'a', content: 'b', etag: '"1"' },
};
const changed = { error: 'it has changed', content: 'c', etag: '"2"' };

async function editing(outcomes: { preview?: PreviewOutcome; save?: SaveOutcome } = {}) {
  const saves: unknown[] = [];
  const actor = createActor(
    rulesMachine.provide({
      actors: {
        read: fromPromise(() => Promise.resolve({ etag: '"1"', content: 'a', rules: [pay] })),
        preview: fromPromise(() =>
          Promise.resolve(outcomes.preview ?? { kind: 'previewed' as const, preview }),
        ),
        save: fromPromise(({ input }) => {
          saves.push(input);
          return Promise.resolve(outcomes.save ?? { kind: 'saved' as const });
        }),
      },
    }),
  ).start();
  const until = async (state: string): Promise<void> =>
    expect.poll(() => actor.getSnapshot().value).toBe(state);
  await until('editing');
  return { actor, saves, until };
}

describe('the edit of rules', () => {
  it('saves the preview, over the file that it was made from', async () => {
    const { actor, saves, until } = await editing();
    expect(actor.getSnapshot().can({ type: 'preview.asked' })).toBe(false);
    actor.send({ type: 'rule.changed', rules: denied });
    expect(actor.getSnapshot().can({ type: 'save.asked' })).toBe(false);
    actor.send({ type: 'preview.asked' });
    await until('previewed');
    actor.send({ type: 'save.asked' });
    await until('saved');
    expect(saves).toEqual([{ content: 'b', etag: '"1"' }]);
  });

  it('cannot be saved after another change before it was previewed again', async () => {
    const { actor, saves, until } = await editing();
    actor.send({ type: 'rule.changed', rules: denied });
    actor.send({ type: 'preview.asked' });
    await until('previewed');
    actor.send({ type: 'rule.changed', rules: { ...denied, acr: 'gold' } });
    actor.send({ type: 'save.asked' });
    expect([actor.getSnapshot().value, actor.getSnapshot().context.preview, saves]).toEqual([
      'editing',
      null,
      [],
    ]);
  });

  it('returns to an error, and starts again after a concurrent save', async () => {
    const wrong = await editing({ preview: { kind: 'invalid', problems: ['no such channel'] } });
    wrong.actor.send({ type: 'rule.changed', rules: denied });
    wrong.actor.send({ type: 'preview.asked' });
    await wrong.until('editing');
    expect(wrong.actor.getSnapshot().context).toMatchObject({
      problems: ['no such channel'],
      rules: [denied],
    });
    const late = await editing({ save: { kind: 'changed', now: changed } });
    late.actor.send({ type: 'rule.changed', rules: denied });
    late.actor.send({ type: 'preview.asked' });
    await late.until('previewed');
    late.actor.send({ type: 'save.asked' });
    await late.until('conflicted');
    expect(late.actor.getSnapshot().context.theirs).toEqual(changed);
    late.actor.send({ type: 'read.asked' });
    await late.until('editing');
    expect(late.actor.getSnapshot().context).toMatchObject({ rules: [pay], theirs: null });
  });
});

describe('weakerWords', () => {
  it.each<[string, Partial<ToolRulesJson>, Partial<ToolRulesJson>]>([
    ['pay is no longer denied.', { deny: true }, { deny: false }],
    ['pay no longer requires approval.', {}, { defer: null }],
    ['pay needs 1 instead of 2 approvals.', {}, { defer: { ...held, quorum: 1 } }],
    ['pay no longer has its own approvers.', {}, { defer: { ...held, approvers: [] } }],
    [
      'pay can also be decided by b@x.org.',
      {},
      { defer: { ...held, approvers: ['a@x.org', 'b@x.org'] } },
    ],
    ['pay no longer requires acr gold.', { acr: 'gold' }, {}],
    ['pay is no longer rewritten.', { modify: 'output: []' }, {}],
  ])('states that %s', (words, before, after) => {
    expect(weakerWords([{ ...pay, ...before }], [{ ...pay, ...after }])).toEqual([words]);
  });

  it('states nothing for rules that are as strong or stronger', () => {
    const more = { ...pay, deny: true, acr: 'gold', defer: { ...held, quorum: 3, timeout: '1m' } };
    expect(weakerWords([pay], [more])).toEqual([]);
    expect(weakerWords([{ ...pay, defer: null }], [pay])).toEqual([]);
  });
});

describe('lineChanges', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });

  it('removes and adds the right lines, for any texts', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const changes = lineChanges(before.join('\n'), after.join('\n'));
        const added = changes.filter(({ kind }) => kind === 'added').length;
        const removed = changes.filter(({ kind }) => kind === 'removed').length;
        const count = (text: string[]): number => text.join('\n').split('\n').length;
        expect(added - removed).toBe(count(after) - count(before));
        expect(added + removed === 0).toBe(before.join('\n') === after.join('\n'));
      }),
    );
  });

  it('shows two lines around a change', () => {
    expect(lineChanges('1\n2\n3\n4\n5\n6', '1\n2\n3\nfour\n5\n6')).toEqual([
      { kind: 'same', text: '2' },
      { kind: 'same', text: '3' },
      { kind: 'removed', text: '4' },
      { kind: 'added', text: 'four' },
      { kind: 'same', text: '5' },
      { kind: 'same', text: '6' },
    ]);
  });
});

it('each changed condition is described in a sentence', () => {
  const rules = (...whens: string[]): ToolRulesJson => ({
    ...pay,
    conditions: whens.map((when, index) => ({
      ...{ rule: `defer.tools.pay[${index}]`, when, terms: '' },
    })),
  });
  expect(conditionChanges([rules('a', 'b', 'c')], [rules('a ', '', 'd')])).toEqual([
    'defer.tools.pay[1] always applies.',
    'defer.tools.pay[2] applies only if d.',
  ]);
});
