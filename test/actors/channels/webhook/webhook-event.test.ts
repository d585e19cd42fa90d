import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  webhookEvent,
  webhookEventType,
  webhookId,
} from '../../../../src/actors/channels/webhook/webhook-event.ts';
import { deferral } from '../../../../src/http/wire/deferral.ts';
import type {
  ApprovalNews,
  ApprovalOutcome,
} from '../../../../src/machines/channels/approval-notice.ts';
import { aFirstEffect, aMeasuredLimit } from '../../../helpers/limit-fixtures.ts';
import { aNotice, asked, outcomes } from './a-notice.ts';

const sender = {
  agentId: 'refunds',
  agentUrl: 'http://127.0.0.1:8080',
  dashboardUrl: 'https://dash.example.test/',
};

const now = asked + 1_000;

const data = {
  agent_id: 'refunds',
  task_id: 'task:1',
  deferral_id: '0199aaaa-0000-7000-8000-000000000001',
  tool: 'issue_refund',
  context: 'pays back 40 € for order A-1042',
  args_sha256: 'a1'.repeat(32),
  requester: 'rita@example.com',
  target: 'channel:webhook:ops',
  approvers: ['ann@example.com', 'bob@example.com'],
  quorum: 1,
  approvals: [],
  requested_at: '2026-03-04T05:06:07.008Z',
  expires_at: '2026-03-04T05:11:07.008Z',
  decision_url: 'http://127.0.0.1:8080/tasks/task%3A1/decisions',
  approval_url: 'https://dash.example.test/#/approvals/task%3A1',
};

it('a webhook event has each field that it shares with a deferral of the HTTP surface in the same form', () => {
  const notice = aNotice({
    args: { amount: 40 },
    messages: [{ from: null, text: 'stop', at: asked }],
    repeats: { callId: 'call-0', at: asked, approver: 'Ann' },
    limits: [aMeasuredLimit()],
    first: aFirstEffect(),
    requests: 2,
    approvals: [{ approver: 'Ann', at: asked }],
  });
  const { data: sent } = webhookEvent('approval.requested', notice, sender, now);
  // A receiver gets the requester as one text.
  const { requester: _, ...fields } = deferral.shape;
  const shared = Object.entries(fields).filter(([name]) => name in sent);
  expect(shared.map(([name]) => name)).toEqual([
    ...['deferral_id', 'task_id', 'tool', 'context', 'args', 'args_sha256', 'repeats', 'limits'],
    ...['first', 'requests'],
    ...['requested_at', 'expires_at', 'approvers', 'quorum', 'approvals', 'messages'],
  ]);
  for (const [name, schema] of shared) expect(schema.parse(sent[name])).toStrictEqual(sent[name]);
});

describe('the call in a webhook event', () => {
  const messages = [{ from: 'rita@example.com', text: 'stop', at: asked + 500 }];
  const notice = aNotice({ args: { amount: 40 }, messages });

  it('has its arguments and the later messages, with their time', () => {
    const event = webhookEvent('approval.message', notice, sender, now);
    expect(event).toStrictEqual({
      type: 'approval.message',
      timestamp: '2026-03-04T05:06:07.508Z',
      data: {
        ...data,
        args: { amount: 40 },
        messages: [{ from: 'rita@example.com', text: 'stop', at: '2026-03-04T05:06:07.508Z' }],
      },
    });
  });

  it('has the number of requests, with another id for each request', () => {
    const [second, third] = [aNotice({ requests: 2 }), aNotice({ requests: 3 })];
    const event = webhookEvent('approval.repeated', second, sender, now);
    expect(event.data).toStrictEqual({ ...data, requests: 2 });
    expect(webhookId('approval.repeated', third)).not.toBe(webhookId('approval.repeated', second));
  });

  it('has another id for each message', () => {
    const more = aNotice({ messages: [...messages, { from: 'rita@example.com', text: 'now' }] });
    expect(webhookId('approval.message', more)).not.toBe(webhookId('approval.message', notice));
  });
});

describe('webhookEventType', () => {
  it.each<[ApprovalNews | null, 'asked' | 'reminded' | 'escalated', string]>([
    [null, 'asked', 'approval.requested'],
    [null, 'reminded', 'approval.requested'],
    [null, 'escalated', 'approval.escalated'],
    ['reminded', 'reminded', 'approval.reminded'],
    ['changed', 'escalated', 'approval.escalated'],
    ['written', 'reminded', 'approval.message'],
    ['repeated', 'escalated', 'approval.repeated'],
    ['counted', 'asked', 'approval.counted'],
    ['counted', 'escalated', 'approval.counted'],
  ])('names %j in the stage %s %s', (news, stage, type) => {
    expect(webhookEventType(aNotice({ stage }), news)).toBe(type);
  });

  it.each<[ApprovalOutcome, string]>([
    [outcomes.approved, 'approval.approved'],
    [outcomes.rejected, 'approval.rejected'],
    [outcomes.timedOut, 'approval.timed_out'],
    [outcomes.canceled, 'approval.canceled'],
    [outcomes.abandoned, 'approval.abandoned'],
  ])('names an outcome, also without an earlier post: %j', (outcome, type) => {
    const notice = aNotice({ stage: 'escalated' }, outcome);
    expect([webhookEventType(notice, null), webhookEventType(notice, 'ended')]).toEqual([
      type,
      type,
    ]);
  });
});

describe('webhookEvent', () => {
  it('names the waiting call, without its arguments or other data', () => {
    expect(webhookEvent('approval.requested', aNotice(), sender, now)).toStrictEqual({
      type: 'approval.requested',
      timestamp: '2026-03-04T05:06:07.008Z',
      data,
    });
  });

  it('contains null for unknown values', () => {
    const notice = aNotice({ requester: null, approvers: null });
    const event = webhookEvent(
      'approval.requested',
      notice,
      { ...sender, dashboardUrl: null },
      now,
    );
    expect(event.data).toStrictEqual({
      ...data,
      requester: null,
      approvers: null,
      approval_url: null,
    });
  });

  it('contains the time of the last counted approval', () => {
    const approvals = [
      { approver: 'ann@example.com', at: asked + 10_000 },
      { approver: 'bob@example.com', at: asked + 20_000 },
    ];
    const notice = aNotice({ quorum: 3, approvals });
    expect(webhookEvent('approval.counted', notice, sender, now)).toStrictEqual({
      type: 'approval.counted',
      timestamp: '2026-03-04T05:06:27.008Z',
      data: {
        ...data,
        quorum: 3,
        approvals: [
          { approver: 'ann@example.com', at: '2026-03-04T05:06:17.008Z' },
          { approver: 'bob@example.com', at: '2026-03-04T05:06:27.008Z' },
        ],
      },
    });
  });

  it.each(['approval.reminded', 'approval.escalated'] as const)(
    'of %s contains its time',
    (type) => {
      const { timestamp } = webhookEvent(type, aNotice(), sender, now);
      expect(timestamp).toBe('2026-03-04T05:06:08.008Z');
    },
  );

  it.each([
    [outcomes.approved, { kind: 'approved', approver: 'ann@example.com', note: 'checked' }],
    [outcomes.rejected, { kind: 'rejected', approver: 'bob@example.com', note: '' }],
    [outcomes.timedOut, { kind: 'timed_out' }],
    [outcomes.canceled, { kind: 'canceled', reason: 'workflow_failure' }],
    [outcomes.abandoned, { kind: 'abandoned', reason: 'service_restart' }],
  ])('contains the end of the wait: %j', (outcome, told) => {
    const notice = aNotice({}, outcome);
    const type = webhookEventType(notice, 'ended');
    const at = '2026-03-04T05:07:07.008Z';
    expect(webhookEvent(type, notice, sender, now)).toStrictEqual({
      type,
      timestamp: at,
      data: { ...data, outcome: { ...told, at } },
    });
  });

  it('can be read back from JSON, for any text of a model', () => {
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (context, tool) => {
        const event = webhookEvent('approval.requested', aNotice({ context, tool }), sender, now);
        expect(JSON.parse(JSON.stringify(event))).toEqual(event);
      }),
    );
  });
});

describe('webhookId', () => {
  it('is the same for the same content at any time', () => {
    const id = webhookId('approval.requested', aNotice());
    expect(id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(webhookId('approval.requested', aNotice({ stage: 'reminded' }))).toBe(id);
  });

  it('differs for each target, call and content', () => {
    const approval = { approver: 'ann@example.com', at: asked };
    const ids = [
      webhookId('approval.requested', aNotice()),
      webhookId('approval.reminded', aNotice()),
      webhookId('approval.requested', aNotice({ target: 'channel:webhook:boss' })),
      webhookId('approval.requested', aNotice({ taskId: 'task:2' })),
      webhookId('approval.requested', aNotice({ deferralId: 'another' })),
      webhookId('approval.counted', aNotice({ approvals: [approval] })),
      webhookId('approval.counted', aNotice({ approvals: [approval, approval] })),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});
