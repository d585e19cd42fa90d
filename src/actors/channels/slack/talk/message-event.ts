import { z } from 'zod';
import type { SlackSelf } from '../link/slack-envelope.ts';

const id = z.string().regex(/^[A-Z0-9]{2,24}$/);

/** Slack message id: epoch seconds with a fraction. */
const moment = z.string().regex(/^\d{1,12}\.\d{1,8}$/);

/** Schema of a message event; any other event is ignored. */
const saidEvent = z.object({
  team_id: id,
  api_app_id: id.optional(),
  event: z.object({
    type: z.enum(['app_mention', 'message']),
    subtype: z.enum(['file_share', 'thread_broadcast']).optional(),
    channel_type: z.string().optional(),
    channel: id,
    user: id,
    user_team: id.optional(),
    source_team: id.optional(),
    bot_id: z.null().optional(),
    edited: z.null().optional(),
    hidden: z.literal(false).optional(),
    text: z.string().default(''),
    ts: moment,
    thread_ts: moment.optional(),
  }),
});

const deletion = z.object({
  team_id: id,
  event: z.object({
    type: z.literal('message'),
    subtype: z.literal('message_deleted'),
    channel: id,
    deleted_ts: moment,
  }),
});

/** Returns the place of a deleted message in the app's workspace; `null` for any other event. */
export function readDeletion(
  body: unknown,
  { teamId }: Pick<SlackSelf, 'teamId'>,
): { channel: string; ts: string } | null {
  const read = deletion.safeParse(body).data;
  if (read === undefined || read.team_id !== teamId) return null;
  return { channel: read.event.channel, ts: read.event.deleted_ts };
}

/** A user's message in the agent's own workspace, in Slack's format. */
export interface MessageEvent {
  teamId: string;
  channel: string;
  user: string;
  /** In Slack's markup. */
  text: string;
  ts: string;
  /** `ts` of the first message of the thread. */
  threadTs: string;
}

/**
 * Parses a mention of the app or a direct message to it. Returns `null` for anything else: messages of bots (including
 * the app), edits, deletions, other channels, other apps and users of other workspaces.
 */
export function readMessageEvent(body: unknown, self: SlackSelf): MessageEvent | null {
  const result = saidEvent.safeParse(body);
  if (!result.success) return null;
  const { team_id: teamId, api_app_id: appId, event } = result.data;
  const { user_team: userTeam, source_team: sourceTeam } = event;
  const isForUs = event.type === 'app_mention' || event.channel_type === 'im';
  const isOurs = teamId === self.teamId && (self.appId ?? appId) === appId;
  const isStranger = [userTeam, sourceTeam].some((team) => team !== undefined && team !== teamId);
  if (!isForUs || !isOurs || isStranger || event.user === self.botUserId) return null;
  const { channel, user, text, ts, thread_ts: threadTs = ts } = event;
  return { teamId, channel, user, text, ts, threadTs };
}
