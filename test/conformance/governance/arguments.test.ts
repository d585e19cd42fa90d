import { describe, expect, it } from 'vitest';
import { modelAsking } from '../../helpers/agent-with-model.ts';
import { startGovernedAgent } from '../../helpers/governed-agent.ts';
import { expectOutcome, type Outcome, transports } from '../../helpers/governed-run.ts';
import { layersSay, ruleMatched, running, thought } from '../../helpers/governed-words.ts';

/** An object whose deepest level is this one. */
function nested(levels: number): object {
  return levels === 1 ? {} : { a: nested(levels - 1) };
}

/** Lists and objects in turn. */
function nestedInLists(levels: number): unknown {
  return levels === 1
    ? []
    : levels % 2 === 0
      ? { a: nestedInLists(levels - 1) }
      : [nestedInLists(levels - 1)];
}

const noObject = 'the arguments of pay must be an object';
const tooDeep = 'the arguments of pay are nested deeper than 64 levels';
const tooHigh =
  'the arguments of pay hold a number beyond ±(2^53 - 1), which is not exact; send it as a string';
const tooLarge = 'the arguments of pay are larger than 1 MiB';

const faults: [string, unknown, string][] = [
  ['text', '{"amount":5}', noObject],
  ['a list', [{ amount: 5 }], noObject],
  ['null', null, noObject],
  ['an object of 65 levels', { amount: 5, to: nested(64) }, tooDeep],
  ['an object of more than 1 MiB', { amount: 5, to: 'x'.repeat(1024 * 1024) }, tooLarge],
];

/** More of the same, which no transport tells apart. */
const furtherFaults: typeof faults = [
  ['a number', 5, noObject],
  ['nothing', undefined, noObject],
  ['true', true, noObject],
  ['a number that JSON cannot carry', { amount: Number.POSITIVE_INFINITY }, tooHigh],
  ['an object and lists of 66 levels', nestedInLists(66), tooDeep],
  ['an object of 100,000 levels', deep(100_000), tooDeep],
];

/** Built from the inside, since a recursion would run out of stack. */
function deep(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe.each(transports)('arguments of a model, over %s:', (transport) => {
  it.each(transport === 'REST' ? [...faults, ...furtherFaults] : faults)(
    '%s is denied',
    async (_, args, text) => {
      const denied: Outcome = {
        state: 'failed',
        text,
        events: [thought, ruleMatched('arguments', 'form')],
        decisions: layersSay({ intent_alignment: ['deny', text] }),
      };
      const model = modelAsking([{ tool: 'pay', args }]);
      await expectOutcome(transport, { settings: {}, script: [], model }, denied);
    },
  );

  it('an unknown tool is denied as such, with any arguments', async () => {
    const text = 'unknown tool: steal';
    const model = modelAsking([{ tool: 'steal', args: 'all of it' }]);
    await expectOutcome(
      transport,
      { settings: {}, script: [], model },
      {
        state: 'failed',
        text,
        events: [thought, ruleMatched('tool', 'unknown tool', 'deny', 'steal')],
        decisions: layersSay({ intent_alignment: ['deny', text] }, { tool: 'steal' }),
      },
    );
  });

  it.each([
    ['64 levels', JSON.stringify({ amount: 5, memo: nested(63) })],
    ['a key named __proto__', '{"amount":5,"__proto__":{"to":"Eve"}}'],
    ['a key named constructor', '{"amount":5,"constructor":{"prototype":{"x":1}}}'],
  ])('%s are passed unchanged', async (_, json) => {
    const args: unknown = JSON.parse(json);
    const model = modelAsking([{ tool: 'pay', args }]);
    const agent = await expectOutcome(
      transport,
      { settings: {}, script: [], model },
      {
        state: 'completed',
        text: `got ${json}`,
        events: [thought, ...running(), thought],
        decisions: layersSay({}),
        ran: [['pay', args]],
      },
    );
    expect(agent.ran.map(([, got]) => JSON.stringify(got))).toEqual([json]);
    expect(({} as { to?: unknown }).to).toBeUndefined();
  });

  it('a lone surrogate is made well-formed and runs', async () => {
    const model = modelAsking([{ tool: 'pay', args: { amount: 5, to: 'M\ud800' } }]);
    await expectOutcome(
      transport,
      { settings: {}, script: [], model },
      {
        state: 'completed',
        text: 'got {"amount":5,"to":"M\ufffd"}',
        events: [thought, ...running(), thought],
        decisions: layersSay({}),
        ran: [['pay', { amount: 5, to: 'M\ufffd' }]],
      },
    );
  });

  it('two calls of one turn are judged one by one, and the first denial is final', async () => {
    const model = modelAsking([
      { tool: 'pay', args: { amount: 5 } },
      { tool: 'pay', args: [] },
      { tool: 'pay', args: { amount: 6 } },
    ]);
    await expectOutcome(
      transport,
      { settings: {}, script: [], model },
      {
        state: 'failed',
        text: noObject,
        events: [thought, ...running(), ruleMatched('arguments', 'form')],
        decisions: [
          ...layersSay({}),
          ...layersSay({ intent_alignment: ['deny', noObject] }, { call: 2 }),
        ],
        ran: [['pay', { amount: 5 }]],
      },
    );
  });
});

it('1e400 in a request is refused with a reason', async () => {
  const agent = await startGovernedAgent({});
  const script = '[{"tool":"pay","args":{"amount":1e400}}]';
  const message = `{"role":"user","parts":[{"kind":"data","data":{"script":${script}}}]}`;
  const sent = await agent.post('/tasks/send', `{"task":{"id":"t1","message":${message}}}`);
  expect([sent.status, sent.body]).toMatchObject([
    400,
    { error: 'the number 1e400 cannot be read without changing it; send it as a string' },
  ]);
  expect(agent.ran).toEqual([]);
});
