import { expect, it } from 'vitest';
import type { ConversationEvent } from '../../../../../src/ui/dashboard/views/chat/conversation-machine.ts';
import { listen } from '../../../../../src/ui/dashboard/views/chat/listen.ts';

/** Returns what the page reports of a stream with this text. */
async function reportOf(text: string): Promise<ConversationEvent[]> {
  const reported: ConversationEvent[] = [];
  const open = () => Promise.resolve(new Response(text));
  const listening = { message: 'hello', session: null, task: null };
  const { signal } = new AbortController();
  await listen({ open }, 'till', listening, (event) => reported.push(event), signal);
  return reported;
}

it('the stream reports tasks and progress, in order', async () => {
  const task = { id: 't1', contextId: 's1', status: { state: 'working' } };
  const text = [
    `event: status\ndata: ${JSON.stringify(task)}\n\n`,
    ': keep-alive\n\n',
    'event: progress\ndata: {"phase":"token","text":"a"}\n\n',
    'event: done\ndata: {"session_id":"s1","task_id":"t1"}\n\n',
  ].join('');
  expect(await reportOf(text)).toEqual([
    {
      type: 'task.told',
      task: { id: 't1', session: 's1', state: 'working', note: '', asked: null, answer: null },
    },
    { type: 'progress.told', progress: { phase: 'token', text: 'a' } },
    { type: 'stream.ended', problem: null },
  ]);
});

it.each(['{', '', '{"phase":"token"} x'])(
  'the stream ends with a problem at an event with invalid JSON: %j',
  async (data) => {
    const text = `event: progress\ndata: ${data}\n\nevent: progress\ndata: {"phase":"token"}\n\n`;
    expect(await reportOf(text)).toEqual([
      { type: 'stream.ended', problem: 'the answer of the agent broke off' },
    ]);
  },
);

it.each(['null', '7', '"text"'])(
  'the stream reads data that is not an object as an empty one: %s',
  async (data) => {
    expect((await reportOf(`event: progress\ndata: ${data}\n\n`)).at(-1)).toEqual({
      type: 'stream.ended',
      problem: null,
    });
  },
);
