import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  compileModify,
  type Modify,
  ModifyError,
  type ModifyRules,
} from '../../../../src/actors/governance/modify/modify.ts';
import type { JsonObject, JsonValue } from '../../../../src/machines/json.ts';
import { runs } from '../../../helpers/runs.ts';

type ArgumentRule = Extract<
  ModifyRules['tools'][string],
  { arguments: unknown }
>['arguments'][number];

const word = fc.constantFrom('a', 'b', '0', '1', 'length', '__proto__', 'constructor', 'prototype');

const json = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.integer(),
      fc.constantFrom(null, true),
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(word, tie('value')), { maxLength: 4 }).map(Object.fromEntries),
}));

const path = fc.array(word, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));

const replacement = fc.record({
  pattern: fc.constantFrom('[a-c]', '.', '(?s).+', '(.)(.)', 'x|(y)'),
  with: fc.constantFrom('', '$0', '$0$0', '$$', 'constructor'),
});

const rule: fc.Arbitrary<ArgumentRule> = fc.oneof(
  fc.record({ path, set: json.value }),
  fc.record({ path, remove: fc.constant(true as const) }),
  fc.record({ path, replace: replacement }),
);

function compiled(...rules: ArgumentRule[]): Modify {
  const reading = compileModify({ tools: { pay: { arguments: rules, output: [] } } });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.modify;
}

/** Every name in the prototypes of JSON values, to see that none was added. */
const inherited = () =>
  [Object.prototype, Array.prototype, String.prototype].flatMap((prototype) =>
    Reflect.ownKeys(prototype),
  );

/** What holds a value must not let it be written to. */
function frozen(value: JsonValue): JsonValue {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}

const only = [{ tool: 'pay', index: 0 }];

it('MODIFY never writes to its input, and touches no prototype', () => {
  const before = inherited();
  fc.assert(
    fc.property(json.object, fc.array(rule, { maxLength: 6 }), (args, rules) => {
      const text = JSON.stringify(args);
      const { args: result, applied } = compiled(...rules).modifyArguments(
        'pay',
        frozen(args) as JsonObject,
        only,
      );
      expect(JSON.stringify(args)).toBe(text);
      expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
      expect(inherited()).toEqual(before);
      if (applied.length === 0) expect(result).toBe(args);
      expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    }),
    { numRuns: runs(500) },
  );
});

it('MODIFY applies many rules as it applies them one by one', () => {
  fc.assert(
    fc.property(json.object, fc.array(rule, { maxLength: 6 }), (args, rules) => {
      const applied: number[] = [];
      let current = args;
      for (const [index, one] of rules.entries()) {
        const step = compiled(one).modifyArguments('pay', current, only);
        if (step.applied.length > 0) applied.push(index + 1);
        current = step.args;
      }
      expect(compiled(...rules).modifyArguments('pay', args, only)).toEqual({
        args: current,
        applied,
      });
    }),
  );
});

it('MODIFY sets a value once: the second time nothing changes', () => {
  const setting = fc.record({ path, set: json.value });
  fc.assert(
    fc.property(json.object, setting, (args, one) => {
      const modify = compiled(one);
      const once = modify.modifyArguments('pay', args, only).args;
      expect(modify.modifyArguments('pay', once, only)).toEqual({ args: once, applied: [] });
    }),
  );
});

it('MODIFY throws only a ModifyError, and its parser only returns problems', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 12 });
  const part = fc.constantFrom(
    '(',
    ')',
    '[',
    ']',
    '?',
    '*',
    '\\',
    '|',
    '^',
    'a',
    '{2}',
    '${',
    '$1',
    '.',
  );
  const syntax = fc.oneof(
    anyText,
    fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
  );
  const replacing = fc.record({ pattern: syntax, with: syntax });
  fc.assert(
    fc.property(json.object, anyText, syntax, replacing, (args, text, place, replace) => {
      const reading = compileModify({
        tools: { pay: { arguments: [{ path: place, replace }], output: [{ replace }] } },
      });
      if (!reading.ok) {
        expect(reading.problems.length).toBeGreaterThan(0);
        return;
      }
      try {
        reading.modify.modifyArguments('pay', args, only);
        reading.modify.modifyOutput('pay', text);
      } catch (error) {
        expect(error).toBeInstanceOf(ModifyError);
      }
    }),
    { numRuns: runs(1000) },
  );
});
