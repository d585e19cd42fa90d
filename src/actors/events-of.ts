import { createParser, type EventSourceMessage } from 'eventsource-parser';

/**
 * Yields the server-sent events of a body. Rejects with the error of `tooLong` for an event of more than `longest`
 * bytes, and with connection errors.
 */
export async function* eventsOf(
  body: AsyncIterable<Uint8Array>,
  longest = Number.POSITIVE_INFINITY,
  tooLong = (): Error => new Error('the event is too long'),
): AsyncGenerator<EventSourceMessage, void> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => void messages.push(message) });
  const decoder = new TextDecoder();
  let unread = 0;
  for await (const bytes of body) {
    unread += bytes.length;
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (messages.length > 0) unread = 0;
    if (unread > longest) throw tooLong();
    yield* messages.splice(0);
  }
}
