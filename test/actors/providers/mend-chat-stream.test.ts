import { expect, it } from 'vitest';
import { mendChatStream } from '../../../src/actors/providers/mend-chat-stream.ts';

/** An event with a call whose arguments are written as an object. */
const event = (args: string) =>
  `data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":${args}}}]}}]}\n\n`;

async function mended(sent: string): Promise<string> {
  const headers = { 'content-type': 'text/event-stream' };
  const fetch = mendChatStream(async () => new Response(sent, { headers }));
  return (await fetch('http://models.invalid')).text();
}

it('tool arguments that are an object become the JSON string of the wire', async () => {
  expect(await mended(event('{"amount":5}'))).toBe(event('"{\\"amount\\":5}"'));
});

it.each([
  ['a number that parsing would change', '{"amount":9007199254740993}'],
  ['a repeated key', '{"amount":1,"amount":5}'],
])('tool arguments with %s stay unchanged', async (_, args) => {
  expect(await mended(event(args))).toBe(event(args));
});
