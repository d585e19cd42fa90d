import { describe, expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

/** Reads a file whose `security` holds these lines from line 3 on. */
function securing(lines: string): string[] {
  const indented = lines.replaceAll('\n', '\n  ');
  return linesOf(read(`agent_id: x\nsecurity:\n  ${indented}\n`)).map((line) =>
    line.replaceAll('security.limits.a_day', '~'),
  );
}

/** Reads a limit that denies, with these keys on line 5, in place of its own. */
function limiting(keys: Record<string, string>): string[] {
  const all = { tools: '[pay]', per: '24h', max: '5', over: 'deny', ...keys };
  const limit = Object.entries(all).map(([key, value]) => `${key}: ${value}`);
  return securing(`limits:\n  a_day: {${limit.join(', ')}}`);
}

describe('a limit', () => {
  it.each([
    ['a name of a tool', {}],
    [
      'a condition, an amount and expressions',
      { when: "'true'", amount: 'args.a.b', by: '[caller, args.c]' },
    ],
    ['a period of the calendar', { per: '{calendar: week, zone: Europe/Berlin}' }],
    ['a long period', { per: '366d' }],
    ['a maximum of zero', { max: '0' }],
    ['a decimal in quotes', { max: '"0.30"' }],
  ])('may have %s', (_, keys) => {
    expect(limiting(keys)).toEqual([]);
  });

  it.each<[string, Record<string, string>, string]>([
    ['no tool', { tools: '[]' }, '4:20 ~.tools | ~.tools: the list names no tool; add one'],
    [
      'an amount of something else',
      { amount: 'amount' },
      '4:65 ~.amount | ~.amount: this must be args.NAME, such as args.amount',
    ],
    [
      'a value twice in by',
      { by: '[caller, caller]' },
      '4:61 ~.by | ~.by: a value is listed twice; remove one of the two',
    ],
    [
      'a period without a unit',
      { per: '"24"' },
      '4:32 ~.per | ~.per: a duration needs a unit; write 5s, 5m or 5h',
    ],
    [
      'a period of more than a year',
      { per: '367d' },
      '4:32 ~.per | ~.per: a duration must be at most 366 days (8784h)',
    ],
    [
      'a period of zero',
      { per: '0s' },
      '4:32 ~.per | ~.per: the duration must be above zero; write 90s, 5m or 1h30m',
    ],
    [
      'an unknown zone',
      { per: '{calendar: day, zone: Berlin}' },
      '4:54 ~.per.zone | ~.per.zone: this is no time zone; write a name such as Europe/Berlin',
    ],
    [
      'a calendar without a zone',
      { per: '{calendar: day}' },
      '4:32 ~.per.zone | ~.per.zone: this key is missing; add it',
    ],
    [
      'an unknown calendar',
      { per: '{calendar: year, zone: UTC}' },
      '4:43 ~.per.calendar | ~.per.calendar: this must be one of day, week, month',
    ],
    ...['-1', '1234567890123456', '"1e3"', '"1,000"', '"-5"', 'true', '[5]'].map(
      (max): [string, Record<string, string>, string] => [
        `a maximum of ${max}`,
        { max },
        '4:42 ~.max | ~.max: this must be a number of at most 15 digits, zero or above, or a decimal in quotes such as "5000.50"',
      ],
    ),
    [
      'no approver for calls over it',
      { over: 'defer' },
      '4:12 ~.to | ~.to: this key is missing, so no approver would be notified; write to: "channel:console:*", another target, or over: deny',
    ],
    ['an unknown key', { maximum: '5' }, '4:57 ~.maximum | ~.maximum: unknown key; remove it'],
    [
      'an approval for later calls',
      { never_remember: 'true' },
      '4:57 ~.never_remember | ~.never_remember: unknown key; remove it',
    ],
  ])('may not have %s', (_, keys, line) => {
    expect(limiting(keys)).toEqual([`error ${line}`]);
  });

  it('has a simple name', () => {
    const limit = '{tools: [pay], per: 24h, max: 5, over: deny}';
    const fault = 'the name of a limit has lower-case letters, digits and _, such as refunds_a_day';
    expect(securing(`limits: {a-day: ${limit}}`)).toEqual([
      `error 3:19 security.limits.a-day | security.limits.a-day: ${fault}`,
    ]);
  });
});

describe('calls over a limit, and repeats', () => {
  it('are checked as rules that hold calls, which may be the only ones', () => {
    const holding = 'defer: {enabled: true}\nlimits: {a_day: {tools: [pay], per: 24h, max: 5';
    expect(securing(`${holding}, to: "channel:console:*"}}`)).toEqual([]);
    // They need no rule of a tool, and not its layer.
    const on = 'enabled: true';
    expect(securing(`${holding.replace(on, '')}, to: "channel:pager:x"}}`)).toHaveLength(1);
    expect(securing(`${holding}, to: "channel:console:*", quorum: 2}}`)).toEqual([
      'error 4:85 ~.quorum | a quorum requires a list of approvers; add at least 2',
    ]);
    expect(securing(`${holding}, to: "channel:pager:x"}}`)).toEqual([
      expect.stringContaining('warning 4:56 ~.to | the adapter of channel:pager:x is not one of'),
    ]);
  });
});

describe('the key of an effect', () => {
  it.each([
    ['{args}', '{args}'],
    ['refund:{order}', '{order}'],
    ['refund:{args.id', '{args.id'],
    ['refund:args.id}', '}'],
    ['refund:{}', '{}'],
  ])('may not be %s', (key, unknown) => {
    expect(securing(`effects: {pay: {repeat: deny, key: "${key}"}}`)).toEqual([
      `error 3:38 security.effects.pay.key | ${unknown} is no placeholder; there are {args.NAME} and {tool} alone`,
    ]);
  });

  it('is that of one spelling of a tool', () => {
    const effect = '{key: k, repeat: deny}';
    expect(securing(`effects: {pay-out: ${effect}, pay_out: ${effect}}`)).toEqual([
      'error 3:55 security.effects.pay_out | pay_out and pay-out are one tool, as - and _ are one in its name; keep one of the two rules',
    ]);
  });
});
