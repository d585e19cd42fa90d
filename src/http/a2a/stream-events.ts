import type { Context } from 'koa';
import { EventStream, type StreamEvent } from '../wire/sse.ts';

/** The events of a stream, with the forms of its errors. */
export interface StreamedEvents {
  events: AsyncGenerator<object, void, undefined>;
  /** Says an error that comes before the first event, as a plain answer. */
  tell: (error: unknown) => object;
  /** Says why the stream ended before its time; `null` when it did not. */
  tellLost: () => object | null;
}

/**
 * Streams what a generator yields as server-sent events; each carries an id, and none a name, since
 * clients of the protocol read unnamed ones. Returns whether the stream is open; an error before the first
 * event is a plain answer.
 */
export async function streamEvents(ctx: Context, streamed: StreamedEvents): Promise<boolean> {
  const { events, tell } = streamed;
  let first: IteratorResult<object, void>;
  try {
    first = await events.next();
  } catch (error) {
    ctx.body = tell(error);
    return false;
  }
  const stream = new EventStream(ctx, () => void events.return());
  void pump(stream, first, streamed);
  return true;
}

/** Gives each event of a stream the next number as its id. */
export function numberer(): (data: object) => StreamEvent {
  let count = 0;
  return (data) => {
    count += 1;
    return { id: String(count), data };
  };
}

async function pump(
  stream: EventStream,
  first: IteratorResult<object, void>,
  { events, tell, tellLost }: StreamedEvents,
): Promise<void> {
  const next = numberer();
  let lost: object | null;
  try {
    for (let step = first; step.done !== true; step = await events.next()) {
      stream.send(next(step.value));
    }
    lost = tellLost();
  } catch (error) {
    lost = tell(error);
  }
  stream.finish(lost === null ? [] : [{ ...next(lost), event: 'error' }]);
}
