import { expect, it } from 'vitest';
import { readTaskStream } from '../../../src/cli/task/read-task-stream.ts';

/** A stream with one event of a status. */
async function* streamOf(data: string) {
  yield { id: '1', event: 'status', data };
}

const task = { id: 't', status: { state: 'working', timestamp: '2026-01-01T00:00:00Z' } };

it('each change of a task is read from the stream', async () => {
  const told: unknown[] = [];
  const listener = { onStatus: (status: unknown) => void told.push(status) };
  expect(await readTaskStream(streamOf(JSON.stringify(task)), listener)).toBe(null);
  expect(told).toEqual([task]);
});

it.each(['{"id":"t"', '', '{"id":"t"}', '[]', 'null'])(
  'an event with %j is reported as unknown',
  async (data) => {
    await expect(
      readTaskStream(streamOf(data), { onStatus: () => undefined }),
    ).rejects.toMatchObject({
      message: 'what answers there is not an agent of this version',
      code: 'bad_answer',
    });
  },
);
