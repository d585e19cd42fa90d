import type { Context } from 'koa';
import type { StreamEvent } from '../wire/event-queue.ts';
import { EventStream } from '../wire/sse.ts';

/** The events of a stream, and its error formats. */
export interface StreamedEvents {
  events: AsyncGenerator<object, void, undefined>;
  /** Formats an error before the first event as a plain response. */
  tell: (error: unknown) => object;
  /** Formats the reason why the stream ended early; `null` if it did not. */
  tellLost: () => object | null;
}

/**
 * Streams the items of a generator as server-sent events. Each event has an ID and no name, because A2A clients read
 * unnamed events. Returns true if the stream is open; an error before the first event is sent as a plain response.
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

/** Returns a function that numbers the events of a stream. */
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
