import type { JsonObject } from '../../machines/json.ts';
import type { RoutedContext } from '../request-state.ts';
import { EventStream } from '../wire/sse.ts';

/** Response headers of the SDK that are forwarded to the client. */
const told = ['allow'];

/**
 * Sends the SDK's response. An event stream is sent with backpressure, so a slow reader uses no memory; other responses
 * are sent unchanged. Returns the stream; `null` for another response. `onGone` is called if the client closes a stream before its end.
 */
export async function sendAnswer(
  ctx: RoutedContext,
  answer: Response,
  onGone: () => void,
): Promise<EventStream | null> {
  for (const name of told) {
    const value = answer.headers.get(name);
    if (value !== null) ctx.set(name, value);
  }
  const type = answer.headers.get('content-type') ?? '';
  if (answer.body === null || !type.startsWith('text/event-stream')) {
    const text = await answer.text();
    ctx.body = text;
    ctx.status = answer.status;
    if (text === '') ctx.remove('Content-Type');
    else ctx.type = type;
    return null;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = answer.body.getReader();
  const stream = new EventStream(ctx, () => {
    onGone();
    reader.cancel().catch(() => undefined);
  });
  void pump(reader, stream);
  return stream;
}

/** The SDK writes each event in one piece. */
async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  stream: EventStream,
): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const frame of decoder.decode(value).split('\n\n')) {
        const [, data] = /^data: (.+)$/m.exec(frame) ?? [];
        if (data !== undefined) {
          stream.send({ event: 'message', data: JSON.parse(data) as JsonObject });
        }
      }
    }
  } finally {
    stream.end();
  }
}
