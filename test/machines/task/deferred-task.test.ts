import { describe, expect, it } from 'vitest';
import type { Deferral } from '../../../src/machines/domain/task.ts';
import type { DecisionAttempt } from '../../../src/machines/governance/approvers.ts';
import {
  type Effect,
  finish,
  restingStates,
  type Step,
  seen,
  step,
} from '../../helpers/step-task.ts';
import {
  aCall,
  aDeferRule,
  aDeferral,
  anAttempt,
  anEdit,
  aProposedEdit,
  deferred,
  digest,
  editedDigest,
  saved,
  times,
} from '../../helpers/task-fixtures.ts';

/** The held call in the log. */
const held = { callId: 'call-1', deferralId: 'call-1', argsSha256: digest };

function decide(attempt: Partial<DecisionAttempt>, deferral: Partial<Deferral> = {}): Step {
  return decideAgain(restingStates.asked(aDeferral(deferral)), attempt);
}

function decideAgain(from: Step, attempt: Partial<DecisionAttempt>): Step {
  return step(from, { type: 'deferral.decide', attempt: anAttempt(attempt) });
}

function decided(decision: 'approve' | 'reject', approver: string, note = ''): Effect {
  const fact = {
    call: held,
    tool: 'issue_refund',
    decision,
    approver,
    note,
    wait: 28_000,
  } as const;
  const vouchedBy = approver === 'unknown' ? 'nobody' : 'asserted';
  const by = { vouchedBy, method: 'none', caller: null } as const;
  return ['note', { type: 'deferral.decided', ...fact, ...by }];
}

function counted(
  kind: 'resolved' | 'recorded',
  decision: 'approve' | 'reject',
  approver: string,
): Effect {
  const answer = { kind, deferralId: 'call-1', decision, approver };
  return ['emit', { type: 'decision.answered', answer }];
}

const ended: Effect = ['note', { type: 'session.ended', state: 'failed' }];

describe('an approved deferred task', () => {
  const ruled = (from: Step) =>
    step(from, { type: 'deferral.decide', attempt: anAttempt(), isRuled: true });
  const startedCall: Effect[] = [
    [
      'note',
      expect.objectContaining({ type: 'tool.started', call: { ...held, argsSha256: digest } }),
    ],
  ];

  it('starts at once where its ruling is still valid, with its approval in the same commit', () => {
    const approvals = [{ approver: 'Ann', at: times.decided }];
    const released = { deferral: aDeferral({ approvals }), isReleased: true };
    const approved = ruled(restingStates.asked(aDeferral()));
    expect(seen(approved)).toEqual({
      value: { working: { executing: { calling: 'starting' } } },
      tags: ['working', 'saving'],
      effects: [decided('approve', 'Ann'), counted('resolved', 'approve', 'Ann'), ...startedCall],
    });
    expect(approved.snapshot.context).toMatchObject({ deferral: null, held: released });
  });

  it('receives its credentials first where its ruling is still valid', () => {
    const parked = finish(restingStates.governing(), 'govern', {
      ...{ ...deferred(), credential: 'static' },
    });
    expect(seen(ruled(parked)).value).toEqual({ working: { executing: 'minting' } });
  });

  it('passes the held call to governance again', () => {
    const approvals = [{ approver: 'Ann', at: times.decided }];
    const held = { deferral: aDeferral({ approvals }), isReleased: true };
    const approved = decide({});
    expect(seen(approved)).toEqual({
      value: { working: 'governing' },
      tags: ['working'],
      effects: [
        decided('approve', 'Ann'),
        counted('resolved', 'approve', 'Ann'),
        ['start', 'govern', expect.objectContaining({ held, call: aCall(), now: times.decided })],
      ],
    });
    expect(approved.snapshot.context).toMatchObject({
      deferral: null,
      held,
      settled: {
        id: 'call-1',
        tool: 'issue_refund',
        argsSha256: digest,
        decision: 'approve',
        approver: 'Ann',
        note: '',
        decidedAt: times.decided,
      },
    });
  });

  it('answers a second decision with the first one, and changes nothing', () => {
    const first = decide({ approver: 'Ann', note: 'checked' });
    const second = decideAgain(first, { verb: 'reject', approver: 'Bob' });
    const settled = first.snapshot.context.settled;
    expect(second.effects).toEqual([
      ['emit', { type: 'decision.answered', answer: { kind: 'decided', settled } }],
    ]);
    expect(second.snapshot.value).toEqual(first.snapshot.value);
    expect(second.snapshot.context).toEqual(first.snapshot.context);
  });

  it('accepts a decision pinned to the deferral and its arguments', () => {
    const approved = decide({ deferralId: 'call-1', argsSha256: digest.toUpperCase() });
    expect(approved.effects).toContainEqual(counted('resolved', 'approve', 'Ann'));
  });
});

describe('a rejected deferred task', () => {
  it.each([
    ['Ann', 'no receipt', 'Ann', 'defer: rejected by Ann: no receipt'],
    ['Ann', '', 'Ann', 'defer: rejected by Ann'],
    [null, 'no receipt', 'unknown', 'defer: rejected by unknown: no receipt'],
    ['  ', '', 'unknown', 'defer: rejected by unknown'],
  ])('fails when %s rejects with the note "%s"', (approver, note, name, text) => {
    const rejected = decide({ verb: 'reject', approver, note });
    expect(seen(rejected)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [decided('reject', name, note), counted('resolved', 'reject', name), ended],
    });
    expect(rejected.snapshot.context).toMatchObject({
      deferral: null,
      held: null,
      pending: [],
      failure: { kind: 'rejected', tool: 'issue_refund', text },
      settled: { id: 'call-1', decision: 'reject', approver: name, note },
    });
  });
});

describe('a deferred task whose decisions need a reason', () => {
  it.each([
    ['approve', 'approve', ''],
    ['approve', 'both', ' \n\u00A0'],
    ['reject', 'reject', ''],
    ['reject', 'both', ' \u200B'],
    ['approve', 'both', '\u3164\u2800.'],
  ] as const)(
    'waits after a decision to %s by the rule %s with the note "%s"',
    (verb, rule, note) => {
      const asked = restingStates.asked(aDeferral({ requireReason: rule }));
      const answered = decideAgain(asked, { verb, note });
      const answer = { kind: 'noReason', decision: verb };
      expect(answered.effects).toEqual([['emit', { type: 'decision.answered', answer }]]);
      expect(answered.snapshot.value).toEqual(asked.snapshot.value);
      expect(answered.snapshot.context).toEqual(asked.snapshot.context);
      const reasoned = decideAgain(answered, { verb, note: 'checked' });
      expect(reasoned.effects).toContainEqual(counted('resolved', verb, 'Ann'));
    },
  );

  it.each([
    ['approve', 'reject'],
    ['reject', 'approve'],
  ] as const)('accepts a decision to %s without one by the rule %s', (verb, requireReason) => {
    expect(decide({ verb }, { requireReason }).effects).toContainEqual(
      counted('resolved', verb, 'Ann'),
    );
  });

  it('refuses an unlisted caller before it asks for a reason', () => {
    const approvers = ['ann@example.com'];
    expect(decide({}, { requireReason: 'both', approvers }).effects).toContainEqual([
      'emit',
      { type: 'decision.answered', answer: { kind: 'forbidden' } },
    ]);
  });
});

describe('a deferred task whose arguments an approval changes', () => {
  const edit = aProposedEdit();
  const { args } = edit;
  const asked = () => restingStates.asked(aDeferral({ isEditable: true, approvals: [bo] }));
  const bo = { approver: 'Bo', at: times.thought };
  const edited = (from: Step, attempt: Partial<DecisionAttempt> = {}, proposed = edit) =>
    step(from, {
      ...{ type: 'deferral.decide', attempt: anAttempt({ args, ...attempt }) },
      ...{ today: null, edit: proposed },
    });

  it('passes the changed call to governance, with only the approval of the changed arguments', () => {
    const from = asked();
    const answered = edited(from);
    const [made] = [anEdit()];
    const call = { ...aCall(), args, argsSha256: edit.argsSha256, edits: [made] };
    const now = aDeferral({
      ...{ isEditable: true, args, argsSha256: edit.argsSha256, edits: [made] },
      approvals: [{ approver: 'Ann', at: times.decided }],
    });
    const held = {
      ...{ deferral: now, isReleased: true },
      edited: { before: edit.before, heldAs: 'call-2' },
    };
    const [, fact] = decided('approve', 'Ann') as ['note', object];
    expect(seen(answered)).toEqual({
      value: { working: 'governing' },
      tags: ['working'],
      effects: [
        ['note', { ...fact, editedArgsSha256: edit.argsSha256 }],
        [
          'emit',
          {
            type: 'decision.answered',
            answer: {
              ...{ kind: 'resolved', deferralId: 'call-1', decision: 'approve' },
              ...{ approver: 'Ann', editedSha256: editedDigest },
            },
          },
        ],
        ['start', 'govern', expect.objectContaining({ held, call })],
      ],
    });
    expect(answered.snapshot.context).toMatchObject({
      settled: { id: 'call-1', argsSha256: digest, edit: made },
      run: { decided: [{ id: 'call-1', edit: made, by: [null] }] },
    });
  });

  it.each([
    ['its rule allows no change', { isEditable: undefined }, {}, edit],
    ['the decision is a rejection', {}, { verb: 'reject' }, edit],
    ['the arguments were not compared', {}, {}, null],
  ] as const)('waits if %s', (_, rule, attempt, proposed) => {
    const { isEditable: _rule, ...plain } = aDeferral();
    const deferral = 'isEditable' in rule ? plain : aDeferral({ isEditable: true });
    const from = restingStates.asked(deferral);
    const answered = step(from, {
      ...{ type: 'deferral.decide', attempt: anAttempt({ args, ...attempt }), edit: proposed },
    });
    expect(answered.effects).toEqual([
      ['emit', { type: 'decision.answered', answer: { kind: 'notEditable' } }],
    ]);
    expect(answered.snapshot.context).toEqual(from.snapshot.context);
  });

  it('waits if the current rule allows no change, or the arguments do not fit', () => {
    const from = asked();
    const attempt = anAttempt({ args });
    const forbidden = step(from, {
      ...{ type: 'deferral.decide', attempt, edit, today: aDeferRule() },
    });
    expect(forbidden.effects).toEqual([
      ['emit', { type: 'decision.answered', answer: { kind: 'notEditable' } }],
    ]);
    const fault = 'pay: argument order is missing';
    const unfit = edited(from, {}, aProposedEdit({ fault }));
    expect(unfit.effects).toEqual([
      ['emit', { type: 'decision.answered', answer: { kind: 'unfit', text: fault } }],
    ]);
    expect(unfit.snapshot.context).toEqual(from.snapshot.context);
  });

  it('refuses an unlisted caller before it checks the arguments', () => {
    const approvers = ['ann@example.com'];
    const from = restingStates.asked(aDeferral({ isEditable: true, approvers }));
    const answered = edited(from, {}, aProposedEdit({ fault: 'wrong' }));
    expect(answered.effects).toContainEqual([
      'emit',
      { type: 'decision.answered', answer: { kind: 'forbidden' } },
    ]);
  });

  it('stores the change with the new deferral, and answers decisions on the first one as over', () => {
    const governing = edited(asked());
    const next = aDeferral({ id: 'call-2', args, argsSha256: edit.argsSha256, edits: [anEdit()] });
    const call = {
      ...aCall({ id: 'call-2' }),
      args,
      argsSha256: edit.argsSha256,
      edits: [anEdit()],
    };
    const held = finish(governing, 'govern', { ...deferred(next), call });
    expect(held.snapshot.context).toMatchObject({
      deferral: next,
      held: null,
      settled: { id: 'call-1', heldAgainAs: 'call-2' },
      run: { decided: [{ id: 'call-1', outcome: { kind: 'neverRan' } }] },
    });
    const over = step(held, { type: 'deadline.reached', at: times.expired });
    const late = decideAgain(over, {});
    expect(late.effects).toEqual([
      ['emit', { type: 'decision.answered', answer: { kind: 'notPending' } }],
    ]);
  });

  it('under four_eyes refuses the person who changed them', () => {
    const call = aCall({ edits: [anEdit()] });
    const from = restingStates.asked(aDeferral({ fourEyes: true, edits: [anEdit()] }));
    from.snapshot.context.pending = [call];
    expect(decideAgain(from, {}).effects).toContainEqual([
      'emit',
      { type: 'decision.answered', answer: { kind: 'forbidden' } },
    ]);
    expect(decideAgain(from, { approver: 'Bo' }).effects).toContainEqual(
      counted('resolved', 'approve', 'Bo'),
    );
  });
});

describe('a deferred task whose rejection goes to the model', () => {
  const told = { onReject: 'tool_result' } as const;

  it('continues with the rejection as the result of the call, which never starts', () => {
    const rejected = decide({ verb: 'reject', note: 'no receipt' }, told);
    expect(seen(rejected)).toEqual({
      value: { working: { executing: 'recording' } },
      tags: ['working', 'saving'],
      effects: [decided('reject', 'Ann', 'no receipt'), counted('resolved', 'reject', 'Ann')],
    });
    expect(rejected.snapshot.context).toMatchObject({
      deferral: null,
      held: null,
      pending: [],
      now: times.decided,
      failure: null,
      exchanges: [{ call: aCall(), result: 'defer: rejected by Ann: no receipt' }],
      settled: { id: 'call-1', decision: 'reject', approver: 'Ann', note: 'no receipt' },
    });
    const heard = step(rejected, saved());
    expect(heard.effects.at(-1)).toMatchObject([
      'start',
      'think',
      { exchanges: [{ result: 'defer: rejected by Ann: no receipt' }] },
    ]);
  });

  it('still fails when its wait times out', () => {
    const late = step(restingStates.asked(aDeferral(told)), {
      type: 'deadline.reached',
      at: times.expired,
    });
    expect(late.snapshot.context.failure?.kind).toBe('timedOut');
  });
});

describe('a deferred task that stays deferred', () => {
  it.each([
    ['another deferral', { deferralId: 'call-9' }, { kind: 'otherDeferral', pendingId: 'call-1' }],
    [
      'other arguments',
      { argsSha256: 'b2'.repeat(32) },
      { kind: 'otherArguments', pendingSha256: digest },
    ],
  ] as const)('refuses a decision that was pinned to %s', (_, pin, answer) => {
    const parked = restingStates.asked();
    const refused = decideAgain(parked, pin);
    expect(refused.snapshot.value).toEqual({ deferred: 'asked' });
    expect(refused.effects).toEqual([['emit', { type: 'decision.answered', answer }]]);
    expect(refused.snapshot.context).toEqual(parked.snapshot.context);
  });

  it.each(['approve', 'reject'] as const)('refuses an unlisted %s and audits it', (verb) => {
    const listed = { approvers: ['ann@example.com'] };
    const refused = decide({ verb, approver: 'Bob', email: 'bob@example.com', note: 'me' }, listed);
    expect(seen(refused)).toEqual({
      value: { deferred: 'asked' },
      tags: ['deferred', 'asked'],
      effects: [
        [
          'note',
          {
            type: 'deferral.refused',
            call: { callId: 'call-1', argsSha256: digest, deferralId: 'call-1' },
            method: 'none',
            tool: 'issue_refund',
            decision: verb,
            approver: 'Bob',
            note: 'me',
            wait: 28_000,
            vouchedBy: 'asserted',
            caller: null,
          },
        ],
        ['emit', { type: 'decision.answered', answer: { kind: 'forbidden' } }],
      ],
    });
    expect(refused.snapshot.context.deferral).toEqual(aDeferral(listed));
  });

  it('stays deferred after a decision whose path does not count', () => {
    const refused = decide({ approver: 'Ann', source: 'slack', isUntrusted: true });
    expect(seen(refused)).toEqual({
      value: { deferred: 'asked' },
      tags: ['deferred', 'asked'],
      effects: [
        [
          'note',
          {
            type: 'deferral.refused',
            call: { callId: 'call-1', argsSha256: digest, deferralId: 'call-1' },
            method: 'chat',
            tool: 'issue_refund',
            decision: 'approve',
            approver: 'Ann',
            note: '',
            wait: 28_000,
            vouchedBy: 'chat:slack',
            caller: null,
            source: 'slack',
          },
        ],
        ['emit', { type: 'decision.answered', answer: { kind: 'forbidden' } }],
      ],
    });
  });

  it('records approvals below the quorum and runs at the last one', () => {
    const first = decide({ approver: 'Ann' }, { quorum: 2 });
    expect(seen(first)).toEqual({
      value: { deferred: 'asked' },
      tags: ['deferred', 'asked'],
      effects: [decided('approve', 'Ann'), counted('recorded', 'approve', 'Ann')],
    });
    expect(first.snapshot.context.deferral?.approvals).toEqual([
      { approver: 'Ann', at: times.decided },
    ]);
    const last = decideAgain(first, { approver: 'Bob' });
    expect(last.effects.slice(0, 2)).toEqual([
      decided('approve', 'Bob'),
      counted('resolved', 'approve', 'Bob'),
    ]);
    expect(last.snapshot.context.settled).toMatchObject({ decision: 'approve', approver: 'Bob' });
  });

  it('fails on one rejection, with any number of approvals', () => {
    const two = decideAgain(decide({ approver: 'Ann' }, { quorum: 3 }), { approver: 'Bob' });
    const rejected = decideAgain(two, { verb: 'reject', approver: 'Eve' });
    expect(rejected.snapshot.value).toBe('failed');
    expect(rejected.snapshot.context.failure?.text).toBe('defer: rejected by Eve');
  });
});

describe('a deferred task whose wait ends without a decision', () => {
  const timedOut: Effect = [
    'note',
    {
      type: 'deferral.timedOut',
      call: held,
      tool: 'issue_refund',
      timeout: 300_000,
      wait: 300_000,
    },
  ];
  const autoDeny = {
    kind: 'timedOut',
    tool: 'issue_refund',
    text: 'defer: no decision within 5m0s (auto-deny)',
  };

  it('continues with the timeout as the result of the call where the model receives it', () => {
    const waiting = restingStates.asked(aDeferral({ onTimeout: 'tool_result' }));
    const late = step(waiting, { type: 'deadline.reached', at: times.expired });
    expect(seen(late)).toEqual({
      value: { working: { executing: 'recording' } },
      tags: ['working', 'saving'],
      effects: [timedOut],
    });
    expect(late.snapshot.context).toMatchObject({
      deferral: null,
      settled: null,
      held: null,
      pending: [],
      now: times.expired,
      failure: null,
      exchanges: [{ call: aCall(), result: autoDeny.text }],
    });
    expect(decideAgain(late, {}).effects).toEqual([
      ['emit', { type: 'decision.answered', answer: { kind: 'notPending' } }],
    ]);
    expect(seen(step(late, saved())).value).toEqual({ working: 'thinking' });
  });

  it.each(['approve', 'reject'] as const)(
    'continues without the call on an %s at the deadline where the model receives it',
    (verb) => {
      const late = decide({ verb, at: times.expired }, { onTimeout: 'tool_result' });
      expect(seen(late)).toEqual({
        value: { working: { executing: 'recording' } },
        tags: ['working', 'saving'],
        effects: [
          timedOut,
          ['emit', { type: 'decision.answered', answer: { kind: 'notPending' } }],
        ],
      });
      expect(late.snapshot.context.exchanges).toMatchObject([{ result: autoDeny.text }]);
    },
  );

  it('fails at its deadline', () => {
    const late = step(restingStates.asked(), { type: 'deadline.reached', at: times.expired });
    expect(seen(late)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [timedOut, ended],
    });
    expect(late.snapshot.context).toMatchObject({
      deferral: null,
      settled: null,
      failure: autoDeny,
    });
  });

  it.each(['approve', 'reject'] as const)('fails on an %s that arrives at the deadline', (verb) => {
    const late = decide({ verb, at: times.expired });
    expect(seen(late)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [
        timedOut,
        ['emit', { type: 'decision.answered', answer: { kind: 'notPending' } }],
        ended,
      ],
    });
    expect(late.snapshot.context).toMatchObject({
      deferral: null,
      settled: null,
      failure: autoDeny,
    });
  });

  it('accepts a decision one millisecond before the deadline', () => {
    expect(decide({ at: times.expired - 1 }).snapshot.hasTag('working')).toBe(true);
  });

  it.each([
    ['caller.left', 'caller_disconnected', 'defer: abandoned, caller disconnected'],
    ['service.restarted', 'service_restart', 'defer: abandoned by service restart'],
  ] as const)('fails on %s', (type, reason, text) => {
    const abandoned = step(restingStates.asked(), { type, at: times.decided });
    expect(seen(abandoned)).toEqual({
      value: 'failed',
      tags: ['failed', 'final'],
      effects: [
        [
          'note',
          {
            type: 'deferral.abandoned',
            call: { callId: 'call-1', argsSha256: digest, deferralId: 'call-1' },
            tool: 'issue_refund',
            reason,
            wait: 28_000,
          },
        ],
        ended,
      ],
    });
    expect(abandoned.snapshot.context).toMatchObject({
      deferral: null,
      settled: null,
      failure: { kind: 'abandoned', tool: 'issue_refund', text },
    });
  });

  it('is canceled with the given reason', () => {
    const event = { type: 'task.cancel', reason: 'over budget', at: times.decided } as const;
    const off = step(restingStates.asked(), event);
    expect(seen(off)).toEqual({
      value: 'canceled',
      tags: ['canceled', 'final'],
      effects: [
        [
          'note',
          {
            type: 'deferral.abandoned',
            call: { callId: 'call-1', argsSha256: digest, deferralId: 'call-1' },
            tool: 'issue_refund',
            reason: 'canceled',
            wait: 28_000,
          },
        ],
        ['note', { type: 'invocation.cancelled', reason: 'over budget' }],
        ['note', { type: 'session.ended', state: 'canceled' }],
      ],
    });
    expect(off.snapshot.context).toMatchObject({ deferral: null, cancelReason: 'over budget' });
  });
});

describe('a decision while nothing is pending', () => {
  it.each(['thinking', 'governing', 'starting', 'running', 'recording'] as const)(
    'is refused as such while the task is %s',
    (state) => {
      const from = restingStates[state]();
      const after = decideAgain(from, {});
      expect(after.effects).toEqual([
        ['emit', { type: 'decision.answered', answer: { kind: 'notPending' } }],
      ]);
      expect(after.snapshot.toJSON()).toEqual(from.snapshot.toJSON());
    },
  );
});
