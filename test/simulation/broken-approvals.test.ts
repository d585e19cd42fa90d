import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../../src/actors/records/records.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { brokenApprovals } from './broken-approvals.ts';
import { SimulatedTeam } from './simulated-team.ts';

const [ann, bob, cid, eve] = ['ann', 'bob', 'cid', 'eve'].map((name) => `${name}@example.com`);

const asked: Line = ['hold_deferred', { approvers: ['group:finance', 'group:legal'] }];
/** Adds the release of the first call, unless another one is released. */
const released = (lines: Line[]): Line[] =>
  lines.some(([event]) => event === 'hold_released') ? lines : [...lines, ['hold_released', {}]];
const approved = (approver: string | undefined, more: JsonObject = {}): Line => [
  'hold_deferred_decision',
  { approver: approver ?? '', decision: 'approve', ...more },
];

type Line = [event: string, fields: JsonObject];

function broken(...lines: Line[]): string[] {
  const team = new SimulatedTeam();
  for (const person of [ann, bob, cid, eve]) team.send('h-1', person ?? '')();
  const events = lines.map(([event, fields]) => ({
    ...{ event, ts: '', task_id: 'h-1', fields: { deferral_id: 'd-1', ...fields } },
  }));
  return brokenApprovals(new Map([['h-1', events as RecordedEvent[]]]), team);
}

describe('the approvals of a payment that two groups release', () => {
  const uncovered = 'hold h-1 was released without an approval of each group';

  it.each<[string, Line[]]>([
    ['one of each group', [approved(ann), approved(eve)]],
    ['one of a member of both groups and another one', [approved(bob), approved(ann)]],
    ['one of a delegate', [approved(cid, { for: ann ?? '' }), approved(eve)]],
    [
      'with a refused decision',
      [approved(cid, { authorized: false }), approved(ann), approved(eve)],
    ],
  ])('are valid: %s', (_, lines) => {
    expect(broken(asked, ...released(lines))).toEqual([]);
  });

  it.each<[string, Line[], string[]]>([
    ['one is missing', [approved(ann)], [uncovered]],
    [
      'one approved before the change',
      [
        approved(eve),
        approved(ann, { edited_args_sha256: 'ab' }),
        ['hold_deferred', { ...asked[1], deferral_id: 'd-2', edited_from: {} }],
        ['hold_released', { deferral_id: 'd-2' }],
      ],
      [uncovered],
    ],
    ['one person fills both places', [approved(bob)], [uncovered]],
    [
      'a person and their delegate count twice',
      [approved(cid, { for: ann ?? '' }), approved(ann)],
      [uncovered],
    ],
    [
      'a person has no right',
      [approved(cid), approved(ann), approved(eve)],
      [`${cid} decided on hold h-1 without the right`],
    ],
    [
      'nobody delegated',
      [approved(cid, { for: eve ?? '' }), approved(ann), approved(eve)],
      [`${cid} for ${eve} decided on hold h-1 without the right`],
    ],
    [
      'the approvals are of another question',
      [approved(ann), approved(eve, { deferral_id: 'd-0' })],
      [`${eve} decided on hold h-1 without the right`, uncovered],
    ],
  ])('are invalid when %s', (_, lines, sentences) => {
    expect(broken(asked, ...released(lines))).toEqual(sentences);
  });
});
