import { z } from 'zod';

const entities = z
  .array(
    z.object({
      type: z.string(),
      offset: z.int().nonnegative(),
      length: z.int().positive(),
      user: z.object({ id: z.int() }).optional(),
    }),
  )
  .optional();

const messageShape = z.object({
  message_id: z.int(),
  message_thread_id: z.int().optional(),
  is_topic_message: z.boolean().optional(),
  chat: z.object({ id: z.int(), type: z.enum(['private', 'group', 'supergroup', 'channel']) }),
  from: z
    .object({
      id: z.int(),
      is_bot: z.boolean(),
      first_name: z.string(),
      last_name: z.string().optional(),
      username: z.string().optional(),
    })
    .optional(),
  sender_chat: z.unknown().optional(),
  media_group_id: z.string().optional(),
  reply_to_message: z
    .object({
      message_id: z.int().optional(),
      text: z.string().optional(),
      from: z.object({ id: z.int() }).optional(),
      forum_topic_created: z.unknown().optional(),
    })
    .optional(),
  text: z.string().optional(),
  entities,
  caption: z.string().optional(),
  caption_entities: entities,
});

const clickShape = z.object({
  id: z.string().min(1).max(100),
  from: z.object({ id: z.int(), is_bot: z.boolean(), first_name: z.string() }),
  message: z
    .object({
      message_id: z.int(),
      chat: z.object({ id: z.int() }),
      from: z.object({ id: z.int() }).optional(),
    })
    .optional(),
  data: z.string().max(64).optional(),
});

/** A press of a button below a message. */
export type TelegramClick = z.infer<typeof clickShape>;

/** Fields of messages without text. */
const withoutWords = [
  'animation',
  'audio',
  'checklist',
  'contact',
  'dice',
  'document',
  'game',
  'location',
  'paid_media',
  'photo',
  'poll',
  'sticker',
  'story',
  'video',
  'video_note',
  'voice',
] as const;

/** The fields of a message that are used, under Telegram's names. */
export type TelegramMessage = z.infer<typeof messageShape> & {
  /** False for a service message, such as a new member. */
  isSaid: boolean;
};

/** One response of `getUpdates`. */
export interface UpdatesReading {
  /** Updates that can be acknowledged, in order; `message` is `null` if there is nothing to read. */
  updates: { id: number; message: TelegramMessage | null; click?: TelegramClick }[];
  /** Number of updates of unknown shape. */
  unreadable: number;
}

const updateShape = z.object({
  update_id: z.int().nonnegative(),
  message: z.unknown().optional(),
  callback_query: z.unknown().optional(),
});

/** Parses a `getUpdates` response; counts unreadable updates and continues. */
export function readUpdates(answer: unknown): UpdatesReading {
  const found: UpdatesReading = { updates: [], unreadable: 0 };
  for (const entry of Array.isArray(answer) ? (answer as unknown[]) : [null]) {
    const update = updateShape.safeParse(entry);
    if (!update.success) {
      found.unreadable += 1;
      continue;
    }
    const { update_id: id, message, callback_query: pressed } = update.data;
    const click = pressed === undefined ? undefined : clickShape.safeParse(pressed).data;
    if (click !== undefined) {
      found.updates.push({ id, message: null, click });
      continue;
    }
    const read = message === undefined ? null : readMessage(message);
    if (read === undefined) found.unreadable += 1;
    found.updates.push({ id, message: read ?? null });
  }
  return found;
}

function readMessage(message: unknown): TelegramMessage | undefined {
  const { success, data } = messageShape.safeParse(message);
  if (!success) return undefined;
  const hasWords = data.text !== undefined || data.caption !== undefined;
  const isSaid = hasWords || withoutWords.some((kind) => Object.hasOwn(message as object, kind));
  return { ...data, isSaid };
}
