import { GrammyError, HttpError } from 'grammy/web';
import { EgressError, egressCause } from '../../outbound/outbound.ts';
import { DeliveryError, type DeliveryFault } from '../channel-adapter.ts';

/** Interpretation of a refusal, worded to follow the failed operation. */
interface Meaning {
  fault: DeliveryFault;
  words: string;
}

const badToken: Meaning = {
  fault: 'target',
  words: 'Telegram rejected the bot token; copy it from @BotFather again and restart the agent',
};

const meanings: Readonly<Record<number, Meaning>> = {
  401: badToken,
  403: {
    fault: 'target',
    words:
      'Telegram lets the bot write there no longer: it was blocked, or is not in the group; add it again',
  },
  // Telegram answers a malformed token with 404.
  404: badToken,
  429: { fault: 'later', words: 'Telegram rate limit reached' },
};

const conflict: Meaning = {
  fault: 'target',
  words:
    'another process reads the messages of this bot; stop it, or use a separate bot for each agent',
};

const hookConflict: Meaning = {
  fault: 'target',
  words: 'another process keeps setting a webhook for this bot; use a separate bot for each agent',
};

const goneMessage = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i;

const lostChat =
  /chat not found|group chat was upgraded|not enough rights|have no rights|need administrator rights|WRITE_FORBIDDEN|TOPIC_|message thread not found/i;

/**
 * Converts a failed request to a DeliveryError that states the reason and whether a retry makes sense; `doing`
 * describes the operation, such as `send a message`. Drops grammy's error and Telegram's answer: the error holds
 * messages, the answer may contain the token.
 */
export function telegramFailure(error: unknown, doing: string): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const { fault, words } = meaningOf(error);
  const message = `telegram: could not ${doing}: ${words}`;
  return new DeliveryError(message, { fault, retryAfter: retryAfterOf(error) });
}

function meaningOf(error: unknown): Meaning {
  if (error instanceof GrammyError) return refusalOf(error);
  const refused = egressCause(error instanceof HttpError ? error.error : error);
  if (refused !== null) {
    return { fault: refused instanceof EgressError ? 'target' : 'later', words: refused.message };
  }
  return { fault: 'later', words: 'Telegram cannot be reached, or returned an unknown response' };
}

function refusalOf({ error_code: status, description }: GrammyError): Meaning {
  const text = String(description);
  if (status === 409) return /webhook/i.test(text) ? hookConflict : conflict;
  if (status === 400 && goneMessage.test(text)) {
    return { fault: 'gone', words: 'the message is gone, or cannot be changed any more' };
  }
  if (status === 400 && lostChat.test(text)) {
    const words = 'the chat is gone or closed to the bot; add it to the chat again';
    return { fault: 'target', words };
  }
  if (status >= 400 && status < 500) {
    return meanings[status] ?? { fault: 'message', words: `Telegram refuses it with ${status}` };
  }
  return { fault: 'later', words: `Telegram fails with ${Number(status)}` };
}

function retryAfterOf(error: unknown): number | null {
  if (!(error instanceof GrammyError)) return null;
  const { retry_after: seconds } = error.parameters;
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : null;
}
