import {
  type ApprovalNotice,
  type ApprovalRequest,
  approvedChangeWords,
  callOutcomeWords,
  factWords,
  requesterWords,
} from '../../../machines/channels/approval-notice.ts';
import { argumentLines, isDefaultContext } from '../../../machines/channels/argument-lines.ts';
import { endingOf, reasonOf } from '../../../machines/channels/outcome-words.ts';
import { whoMayDecide } from '../../../machines/channels/who-may-decide.ts';
import { nameInWords } from '../../../machines/governance/caller-name.ts';
import { legible, oneLine } from '../../../machines/legible.ts';
import { type NoticeKind, noticeHeadings } from '../notice-kind.ts';

/** Text in the markup of Teams; it must be the app's own. */
interface OwnText {
  type: 'TextBlock';
  text: string;
  wrap: true;
  weight?: 'Bolder';
  size?: 'Medium';
}

/** Text that Teams does not parse as Markdown. */
interface ForeignText {
  type: 'RichTextBlock';
  spacing?: 'None';
  inlines: [{ type: 'TextRun'; text: string; fontType?: 'Monospace' }];
}

type Block = OwnText | ForeignText;

interface Mention {
  type: 'mention';
  text: string;
  mentioned: { id: string; name: string };
}

/** A message as a webhook of Teams accepts it, with one adaptive card. */
export interface TeamsMessage {
  type: 'message';
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive';
      contentUrl: null;
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json';
        type: 'AdaptiveCard';
        version: '1.4';
        body: Block[];
        actions: [{ type: 'Action.OpenUrl'; title: string; url: string }];
        msteams: { width: 'Full'; entities: Mention[] };
      };
    },
  ];
}

/** What a card is rendered with. */
export interface TeamsCardLook {
  /** Address of the page on which people decide. */
  page: string;
  /** Emails of the mentioned people. */
  mentioned: readonly string[];
}

/** Maximum bytes of a message; Teams accepts about 28 KB, which includes its own markup. */
const longestMessage = 25_000;

/** Maximum facts about a call besides its arguments. */
const mostFacts = 8;

/** Maximum bytes of a line, of the context, and of the mentions. */
const longest = { line: 1_000, context: 3_000, mentions: 4_000 };

/**
 * Renders a card about a held call: a request, or a short further card with a reminder or the outcome, since a webhook
 * cannot update a message. Untrusted text is never rendered as markup (docs/contract/chat.md).
 */
export function teamsMessage(
  kind: NoticeKind,
  notice: ApprovalNotice,
  { page, mentioned }: TeamsCardLook,
): TeamsMessage {
  const { request } = notice;
  const isWaiting = kind === 'asked' || kind === 'reminded';
  const mentions = isWaiting ? mentionsOf(mentioned) : [];
  const begin: Block[] = [
    { ...own(noticeHeadings[kind]), weight: 'Bolder', size: 'Medium' },
    foreign(`Tool: ${oneLine(request.tool)}`),
  ];
  const end: Block[] = [
    ...(isWaiting ? waiting(kind, request) : ended(notice)),
    ...(mentions.length === 0 ? [] : [own(mentions.map(({ text }) => text).join(' '))]),
    ...(isWaiting ? [deadline(request)] : []),
  ];
  const message = (call: Block[]): TeamsMessage => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [...begin, ...call, ...end],
          actions: [{ type: 'Action.OpenUrl', title: 'Open the call', url: page }],
          msteams: { width: 'Full', entities: mentions },
        },
      },
    ],
  });
  if (kind !== 'asked') return message([]);
  return message(callBlocks(request, longestMessage - sizeOf(message([]))));
}

/** Renders what would run: the context, and each argument on its own line, in at most `room` bytes. */
function callBlocks(request: ApprovalRequest, room: number): Block[] {
  const { args, context } = request;
  const text = legible(context);
  const isRepeat = isDefaultContext(request) || text.trim() === '';
  const shown = isRepeat ? [] : cutTo(text, longest.context).split('\n');
  const isContextCut = !isRepeat && shown.join('\n') !== text;
  const facts = factWords(request)
    .slice(0, mostFacts)
    .map((fact) => foreign(fact));
  const blocks = [...facts, ...shown.map((line) => quoted(line))];
  const left = room - sizeOf(blocks) - longest.line;
  const { lines, isCut, leftOut } = argumentLines(
    args ?? {},
    (some) => sizeOf(some.map((line) => quoted(line))) <= left,
  );
  const more = leftOut === 1 ? '1 more argument' : `${leftOut} more arguments`;
  return [
    ...blocks,
    ...lines.map((line) => quoted(line)),
    ...(leftOut > 0 ? [own(`${more} on the page.`)] : []),
    ...(args === undefined || isContextCut || (isCut && leftOut === 0)
      ? [own('A part of the call is not shown here; the page shows it.')]
      : []),
  ];
}

function waiting(kind: 'asked' | 'reminded', request: ApprovalRequest): Block[] {
  const stage = stages[request.stage];
  const last = request.messages?.at(-1);
  const lines = [
    `Requested by: ${oneLine(requesterWords(request))}`,
    ...whoMayDecide(request, 'anyone who may read the call'),
    ...(last === undefined
      ? []
      : [
          `Written since by ${oneLine(nameInWords(last.from, request.isOperators))}: ${oneLine(last.text)}`,
        ]),
  ];
  return [
    ...(stage === null ? [] : [own(stage)]),
    ...(kind === 'asked' ? lines : lines.slice(0, 2)).map((line) => foreign(line)),
  ];
}

const stages: Record<ApprovalRequest['stage'], string | null> = {
  asked: null,
  reminded: 'Reminder: half of the time is over.',
  escalated: 'Escalated: no decision in time, so more approvers are notified.',
};

function ended(notice: ApprovalNotice): Block[] {
  const result = callOutcomeWords(notice);
  const reason = reasonOf(notice);
  const changed = notice.outcome === null ? null : approvedChangeWords(notice.outcome);
  return [
    endingOf(notice),
    ...(changed === null ? [] : [changed]),
    ...(reason === null ? [] : [`${reason.label}: ${oneLine(reason.text)}`]),
    ...(result === null ? [] : [`Outcome: ${result}`]),
  ].map((line) => foreign(line));
}

/** Teams shows the time in the zone of the reader. */
function deadline({ expiresAt }: ApprovalRequest): OwnText {
  const at = `${new Date(expiresAt).toISOString().slice(0, 19)}Z`;
  return own(`Denied without a decision on {{DATE(${at}, SHORT)}} at {{TIME(${at})}}.`);
}

function mentionsOf(emails: readonly string[]): Mention[] {
  const mentions: Mention[] = [];
  for (const email of emails) {
    const mention: Mention = {
      type: 'mention',
      text: `<at>${email}</at>`,
      mentioned: { id: email, name: email },
    };
    if (sizeOf([...mentions, mention]) > longest.mentions) break;
    mentions.push(mention);
  }
  return mentions;
}

function own(text: string): OwnText {
  return { type: 'TextBlock', text, wrap: true };
}

function foreign(text: string): ForeignText {
  return {
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: inert(cutTo(text, longest.line)) }],
  };
}

function quoted(text: string): ForeignText {
  const run = { type: 'TextRun', text: inert(text), fontType: 'Monospace' } as const;
  return { type: 'RichTextBlock', spacing: 'None', inlines: [run] };
}

/**
 * Writes the beginning of a mention and of a date function as an escape of JSON, because Teams replaces both in any text
 * of a card.
 */
function inert(text: string): string {
  return text
    .replaceAll(/<(?=\s*\/?\s*at\b)/gi, '\\u003c')
    .replaceAll(/\{(?=\{\s*(?:DATE|TIME)\b)/gi, '\\u007b');
}

/** Truncates a string between code points with `…`, so that its JSON has at most `most` bytes. */
function cutTo(text: string, most: number): string {
  if (sizeOf(text) <= most) return text;
  let size = sizeOf('…');
  let kept = '';
  for (const point of text) {
    size += sizeOf(point) - 2;
    if (size > most) break;
    kept += point;
  }
  return `${kept}…`;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
