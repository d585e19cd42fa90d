import { describe, expect, it } from 'vitest';
import { finish, restingStates, seen, step } from '../../helpers/step-task.ts';
import {
  aCall,
  allowed,
  anAttempt,
  deferred,
  digest,
  minted,
  returned,
  saved,
  times,
} from '../../helpers/task-fixtures.ts';

const { governing, minting, mintingAgain } = restingStates;
const issued = {
  type: 'credential.issued',
  call: { callId: 'call-1', argsSha256: digest },
  tool: 'issue_refund',
  provider: 'static',
  ttl: null,
};
const refused = { type: 'credential.failed', tool: 'issue_refund', provider: 'static' };
const mint = ['start', 'mint', { taskId: 'task-1', call: aCall(), provider: 'static' }];
const record = { callId: 'call-1', tool: 'issue_refund', layer: 'credentials', duration: 3 };
const failedEnd = ['note', { type: 'session.ended', state: 'failed' }];
const failure = {
  kind: 'denied',
  tool: 'issue_refund',
  layer: 'credentials',
  text: 'the token service said no',
};

describe('a call that needs credentials', () => {
  it('receives them before its start is recorded', () => {
    expect(seen(minting())).toEqual({
      value: { working: { executing: 'minting' } },
      tags: ['working'],
      effects: [['stop', 'govern'], mint],
    });
  });

  it('receives them after its approval, not before', () => {
    const credential = 'static' as const;
    const parked = finish(governing(), 'govern', { ...deferred(), credential });
    expect(parked.effects).not.toContainEqual(mint);
    const approved = finish(
      step(parked, { type: 'deferral.decide', attempt: anAttempt() }),
      'govern',
      { ...allowed(), credential },
    );
    expect(approved.snapshot.value).toEqual({ working: { executing: 'minting' } });
    expect(approved.effects.at(-1)).toEqual(mint);
  });

  it('starts once they were issued', () => {
    const begun = finish(minting(), 'mint', minted());
    expect(seen(begun)).toEqual({
      value: { working: { executing: { calling: 'starting' } } },
      tags: ['working', 'saving'],
      effects: [
        ['stop', 'mint'],
        ['note', issued],
        [
          'note',
          {
            type: 'tool.started',
            call: { callId: 'call-1', argsSha256: digest },
            tool: 'issue_refund',
            argsSize: 11,
            args: { order: 7 },
          },
        ],
      ],
    });
    expect(begun.snapshot.context.records).toEqual([
      { ...record, decision: 'allow', reason: 'issued by static' },
    ]);
    const running = step(begun, saved());
    expect(running.effects.at(-1)).toMatchObject(['start', 'runTool', { needsCredential: true }]);
  });

  it('never starts when they cannot be issued', () => {
    const denied = finish(minting(), 'mint', minted('the token service said no'));
    expect(seen(denied)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [['stop', 'mint'], ['note', refused], failedEnd],
    });
    expect(denied.snapshot.context).toMatchObject({
      failure,
      records: [{ ...record, decision: 'deny', reason: 'the token service said no' }],
    });
  });

  it('can be canceled while they are issued', () => {
    const event = { type: 'task.cancel', reason: 'timeout', at: times.began } as const;
    expect(seen(step(minting(), event))).toEqual({
      value: 'canceled',
      tags: ['canceled', 'final'],
      effects: [
        ['stop', 'mint'],
        ['note', { type: 'invocation.cancelled', reason: 'timeout' }],
        ['note', { type: 'session.ended', state: 'canceled' }],
      ],
    });
  });

  it('discards them when it is canceled before its start', () => {
    const begun = finish(minting(), 'mint', minted());
    const event = { type: 'task.cancel', reason: 'timeout', at: times.began } as const;
    expect(step(begun, event).effects).toContainEqual(['dropCredential', 'call-1']);
  });
});

describe('a call that a restart repeats', () => {
  it('receives new credentials, and its start is recorded once', () => {
    expect(seen(mintingAgain())).toEqual({
      value: { working: { executing: 'minting' } },
      tags: ['working'],
      effects: [['dropCredential', 'call-1'], mint],
    });
    expect(seen(finish(mintingAgain(), 'mint', minted()))).toEqual({
      value: { working: { executing: { calling: 'running' } } },
      tags: ['working'],
      effects: [
        ['stop', 'mint'],
        ['note', issued],
        [
          'start',
          'runTool',
          {
            taskId: 'task-1',
            correlationId: 'correlation-1',
            tags: {},
            call: aCall(),
            approvedSha256: null,
            needsCredential: true,
          },
        ],
      ],
    });
  });

  it('ends without them, and its start has an end', () => {
    const denied = finish(mintingAgain(), 'mint', minted('the token service said no'));
    expect(seen(denied)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [
        ['stop', 'mint'],
        ['note', refused],
        [
          'note',
          {
            type: 'tool.ended',
            call: { callId: 'call-1', argsSha256: digest },
            tool: 'issue_refund',
            duration: 0,
            argsSize: 11,
            resultSize: 0,
            outcome: 'unknown',
            error: 'the token service said no',
          },
        ],
        failedEnd,
      ],
    });
    expect(denied.snapshot.context.failure).toEqual(failure);
  });
});

describe('the next call of a turn', () => {
  it('does not receive the credentials of the call before', () => {
    const second = aCall({ id: 'call-2', tool: 'look_up' });
    const ruling = { ...allowed(), credential: 'static' as const };
    const first = finish(governing([aCall(), second]), 'govern', ruling);
    const begun = step(finish(first, 'mint', minted()), saved());
    const next = step(finish(begun, 'runTool', returned('done')), saved());
    const started = step(finish(next, 'govern', allowed(second)), saved());
    expect(started.effects.at(-1)).toMatchObject([
      'start',
      'runTool',
      { call: second, needsCredential: false },
    ]);
  });
});
