import { describe, expect, it } from 'vitest';
import { compileModify } from '../../../../src/actors/governance/modify/modify.ts';
import { argsDigest } from '../../../../src/actors/governance/policy/args-digest.ts';
import { modifyCall } from '../../../../src/actors/governance/policy/policy.ts';
import type { Refusal } from '../../../../src/machines/domain/finding.ts';
import type { ToolCall } from '../../../../src/machines/domain/task.ts';
import { aCall, aRefusal } from '../../../helpers/task-fixtures.ts';

function modifyOf() {
  const never = { path: 'note', replace: { pattern: 'never', with: 'x' } };
  const digits = { path: 'note', replace: { pattern: '\\d{4}', with: '****' } };
  const compiled = compileModify({ tools: { pay: { arguments: [never, digits], output: [] } } });
  if (!compiled.ok) throw new Error('the rules do not compile');
  return compiled.modify;
}

/** The outcome of a payment with a note, and the calls that were asked about. */
function modified(note: string, refusal: Refusal | null = null) {
  const asked: ToolCall[] = [];
  const call = aCall({ tool: 'pay', args: { note } });
  const refusalOf = (made: ToolCall) => {
    asked.push(made);
    return refusal;
  };
  const scrub = (text: string) => text.replaceAll('pin', '[secret]');
  return {
    call,
    asked,
    modification: modifyCall(call, modifyOf(), {
      refusalOf,
      scrub,
      entries: [{ tool: 'pay', index: 0 }],
    }),
  };
}

describe('a call under MODIFY', () => {
  it('is unchanged without a matching rule, and no question is asked', () => {
    const { asked, modification } = modified('no card');
    expect({ asked, modification }).toEqual({ asked: [], modification: { kind: 'unchanged' } });
  });

  it('gets a new digest for its new arguments and a record of the changes, without secrets', () => {
    const { call, asked, modification } = modified('pin 1234');
    const args = { note: 'pin ****' };
    const made = { ...call, args, argsSha256: argsDigest('pay', args), asked: call.args };
    expect(modification).toEqual({
      kind: 'modified',
      call: made,
      rules: [2],
      changes: [{ path: 'note', before: '"[secret] 1234"', after: '"[secret] ****"' }],
    });
    expect(asked).toEqual([made]);
    expect(call.args).toEqual({ note: 'pin 1234' });
  });

  it('is refused if the changed call may not run, and the reason names MODIFY', () => {
    const refusal: Refusal = { ...aRefusal('pay: no stars'), isMisfit: true };
    expect(modified('pin 1234', refusal).modification).toEqual({
      kind: 'refused',
      refusal: {
        text: 'MODIFY made arguments that may not run: pay: no stars',
        findings: refusal.findings,
      },
    });
  });
});
