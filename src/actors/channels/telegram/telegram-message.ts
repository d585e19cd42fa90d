import { hash } from 'node:crypto';
import {
  type ApprovalNotice,
  type ApprovalRequest,
  callOutcomeWords,
  factWords,
  requesterWords,
} from '../../../machines/channels/approval-notice.ts';
import { argumentLines, isDefaultContext } from '../../../machines/channels/argument-lines.ts';
import { optionWords } from '../../../machines/domain/rule-options.ts';
import { nameInWords } from '../../../machines/governance/caller-name.ts';
import { legible, oneLine } from '../../../machines/legible.ts';
import { outcomeText } from '../console/console-lines.ts';

/** A message in plain text. */
export interface TelegramText {
  text: string;
  /** True if a part of the call is not shown, so that it cannot be approved here. */
  isCut: boolean;
}

/** Maximum characters of the details of a call, of its whole message, of a context and of a name. */
const longest = { details: 2_800, message: 4_000, context: 1_000, name: 200 };

const cutWords =
  'A part of the call is not shown here. Approve it on the approvals page or on the command line.';

/** Renders a notice. Telegram parses no markup in it. */
export function telegramText({ request, outcome }: ApprovalNotice): TelegramText {
  const call = callOf(request);
  const heading = `${outcome === null ? 'Approval needed' : 'Approval ended'}: ${cut(oneLine(request.tool), longest.name)}`;
  const lines = [
    heading,
    `Requested by: ${cut(oneLine(requesterWords(request) ?? 'unknown'), longest.name)}`,
    '',
    ...call.lines,
    '',
    ...(outcome === null ? waitingLines(request) : endLines({ request, outcome })),
    ...(call.isCut && outcome === null ? [cutWords] : []),
  ];
  // An invisible character behind `@` keeps a string from notifying people in a group.
  const text = lines
    .join('\n')
    .toWellFormed()
    .replaceAll(/@(?=\w{2})/gu, '@\u2060');
  return { text: cut(text, longest.message), isCut: call.isCut || text.length > longest.message };
}

/** The buttons of a waiting call; a call that is not shown whole has no button that approves it. */
export function buttonsOf(notice: ApprovalNotice) {
  if (notice.outcome !== null) return { inline_keyboard: [] };
  const data = buttonData(notice.request.deferralId);
  const { isCut } = telegramText(notice);
  const approve = isCut ? [] : [{ text: 'Approve', callback_data: data.approve }];
  return { inline_keyboard: [[...approve, { text: 'Reject', callback_data: data.reject }]] };
}

/** Returns the data of the two buttons of a deferral. */
export function buttonData(deferralId: string): { approve: string; reject: string } {
  const digest = hash('sha256', deferralId, 'hex').slice(0, 32);
  return { approve: `approve:${digest}`, reject: `reject:${digest}` };
}

function callOf(request: ApprovalRequest): { lines: string[]; isCut: boolean } {
  const { args = {}, context } = request;
  const room = (lines: string[]) => lines.join('\n').length <= longest.details;
  const { lines, isCut, leftOut } = argumentLines(args, room);
  const shown = legible(context);
  const isRepeat = isDefaultContext(request);
  return {
    lines: [
      ...(isRepeat || shown.trim() === '' ? [] : [cut(shown, longest.context), '']),
      ...lines.map(legible),
      ...(leftOut > 0 ? [`${leftOut} more arguments are not shown.`] : []),
      ...factWords(request).map((fact) => cut(fact, longest.name * 2)),
    ],
    isCut: isCut || (!isRepeat && shown.length > longest.context) || request.args === undefined,
  };
}

function waitingLines(request: ApprovalRequest): string[] {
  const { approvers, quorum, approvals, stage, messages = [] } = request;
  const last = messages.at(-1);
  return [
    `Who can decide: ${approvers === null ? 'everyone listed under people' : cut(approvers.map((name) => oneLine(name)).join(', '), 500)}`,
    ...optionWords(request),
    ...(quorum > 1 ? [`Approvals: ${approvals.length} of ${quorum}, one rejection rejects.`] : []),
    ...(last === undefined
      ? []
      : [
          `Written since by ${nameInWords(last.from, request.isOperators) ?? 'unknown'}: ${cut(oneLine(last.text), 300)}`,
        ]),
    ...(stage === 'asked' ? [] : [stages[stage]]),
    `Denied at ${new Date(request.expiresAt).toISOString()} without a decision.`,
  ];
}

const stages = {
  reminded: 'Reminder: half of the time is over.',
  escalated: 'Escalated: more approvers are asked.',
} as const;

function endLines(notice: ApprovalNotice): string[] {
  if (notice.outcome === null) return [];
  const outcome = callOutcomeWords(notice);
  return [
    `The call ${cut(oneLine(outcomeText(notice.outcome)), 800)}.`,
    ...(outcome === null ? [] : [`Outcome: ${cut(outcome, 400)}`]),
  ];
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`.toWellFormed();
}
