import { expect, it } from 'vitest';
import { getInitialSnapshot, getNextSnapshot } from 'xstate';
import type { CallJson } from '../../../src/ui/approvals/approvals-client.ts';
import { type CallEvent, callMachine } from '../../../src/ui/approvals/call-machine.ts';
import { aDeferral } from '../../helpers/page-fixtures.ts';

const call: CallJson = { ...aDeferral(), may_decide: true };
const read: CallEvent = { type: 'call.read', call };
const gone: CallEvent = { type: 'call.gone' };
const failed: CallEvent = { type: 'call.failed', problem: 'The agent is not responding.' };
const later = { ...call, messages: [{ from: 'ann@example.com', text: 'Stop' }] };

it.each([
  ['before it is read', [], { following: 'opening' }, null, null],
  ['that belongs to another person', [gone], 'missing', null, null],
  ['that cannot be read', [failed], { following: 'opening' }, null, failed.problem],
  ['that waits', [read], { following: 'waiting' }, call, null],
  [
    'that waits with a new message',
    [read, { type: 'call.read', call: later }],
    { following: 'waiting' },
    later,
    null,
  ],
  [
    'that waits and can no longer be read',
    [read, failed],
    { following: 'waiting' },
    call,
    failed.problem,
  ],
  ['that can be read again', [read, failed, read], { following: 'waiting' }, call, null],
  ['decided elsewhere', [read, gone], 'over', call, null],
  ['decided elsewhere while it could not be read', [read, failed, gone], 'over', call, null],
  ['that is over, and was read before', [read, gone, read], 'over', call, null],
] as [string, CallEvent[], object | string, CallJson | null, string | null][])(
  'a call is followed %s',
  (_, events, state, shown, problem) => {
    let snapshot = getInitialSnapshot(callMachine);
    for (const event of events) snapshot = getNextSnapshot(callMachine, snapshot, event);
    expect([snapshot.value, snapshot.context]).toEqual([state, { call: shown, problem }]);
  },
);
