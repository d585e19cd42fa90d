import { expect, it } from 'vitest';
import { decidingArguments } from '../../../../../src/ui/dashboard/views/approvals/deciding-arguments.ts';

const args = {
  order: { id: 'A-1042', lines: [{ price: 5 }] },
  amount: 89.9,
  letter: 'Dear Ann,\nthank you.',
  urgent: false,
};

it.each<[string, Parameters<typeof decidingArguments>[0], string[]]>([
  [
    'of the rule, in its order',
    { args, display: ['args.order.lines.0.price', 'args.order.id', 'args.none'] },
    ['order.lines.0.price: 5', 'order.id: A-1042'],
  ],
  ['with short values', { args }, ['amount: 89.9', 'urgent: false']],
  [
    'with short values, if the call lacks those of the rule',
    { args, display: ['args.constructor'] },
    ['amount: 89.9', 'urgent: false'],
  ],
  [
    'in one line, if all are long',
    { args: { text: `a\n\tb ${'😀'.repeat(80)}` } },
    [`text: a b ${'😀'.repeat(56)} …`],
  ],
  ['as text that no other value looks like', { args: { id: '5' } }, ['id: "5"']],
  ['of a call without any', { args: {} }, []],
])('the list shows the arguments %s', (_, call, listed) => {
  expect(decidingArguments(call).map(({ name, value }) => `${name}: ${value}`)).toEqual(listed);
});
