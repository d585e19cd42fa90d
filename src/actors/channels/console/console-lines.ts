import {
  type ApprovalNews,
  type ApprovalNotice,
  type ApprovalOutcome,
  type ApprovalRequest,
  approvedChangeWords,
  boundWords,
  callOutcomeWords,
  requestEditWords,
  requesterWords,
} from '../../../machines/channels/approval-notice.ts';
import { argumentLines, isDefaultContext } from '../../../machines/channels/argument-lines.ts';
import { formatDuration } from '../../../machines/duration.ts';
import { nameInWords } from '../../../machines/governance/caller-name.ts';
import { needsReason } from '../../../machines/governance/decision.ts';
import { legible } from '../../../machines/legible.ts';
import { plainLine } from '../../../machines/plain-line.ts';
import { commandLine } from '../../command-line.ts';

/** Renders a held call with everything that an approver needs; `now` is in epoch milliseconds. */
export function requestLines(request: ApprovalRequest, agentUrl: string, now: number): string[] {
  const { tool, taskId, context, approvers, quorum, approvals, expiresAt, requests } = request;
  const labels: [string, string][] = [
    ['asked by', requesterWords(request) ?? 'unknown'],
    ['context', context],
    ...requestEditWords(request).map((words): [string, string] => ['edited', words]),
    ...argumentsOf(request),
    ...boundWords(request).map((words): [string, string] => ['note', words]),
    ...writtenIn(request),
    ...(requests === undefined ? [] : [['requested', `${requests} times`] as [string, string]]),
    ...(approvers ? [['approvers', approvers.join(', ') || 'nobody'] as [string, string]] : []),
    ...(quorum > 1 ? [['approvals', `${approvals.length} of ${quorum}`] as [string, string]] : []),
    ['auto-deny', `${new Date(expiresAt).toISOString()} (${timeLeft(request, now)})`],
    ['decide', 'with one of; name the agent with --dir where several run'],
    ['', command('approve', request)],
    ['', command('reject', request)],
  ];
  return [
    legible(plainLine(`${tool} waits for a release: task ${taskId} at ${agentUrl}`)),
    ...labels.map(([label, value]) =>
      `  ${label.padEnd(10)} ${legible(plainLine(value))}`.trimEnd(),
    ),
  ];
}

/** Renders an update of a held call on one line; `null` if it needs no line. */
export function newsLine(
  { request, outcome }: ApprovalNotice,
  news: ApprovalNews,
  now: number,
): string | null {
  const said = saidOf({ request, outcome }, news, now);
  return said === null
    ? null
    : legible(plainLine(`${request.tool} of task ${request.taskId} ${said}`));
}

/** Renders each argument on its own line, unless the context already contains all arguments. */
function argumentsOf(request: ApprovalRequest): [string, string][] {
  const { args } = request;
  if (args === undefined || isDefaultContext(request)) return [];
  const { lines } = argumentLines(args, () => true);
  return lines.map((line, index) => [index === 0 ? 'arguments' : '', line]);
}

/** A message without a name comes from the requester; for an operator's own task, from the operator. */
function writtenIn({ messages = [], isOperators }: ApprovalRequest): [string, string][] {
  return messages.map(({ from, text }) => [
    'written',
    `${nameInWords(from, isOperators) ?? 'unknown'}: ${text}`,
  ]);
}

/** Ids contain no shell metacharacters, but a task id may start with `-` like an option. */
function command(verb: 'approve' | 'reject', request: ApprovalRequest): string {
  const { taskId, deferralId, approvers } = request;
  const words = [
    `task ${verb} --deferral ${deferralId}`,
    ...(approvers === null ? [] : ['--email YOUR-EMAIL']),
    ...(verb === 'reject' || needsReason(request, verb) ? ['--note WHY'] : []),
    taskId.startsWith('-') ? `-- ${taskId}` : taskId,
  ];
  return commandLine(words.join(' '));
}

function saidOf(notice: ApprovalNotice, news: ApprovalNews, now: number): string | null {
  const { request, outcome } = notice;
  if (outcome === null) return newsText(request, news, now);
  return news === 'finished' ? callOutcomeWords(notice) : outcomeText(outcome);
}

function newsText(request: ApprovalRequest, news: ApprovalNews, now: number): string | null {
  const { approvals, quorum, stage } = request;
  if (news === 'counted') {
    const approver = approvals.at(-1)?.approver ?? 'unknown';
    return `was approved by ${approver}, ${approvals.length} of ${quorum}`;
  }
  if (news === 'written') {
    const last = request.messages?.at(-1);
    return `still waiting; new message from ${last?.from ?? 'the requester'}: ${last?.text ?? ''}`;
  }
  if (news === 'repeated') return `still waits; it was requested ${request.requests ?? 1} times`;
  if (news === 'reminded') return `still waits for a release, auto-deny ${timeLeft(request, now)}`;
  return stage === 'escalated'
    ? `still waiting, escalated to others, auto-deny ${timeLeft(request, now)}`
    : null;
}

/** Describes how the wait for a decision ended, after the name of the call. */
export function outcomeText(outcome: ApprovalOutcome): string {
  switch (outcome.kind) {
    case 'approved':
    case 'rejected': {
      const note = outcome.note === '' ? '' : `: ${outcome.note}`;
      const changed = approvedChangeWords(outcome);
      const how = changed === null ? '' : ` ${changed}`;
      return `was ${outcome.kind} by ${outcome.approver}${how}${note}`;
    }
    case 'timedOut':
      return 'was denied: no decision in time';
    case 'canceled':
      return `was canceled: ${outcome.reason}`;
    case 'abandoned':
      return outcome.reason === 'service_restart'
        ? 'was given up, as the agent was restarted'
        : 'was given up, as its caller went away';
  }
}

function timeLeft({ expiresAt }: ApprovalRequest, now: number): string {
  const seconds = Math.ceil((expiresAt - now) / 1_000);
  return seconds > 0 ? `in ${formatDuration(seconds * 1_000)}` : 'now';
}
