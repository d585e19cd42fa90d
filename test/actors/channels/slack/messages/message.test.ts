import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkBlocks } from '../../../../../packages/fake-slack/web-api/block-limits.ts';
import { messageOf, pageOf } from '../../../../../src/actors/channels/slack/messages/message.ts';
import { rejectModal } from '../../../../../src/actors/channels/slack/messages/reject-modal.ts';
import type {
  ApprovalNotice,
  ApprovalOutcome,
  ApprovalRequest,
} from '../../../../../src/machines/channels/approval-notice.ts';
import type { JsonValue } from '../../../../../src/machines/json.ts';
import { legible } from '../../../../../src/machines/legible.ts';
import { textsOf } from '../../../../helpers/slack-in-words.ts';
import { aNotice, aRequest, asked, endings, trickyContext } from '../slack-notices.ts';

const noDashboard = { dashboardUrl: null };
const dashboard = { dashboardUrl: 'https://desk.example/' };

function plain(text: string) {
  return { type: 'plain_text', text, emoji: false };
}

describe('a message that asks for a decision', () => {
  it('has a heading, the requester, the context, the approvers, the deadline and buttons', () => {
    const notice = aNotice({ approvers: ['ann@example.com'], quorum: 2, fourEyes: true });
    expect(messageOf(notice, dashboard)).toEqual({
      text: 'Approval needed: issue_refund, requested by rita@example.com',
      blocks: [
        { type: 'header', text: plain('Approval needed: issue_refund') },
        { type: 'section', text: plain('Tool: issue_refund\nRequested by: rita@example.com') },
        {
          type: 'rich_text',
          elements: [
            {
              type: 'rich_text_preformatted',
              elements: [
                { type: 'text', text: 'Refund 40 € for order A-1042 to rita@example.com' },
              ],
            },
          ],
        },
        {
          type: 'section',
          text: plain(
            'Who can decide: ann@example.com\nFour eyes: the requester may not decide.\n' +
              'Approvals: 0 of 2, one rejection rejects',
          ),
        },
        {
          type: 'context',
          elements: [
            {
              type: 'mrkdwn',
              text:
                'Auto-deny <!date^1782896700^{date_short_pretty} at {time}|2026-07-01 09:05 UTC>, ' +
                'after 5m0s without a decision.',
              verbatim: true,
            },
          ],
        },
        {
          type: 'actions',
          block_id: 'holdpoint:task-1',
          elements: [
            {
              type: 'button',
              action_id: 'holdpoint_approve',
              text: plain('Approve'),
              style: 'primary',
              value: '0199aaaa-0000-7000-8000-000000000001',
            },
            {
              type: 'button',
              action_id: 'holdpoint_reject',
              text: plain('Reject'),
              style: 'danger',
              value: '0199aaaa-0000-7000-8000-000000000001',
            },
            {
              type: 'button',
              action_id: 'holdpoint_open',
              text: plain('Open in the dashboard'),
              url: 'https://desk.example/#/approvals/task-1',
            },
          ],
        },
      ],
    });
  });

  it('states that the call was requested more than once', () => {
    const said = textsOf(messageOf(aNotice({ requests: 3 }), noDashboard));
    expect(said.map(({ text }) => text)).toContain('Requested 3 times; it runs once.');
  });

  it('has no link without a dashboard', () => {
    for (const notice of [aNotice(), aNotice({}, endings.approved)]) {
      expect(JSON.stringify(messageOf(notice, noDashboard))).not.toContain('http');
    }
  });

  it('states that a blank context is missing', () => {
    const { blocks } = messageOf(aNotice({ context: ' \n' }), noDashboard);
    expect(textsOf(blocks).map(({ text }) => text)).toContain(
      'No further details of the call are available.',
    );
  });

  it('lists twenty approvers and counts the others', () => {
    const approvers = Array.from({ length: 23 }, (_, index) => `a${index}@example.com`);
    const { blocks } = messageOf(aNotice({ approvers }), noDashboard);
    const names = approvers.slice(0, 20).join(', ');
    expect(textsOf(blocks)[3]).toEqual({
      type: 'plain_text',
      text: `Who can decide: ${names}, 3 more`,
    });
  });

  it('shows a context unchanged, with invisible characters visible', () => {
    const { blocks } = messageOf(aNotice({ context: trickyContext }), noDashboard);
    expect(textsOf(blocks)[2]).toEqual({ type: 'text', text: legible(trickyContext) });
  });
});

describe('the page of a task', () => {
  it('has a valid URL for any id and any end of the address', () => {
    const page = 'https://desk.example/base/#/approvals/a%3Ab.c_d-e';
    for (const end of ['', '/', '//']) {
      expect(pageOf('a:b.c_d-e', { dashboardUrl: `https://desk.example/base${end}` })).toBe(page);
    }
    expect(pageOf('a', noDashboard)).toBeNull();
  });
});

/** Texts of all kinds, many of which look like markup. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 4_000 }),
  fc
    .array(
      fc.constantFrom(
        '<!channel>',
        '<@U1>',
        '<#C1>',
        '<http://e.x|a>',
        '&lt;',
        '<',
        '>',
        '&',
        '|',
        '*',
        '`',
        '\n',
        ' ',
        '\u202E',
        '\uD83D',
        '😀',
        '…',
        'a',
        ':tada:',
        '<!date^1^{ago}|x>',
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join('')),
);

/** Some of them under four eyes. */
function maybeFourEyes<Rule>(rule: fc.Arbitrary<Rule>): fc.Arbitrary<Rule & { fourEyes?: true }> {
  return fc
    .tuple(rule, fc.constantFrom({}, { fourEyes: true as const }))
    .map(([one, option]) => ({ ...one, ...option }));
}

const request: fc.Arbitrary<ApprovalRequest> = maybeFourEyes(
  fc.record({
    taskId: fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/),
    deferralId: fc.uuid(),
    tool: text,
    context: text,
    argsSha256: fc.constant('a1'.repeat(32)),
    requester: fc.option(text),
    target: fc.constant('channel:slack:#refunds'),
    approvers: fc.option(fc.array(text, { maxLength: 40 })),
    quorum: fc.integer({ min: 1, max: 5 }),
    approvals: fc.array(fc.record({ approver: text, at: fc.constant(asked) }), { maxLength: 5 }),
    stage: fc.constantFrom('asked', 'reminded', 'escalated'),
    timeout: fc.integer({ min: 1, max: 2_073_600_000 }),
    requestedAt: fc.constant(asked),
    expiresAt: fc.integer({ min: asked, max: asked + 2_073_600_000 }),
  }),
);

const at = fc.constant(asked + 1_000);
const outcome: fc.Arbitrary<ApprovalOutcome | null> = fc.oneof(
  fc.constant(null),
  fc.record({ kind: fc.constantFrom('approved', 'rejected'), approver: text, note: text, at }),
  fc.record({ kind: fc.constant('timedOut'), at }),
  fc.record({ kind: fc.constant('canceled'), reason: text, at }),
  fc.record({
    kind: fc.constant('abandoned'),
    reason: fc.constantFrom('service_restart', 'caller_disconnected'),
    at,
  }),
);
const notice: fc.Arbitrary<ApprovalNotice> = fc.record({ request, outcome });

/** All the markup that is ever ours. */
const ourMarkup =
  /^(?:Auto-deny DATE, after [0-9.hms]+ without a decision\.|DATE|LINK|Reminder: half of the time is over\.|Escalated: no decision in time, so more approvers are notified\.|No further details of the call are available\.|The text above is cut\. Read the rest in the (?:task|dashboard) before you decide\.)$/;
const ourDate =
  /<!date\^\d+\^\{date_short_pretty\} at \{time\}\|\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC>/g;
const ourLink = /<https:\/\/desk\.example\/#\/approvals\/[A-Za-z0-9._%-]+\|Open in the dashboard>/g;

describe('any message', () => {
  it('contains only our own markup', () => {
    fc.assert(
      fc.property(notice, fc.constantFrom(noDashboard, dashboard), (any, look) => {
        for (const { type, text: shown } of textsOf(messageOf(any, look).blocks)) {
          if (type !== 'mrkdwn') continue;
          const kinds = shown.replaceAll(ourDate, 'DATE').replaceAll(ourLink, 'LINK');
          expect(kinds).toMatch(ourMarkup);
        }
      }),
    );
  });

  it('has a fallback on one line that can neither mention nor link', () => {
    fc.assert(
      fc.property(notice, (any) => {
        const { text: fallback } = messageOf(any, dashboard);
        expect(fallback).toMatch(/^(?:[^<>&\n]|&(?:amp|lt|gt);)+$/u);
        expect(fallback.length).toBeLessThan(2_500);
      }),
    );
  });

  it('fits the limits of Slack, and shows every character', () => {
    fc.assert(
      fc.property(notice, (any) => {
        const { blocks } = messageOf(any, dashboard);
        const json = JSON.parse(JSON.stringify(blocks)) as JsonValue;
        checkBlocks(json, { error: 'invalid_blocks', most: 50, path: '/blocks' });
        for (const { text: shown } of textsOf(blocks)) {
          expect(shown).not.toBe('');
          expect(shown.length).toBeLessThanOrEqual(3_000);
          expect(legible(shown)).toBe(shown);
        }
      }),
    );
  });

  it('has our own words on separate lines, to which other text is never added', () => {
    fc.assert(
      fc.property(notice, (any) => {
        const [heading, whoAsks] = textsOf(messageOf(any, dashboard).blocks);
        expect(heading?.text.split('\n')).toHaveLength(1);
        expect(whoAsks?.text).toMatch(/^Tool: .+\nRequested by: .+$/u);
      }),
    );
  });

  it('has the two buttons of its deferral while it waits, and none after it', () => {
    fc.assert(
      fc.property(notice, (any) => {
        const actions = messageOf(any, noDashboard).blocks.filter(({ type }) => type === 'actions');
        const values = actions.flatMap((block: any) =>
          block.elements.map(({ value }: any) => value),
        );
        const { deferralId } = any.request;
        expect(values).toEqual(any.outcome === null ? [deferralId, deferralId] : []);
      }),
    );
  });
});

describe('any form that asks for a reason', () => {
  it('has no markup and fits the limits of Slack', () => {
    fc.assert(
      fc.property(request, (any) => {
        const place = { deferralId: any.deferralId, channel: 'C0REFUNDS1', ts: '1.000001' };
        const { blocks } = rejectModal(any, place);
        const json = JSON.parse(JSON.stringify(blocks)) as JsonValue;
        checkBlocks(json, { error: 'invalid_arguments', most: 100, path: '/view/blocks' });
        expect(textsOf(blocks).map(({ type }) => type)).toEqual(Array(3).fill('plain_text'));
      }),
    );
  });

  it('stores no more than Slack accepts', () => {
    const place = { deferralId: 'd'.repeat(128), channel: 'C'.repeat(20), ts: '1782896400.000100' };
    const { private_metadata } = rejectModal(aRequest(), place);
    expect(JSON.parse(private_metadata ?? '')).toEqual(place);
    expect(private_metadata?.length).toBeLessThan(3_000);
  });
});
