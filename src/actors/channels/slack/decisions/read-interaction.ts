import { z } from 'zod';
import type { DecisionAttempt } from '../../../../machines/governance/approvers.ts';
import { approveCallback } from '../messages/approve-modal.ts';
import { approveAction, rejectAction } from '../messages/message.ts';
import {
  type MessagePlace,
  readPlace,
  reasonField,
  rejectCallback,
} from '../messages/reject-modal.ts';

/** The user, app and workspace of an interaction; `null` for a value that Slack does not send. */
export interface Sender {
  appId: string | null;
  teamId: string | null;
  userId: string;
}

/** A click on a button of the app. */
export interface Click extends Sender {
  kind: 'click';
  verb: DecisionAttempt['verb'];
  place: MessagePlace;
  /** Slack's timestamp of the click; unique per user. */
  clickedAt: string;
  /** Valid for opening a modal for three seconds. */
  triggerId: string;
}

/** A submitted modal: the reason for a rejection, or a page of a call that was read. */
export interface Submission extends Sender {
  kind: 'submission';
  verb: DecisionAttempt['verb'];
  /** Index of the page that was shown, from 0. */
  page: number;
  /** `null` if the metadata of the modal is malformed. */
  place: MessagePlace | null;
  reason: string;
}

const sender = {
  api_app_id: z.string().nullish(),
  team: z.object({ id: z.string() }).nullish(),
  user: z.object({ id: z.string().min(1) }),
};

const clickShape = z.object({
  ...sender,
  type: z.literal('block_actions'),
  trigger_id: z.string(),
  channel: z.object({ id: z.string() }),
  message: z.object({ ts: z.string() }),
  actions: z.array(
    z.object({ action_id: z.string(), value: z.string().nullish(), action_ts: z.string() }),
  ),
});

const submissionShape = z.object({
  ...sender,
  type: z.literal('view_submission'),
  view: z.object({
    callback_id: z.enum([rejectCallback, approveCallback]),
    private_metadata: z.string(),
    state: z.object({
      values: z.record(z.string(), z.record(z.string(), z.object({ value: z.string().nullish() }))),
    }),
  }),
});

const verbs: Record<string, DecisionAttempt['verb']> = {
  [approveAction]: 'approve',
  [rejectAction]: 'reject',
};

/** Parses an interaction with one of the app's messages or modals; `null` if it needs no action. */
export function readInteraction(body: unknown): Click | Submission | null {
  const click = clickShape.safeParse(body);
  if (click.success) return readClick(click.data);
  const submission = submissionShape.safeParse(body);
  return submission.success ? readSubmission(submission.data) : null;
}

function readClick(body: z.infer<typeof clickShape>): Click | null {
  for (const { action_id, value, action_ts } of body.actions) {
    const verb = Object.hasOwn(verbs, action_id) ? verbs[action_id] : undefined;
    if (verb === undefined || typeof value !== 'string') continue;
    const place = { deferralId: value, channel: body.channel.id, ts: body.message.ts };
    const click = { verb, place, clickedAt: action_ts, triggerId: body.trigger_id };
    return { kind: 'click', ...readSender(body), ...click };
  }
  return null;
}

function readSubmission(body: z.infer<typeof submissionShape>): Submission {
  const { callback_id, private_metadata, state } = body.view;
  const reason = state.values[reasonField]?.[reasonField]?.value ?? '';
  const place = readPlace(private_metadata);
  return {
    kind: 'submission',
    ...readSender(body),
    verb: callback_id === approveCallback ? 'approve' : 'reject',
    place: place && { deferralId: place.deferralId, channel: place.channel, ts: place.ts },
    page: place?.page ?? 0,
    reason: reason.toWellFormed().trim(),
  };
}

function readSender({
  api_app_id,
  team,
  user,
}: Pick<z.infer<typeof clickShape>, keyof typeof sender>): Sender {
  return {
    appId: api_app_id ?? null,
    teamId: team?.id ?? null,
    userId: user.id,
  };
}
