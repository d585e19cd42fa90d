import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { teamsMessage } from '../../../../src/actors/channels/teams/teams-card.ts';
import type { ApprovalRequest } from '../../../../src/machines/channels/approval-notice.ts';
import { aNotice, aRequest } from '../../../helpers/approval-notices.ts';
import { linesOf, type TeamsCard, teamsSchema } from '../../../helpers/fake-teams.ts';

const page = 'https://approvals.example.com/approvals/#/calls/call-1';
/** Maximum bytes of a message, with room for the markup of Teams itself. */
const most = 26 * 1024;

function cardOf(request: Partial<ApprovalRequest>, mentioned: string[] = []): TeamsCard {
  const message = teamsMessage('asked', aNotice(request), { page, mentioned });
  expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(most);
  return teamsSchema.parse(message).attachments[0].content;
}

/** The texts of a card in which Teams reads Markdown. */
function markupIn({ body }: TeamsCard): string[] {
  return body.flatMap((block) => (block.type === 'TextBlock' ? [block.text] : []));
}

describe('a card', () => {
  it('shows an argument as text, in which Teams finds no mention, link or date', () => {
    const args = {
      why: '<at>ann@example.com</at> [Approve](https://evil.example) {{DATE(2026-01-01T00:00:00Z)}}',
      'x\n**Approved**': '# Approved < AT >',
    };
    const card = cardOf({ args, context: '', tool: 'pay **now**' }, ['ann@example.com']);
    expect(linesOf(card).slice(0, 4)).toEqual([
      'Approval needed',
      'Tool: pay **now**',
      String.raw`"x\n**Approved**": "# Approved \u003c AT >"`,
      String.raw`why: "\u003cat>ann@example.com\u003c/at> [Approve](https://evil.example) \u007b{DATE(2026-01-01T00:00:00Z)}}"`,
    ]);
    expect(markupIn(card)).toEqual([
      'Approval needed',
      '<at>ann@example.com</at>',
      expect.stringMatching(/^Denied without a decision on \{\{DATE\(/),
    ]);
  });

  it('states the number of arguments without a line', () => {
    const args = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`field_${index}`, 'é'.repeat(150)]),
    );
    const lines = linesOf(cardOf({ args, context: 'one **context**' }));
    const shown = lines.filter((line) => line.startsWith('field_')).length;
    expect(shown).toBeGreaterThan(20);
    expect(lines).toContain(`${300 - shown} more arguments on the page.`);
    expect(lines).toContain('one **context**');
  });

  it('states that a long context or argument is cut', () => {
    const cut = 'A part of the call is not shown here; the page shows it.';
    const long = 'a line of text\n'.repeat(2_000);
    expect(linesOf(cardOf({ context: long, args: { amount: 5 } }))).toContain(cut);
    expect(linesOf(cardOf({ context: '', args: { text: long } }))).toContain(cut);
    expect(linesOf(cardOf({ context: '', args: { amount: 5 } }))).not.toContain(cut);
  });

  it('fits into a message of Teams, with any content', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 4_000 }), fc.string());
    const names = Array.from({ length: 40 }, (_, at) => `${'n'.repeat(200)}${at}@example.com`);
    fc.assert(
      fc.property(text, text, fc.dictionary(text, text), (tool, context, args) => {
        const rest = { requester: context, approvers: names, quorum: 2, fourEyes: true } as const;
        const approvals = names.map((approver) => ({ approver, at: 1 }));
        const request = aRequest({ tool, context, args, ...rest });
        cardOf({ ...request, approvals } as Partial<ApprovalRequest>, names.slice(0, 20));
      }),
      { numRuns: 60 },
    );
  });
});
