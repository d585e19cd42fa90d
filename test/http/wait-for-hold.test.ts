import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { RoutedContext } from '../../src/http/request-state.ts';
import { waitForHold } from '../../src/http/wait-for-hold.ts';
import type { Task } from '../../src/machines/domain/task.ts';

const approved = { id: 'h1', state: 'completed' } as Task;

describe('a request that waits for a hold', () => {
  it('receives the decided hold', async () => {
    const { ctx, waiting } = requestThat(() => undefined);

    expect(await waitForHold(ctx, 'h1', waiting)).toBe(approved);
    expect(ctx.respond).toBeUndefined();
  });

  it('receives nothing when its caller disconnects at the moment of the decision', async () => {
    const { ctx, waiting } = requestThat((response) => response.emit('close'));

    expect(await waitForHold(ctx, 'h1', waiting)).toBeNull();
    expect(ctx.respond).toBe(false);
  });

  it('rejects with an error while its caller is connected', async () => {
    const failure = new Error('the store does not answer');
    const { ctx, waiting } = requestThat(() => {
      throw failure;
    });

    await expect(waitForHold(ctx, 'h1', waiting)).rejects.toBe(failure);
  });
});

/** A request for an approved hold; `moment` runs as the decision arrives. */
function requestThat(moment: (response: EventEmitter) => void) {
  const response = new EventEmitter();
  const tasks = {
    async standing() {
      moment(response);
      return approved;
    },
  };
  const ctx = { res: response, state: { tasks } } as unknown as RoutedContext;
  return { ctx, waiting: { within: 1_000 } as Parameters<typeof waitForHold>[2] };
}
