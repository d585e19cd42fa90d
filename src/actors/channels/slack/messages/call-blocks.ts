import type { KnownBlock } from '@slack/types';
import { type ApprovalRequest, factWords } from '../../../../machines/channels/approval-notice.ts';
import {
  type ArgumentLines,
  argumentLines,
  isDefaultContext,
} from '../../../../machines/channels/argument-lines.ts';
import { legible, oneLine } from '../../../../machines/legible.ts';
import { longestSection, quotation, section, smallPrint } from './blocks.ts';
import { cut, escapeMarkup } from './escape.ts';

/** Maximum length of a context that repeats the arguments below it, in characters. */
const longestRepeat = 300;

/** Maximum facts about a call; a message has at most 50 blocks. */
const mostFacts = 20;

/** Maximum characters of a fact about a call. */
const longestFact = 2_000;

/** Maximum messages shown in a notice, and characters of each. */
const written = { most: 5, longest: 300 };

/**
 * Renders what would run: the context, and each argument on its own line. Truncation is always indicated; a truncated
 * call must be opened before it can be approved.
 */
export function callBlocks(
  request: ApprovalRequest,
  isWaiting = true,
): { blocks: KnownBlock[]; isCut: boolean } {
  const context = legible(request.context);
  const lines = linesOf(request);
  const isContextCut = !fits(context);
  const isRepeat = isDefaultContext(request) && (isContextCut || context.length > longestRepeat);
  const facts = factWords(request)
    .slice(0, mostFacts)
    .map((text) => cut(text, longestFact));
  const blocks: KnownBlock[] = [
    ...facts.map((text) => section(escapeMarkup(text))),
    ...(context.trim() === '' || isRepeat ? [] : [quotation(context)]),
    ...(lines === null || lines.lines.length === 0 ? [] : [quotation(lines.lines.join('\n'))]),
  ];
  const isCut = (isContextCut && !isRepeat) || (lines !== null && lines.isCut);
  if (isCut) blocks.push(smallPrint(cutWords(lines?.leftOut ?? 0, isWaiting)));
  if (blocks.length === 0) blocks.push(smallPrint('No further details of the call are available.'));
  return { blocks, isCut };
}

/** Renders the messages added to the task since the call was held. */
export function writtenBlocks({ messages = [], requester }: ApprovalRequest): KnownBlock[] {
  if (messages.length === 0) return [];
  const shown = messages.slice(-written.most);
  const heading = messages.every(({ from }) => from === requester)
    ? 'The requester has written since:'
    : 'Written since:';
  const lines = shown.map(({ from, text }) => {
    const said = cut(oneLine(text, '(nothing)'), written.longest);
    return from === requester ? said : `${cut(oneLine(from), 100)}: ${said}`;
  });
  const earlier = messages.length - shown.length;
  return [
    section(heading),
    quotation(lines.join('\n')),
    ...(earlier === 0 ? [] : [smallPrint(`${earlier} more before these.`)]),
  ];
}

function linesOf({ args }: ApprovalRequest): ArgumentLines | null {
  return args === undefined ? null : argumentLines(args, (lines) => fits(lines.join('\n')));
}

function fits(text: string): boolean {
  return text.length <= longestSection && escapeMarkup(text).length <= longestSection;
}

function cutWords(leftOut: number, isWaiting: boolean): string {
  const rest = leftOut === 0 ? '' : `, and ${leftOut} more arguments have no line`;
  const way = isWaiting ? ' *Approve* first opens the whole of it.' : '';
  return `Parts of this call are cut${rest}.${way}`;
}
