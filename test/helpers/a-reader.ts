import { Reader, UnreadAnswers } from '../../src/http/unread-answers.ts';

/** A caller who has been answered nothing yet. */
export function aReader(): Reader {
  return new Reader(new UnreadAnswers(), { caller: null, clientAddress: '127.0.0.1' });
}
