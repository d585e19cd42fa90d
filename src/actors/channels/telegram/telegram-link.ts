import { type AnyEventObject, fromCallback } from 'xstate';
import { z } from 'zod';
import type {
  LinkEvent,
  LinkFault,
  LinkInput,
} from '../../../machines/channels/connection-machine.ts';
import { DeliveryError } from '../channel-adapter.ts';
import type { TelegramSelf } from './hear-message.ts';
import type { TelegramClient } from './telegram-client.ts';

export interface TelegramLinkOptions {
  client: TelegramClient;
  /** Receives the bot's identity before the link is up. */
  onSelf: (self: TelegramSelf) => void;
  /** Reads messages until the signal aborts. Rejects with DeliveryError. */
  read: (self: TelegramSelf, signal: AbortSignal) => Promise<never>;
  /** Receives the promise of the work that runs while the link is open. */
  onRun: (run: Promise<void>) => void;
}

const selfShape = z.object({ id: z.int(), username: z.string().min(1), first_name: z.string() });

/**
 * Creates one link of a connection to Telegram. It is up once the bot is identified and no webhook receives its
 * messages.
 */
export function telegramLink({ client, onSelf, read, onRun }: TelegramLinkOptions) {
  return fromCallback<AnyEventObject, LinkInput>(({ input: { link }, sendBack }) => {
    const stopped = new AbortController();
    const { signal } = stopped;
    const tell = (event: LinkEvent) => void (signal.aborted || sendBack(event));
    const open = async () => {
      const self = await meet(client, signal);
      onSelf(self);
      tell({ type: 'link.up', link });
      await read(self, signal);
    };
    onRun(
      open().catch((error: unknown) => tell({ type: 'link.down', link, fault: faultOf(error) })),
    );
    return () => stopped.abort();
  });
}

async function meet(client: TelegramClient, signal: AbortSignal): Promise<TelegramSelf> {
  const found = selfShape.safeParse(
    await client.ask('ask who the bot is', (api, abort) => api.getMe(abort), { signal }),
  );
  if (!found.success) {
    throw new DeliveryError('telegram: could not identify the bot: the response cannot be read', {
      fault: 'later',
    });
  }
  // Polling fails while a webhook is set; pending messages are kept.
  await client.ask(
    'remove the webhook',
    (api, abort) => api.deleteWebhook({ drop_pending_updates: false }, abort),
    { signal },
  );
  const { id, username, first_name: name } = found.data;
  return { id, username, name };
}

function faultOf(error: unknown): LinkFault {
  if (!(error instanceof DeliveryError)) {
    const message = 'telegram: reading stopped because of a defect of the agent';
    return { message, lasting: false, retryAfter: null };
  }
  const { message, fault, retryAfter } = error;
  return { message, lasting: fault === 'later' ? false : 'maybe', retryAfter };
}
