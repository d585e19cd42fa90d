import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConditionCompiler, typesOf } from '../../../src/actors/governance/governance.ts';
import {
  conditionCandidates,
  type SettledCall,
} from '../../../src/machines/governance/condition-candidates.ts';
import type { JsonObject } from '../../../src/machines/json.ts';

const approved = (args: JsonObject): SettledCall => ({ args, isApproved: true });
const rejected = (args: JsonObject): SettledCall => ({ args, isApproved: false });
const noMembers = { least: 3, members: [] };

describe('the conditions that decisions suggest', () => {
  it('limit each argument to the approved values', () => {
    const calls = [
      approved({ amount: '9.50', reason: 'late', notify: true }),
      approved({ amount: '40', reason: 'late', notify: true }),
      approved({ amount: '12', reason: 'broken', notify: true }),
      approved({ amount: '12', reason: 'broken', notify: true }),
    ];
    expect(
      conditionCandidates(calls, { least: 3, members: ['args.amount', 'args.force'] }),
    ).toEqual([
      {
        when: 'double(args.amount) >= 9.50 && double(args.amount) <= 40.0 && !has(args.force) && args.notify in [true] && args.reason in ["late", "broken"]',
        open: [],
      },
    ]);
  });

  it('are below the smallest rejected amount', () => {
    const calls = [5, 20, 45, 70, 90].map((amount) => approved({ amount }));
    expect(conditionCandidates([...calls, rejected({ amount: 50 })], noMembers)).toEqual([
      { when: 'double(args.amount) >= 5.0 && double(args.amount) <= 45.0', open: [] },
    ]);
  });

  it("separate by one argument's value where numbers cannot", () => {
    const calls = [
      ...[10, 20, 30].map((amount) => approved({ amount, country: 'de' })),
      ...[15, 25].map((amount) => rejected({ amount, country: 'us' })),
      approved({ amount: 12, country: 'us' }),
    ];
    expect(conditionCandidates(calls, noMembers)).toEqual([
      {
        when: 'double(args.amount) >= 10.0 && double(args.amount) <= 30.0 && args.country in ["de"]',
        open: [],
      },
    ]);
  });

  it('use at most as many arguments as a person would read', () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`);
    const calls = (count: number) =>
      [1, 2, 3].map((value) =>
        approved(Object.fromEntries(names(count).map((name) => [name, value]))),
      );
    expect(conditionCandidates(calls(50), noMembers)).toHaveLength(1);
    expect(conditionCandidates(calls(51), noMembers)).toEqual([]);
  });

  it('treat a list and null as single values without limits', () => {
    const calls = [1, 2, 3].map((amount) => approved({ amount, memo: null, tags: ['a'] }));
    expect(conditionCandidates(calls, noMembers)).toEqual([
      {
        when: 'double(args.amount) >= 1.0 && double(args.amount) <= 3.0',
        open: ['args.memo', 'args.tags'],
      },
    ]);
  });

  it('name the arguments without limits, and never suggest a prefix of a string', () => {
    const commands = ['git status', 'git status -s', 'git status .', 'git status -b'];
    const calls = commands.map((command) => approved({ command, cwd: '/srv' }));
    expect(conditionCandidates(calls, noMembers)).toEqual([
      { when: 'args.cwd in ["/srv"]', open: ['args.command'] },
    ]);
  });

  it('are empty for too few approvals, for equal calls with both decisions, and without any limit', () => {
    const call = { amount: 5 };
    expect([
      conditionCandidates([approved(call), approved(call)], noMembers),
      conditionCandidates(
        [approved(call), approved(call), approved(call), rejected(call)],
        noMembers,
      ),
      conditionCandidates(
        ['a', 'b', 'c'].map((memo) => approved({ memo })),
        noMembers,
      ),
    ]).toEqual([[], [], []]);
  });

  it('omit redacted strings, and names that CEL cannot write', () => {
    const calls = [1, 2, 3, 4].map(() => approved({ token: '[redacted:key]', 'x y': 'a' }));
    expect(conditionCandidates(calls, noMembers)).toEqual([]);
  });

  it('accept enough approved calls and no rejected one', () => {
    const compiler = new ConditionCompiler({ environment: {} });
    const schema = {
      type: 'object',
      properties: {
        amount: { type: 'number' },
        price: { type: 'string' },
        country: { type: 'string' },
        force: { type: 'boolean' },
        order: { type: 'object', properties: { items: { type: 'integer' } } },
      },
    };
    const args = fc.record(
      {
        amount: fc.oneof(fc.integer({ min: -5, max: 20 }), fc.constantFrom(0.5, 1e-7)),
        price: fc.constantFrom('1.25', '3', 'free', '-2'),
        country: fc.constantFrom('de', 'us', 'a"b\\'),
        force: fc.boolean(),
        order: fc.record({ items: fc.integer({ min: 0, max: 3 }) }),
      },
      { requiredKeys: ['amount', 'order'] },
    );
    const judged = fc.record({ args, isApproved: fc.boolean() });
    const caller = { requester: null, ran: null, now: 0 };
    const facts = { ...caller, task: { id: '', surface: '', session: '', tags: {} } };
    let proposed = 0;
    fc.assert(
      fc.property(fc.array(judged, { minLength: 4, maxLength: 25 }), (all) => {
        const calls = all as unknown as SettledCall[];
        const members = Object.keys(typesOf(schema)).map((name) => `args.${name}`);
        for (const { when } of conditionCandidates(calls, { least: 3, members })) {
          proposed += 1;
          const condition = compiler.compile(when, schema);
          if (!('holds' in condition)) throw new Error(`${when}: ${condition.message}`);
          const held = calls.filter((call) =>
            condition.holds({ tool: 'pay', args: call.args }, facts),
          );
          expect(held.filter((call) => !call.isApproved)).toEqual([]);
          expect(held.length).toBeGreaterThanOrEqual(3);
        }
      }),
      { numRuns: 300 },
    );
    expect(proposed).toBeGreaterThan(100);
  });
});
