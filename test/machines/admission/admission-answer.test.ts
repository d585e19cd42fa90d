import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../../src/machines/admission/admission-answer.ts';
import { runs } from '../../helpers/runs.ts';

const denied = {
  decision: 'deny',
  reason: 'cost_limit_exceeded',
  scope: 'org',
  window: 'monthly',
  reset_at: '2026-12-01T00:00:00+01:00',
};

const bare = { reason: '', scope: '', window: '', resetAt: '' };

describe('the answer of an admission platform', () => {
  it('is used as received', () => {
    expect(readAnswer(JSON.stringify({ ...denied, more: [1] }))).toEqual({
      kind: 'answer',
      answer: {
        decision: 'deny',
        reason: 'cost_limit_exceeded',
        scope: 'org',
        window: 'monthly',
        resetAt: '2026-12-01T00:00:00+01:00',
      },
    });
  });

  it.each([
    ['{"decision":"admit"}', { decision: 'admit', ...bare }],
    ['{"decision":"deny"}', { decision: 'deny', ...bare }],
    [
      '{"decision":"deny","reason":null,"scope":null,"window":null,"reset_at":null}',
      { decision: 'deny', ...bare },
    ],
    ['{"decision":"deny","reset_at":"soon"}', { decision: 'deny', ...bare, resetAt: 'soon' }],
    ['{"decision":"deny","reset_at":1795262400}', { decision: 'deny', ...bare }],
    ['{"decision":"admit","decision":"deny"}', { decision: 'deny', ...bare }],
    [' {"decision" : "admit" }\n', { decision: 'admit', ...bare }],
  ])('%s omits the fields that the platform omits', (body, answer) => {
    expect(readAnswer(body)).toEqual({ kind: 'answer', answer });
  });

  it.each([
    ['', 'the answer is not a JSON object'],
    ['<html>deny</html>', 'the answer is not a JSON object'],
    ['{"decision":"deny"', 'the answer is not a JSON object'],
    ['[]', 'the answer is not a JSON object'],
    ['null', 'the answer is not a JSON object'],
    ['"deny"', 'the answer is not a JSON object'],
    ['0', 'the answer is not a JSON object'],
    ['[{"decision":"deny"}]', 'the answer is not a JSON object'],
    ['{}', 'the answer has no decision'],
    ['{"decision":null}', 'the answer has no decision'],
    ['{"Decision":"deny"}', 'the answer has no decision'],
    ['{"__proto__":{"decision":"deny"}}', 'the answer has no decision'],
    ['{"decision":""}', 'the decision is neither admit nor deny'],
    ['{"decision":"DENY"}', 'the decision is neither admit nor deny'],
    ['{"decision":"ADMIT"}', 'the decision is neither admit nor deny'],
    ['{"decision":"deny "}', 'the decision is neither admit nor deny'],
    ['{"decision":1}', 'the decision is neither admit nor deny'],
    ['{"decision":["deny"]}', 'the decision is neither admit nor deny'],
    ['{"decision":"deny","reason":1}', 'the reason, the scope or the window is not a string'],
    ['{"decision":"deny","scope":[]}', 'the reason, the scope or the window is not a string'],
    ['{"decision":"deny","window":{}}', 'the reason, the scope or the window is not a string'],
  ])('%s is invalid', (body, text) => {
    expect(readAnswer(body)).toEqual({ kind: 'fault', text });
  });

  it('denies only for a well-formed denial', () => {
    const text = fc.oneof(fc.constant('deny'), fc.constant('admit'), fc.string());
    const optional = fc.option(fc.oneof(text, fc.jsonValue()), { nil: undefined });
    const shaped = fc
      .record({ decision: optional, reason: optional, scope: optional, reset_at: optional })
      .map((value) => JSON.stringify(value));
    const anything = fc.oneof(shaped, fc.json(), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(anything, (body) => {
        const reading = readAnswer(body);
        const isDenied = reading.kind === 'answer' && reading.answer.decision === 'deny';
        expect(isDenied).toBe(isWellFormedDenial(body));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('does not appear in an error', () => {
    const secret = 'canary-secret';
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const reading = readAnswer(JSON.stringify({ decision: [secret, value], reason: secret }));
        expect(JSON.stringify(reading)).not.toContain(secret);
      }),
    );
  });
});

/** Says the same in the words of the documents. */
function isWellFormedDenial(body: string): boolean {
  try {
    const sent = JSON.parse(body) as Record<string, unknown>;
    const texts = [sent['reason'], sent['scope'], sent['window']];
    const areTexts = texts.every(
      (field) => field === undefined || field === null || typeof field === 'string',
    );
    return !Array.isArray(sent) && sent['decision'] === 'deny' && areTexts;
  } catch {
    return false;
  }
}
