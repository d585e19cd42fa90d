import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Yields the server-sent events of a response; `onPiece` runs for each piece, also for one with comments only. */
export async function* eventsOf(
  { body }: Response,
  onPiece?: () => void,
): AsyncGenerator<EventSourceMessage, void> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => void messages.push(message) });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    onPiece?.();
    parser.feed(piece.value);
    yield* messages.splice(0);
  }
}
