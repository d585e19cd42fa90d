import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

it.each([
  ['slack, telegram, webhook', []],
  ['console', ['the adapter console is always there; remove it']],
  ['dashboard', ['the adapter dashboard is always there; remove it']],
  ['slak', ['there is no adapter slak; did you mean slack?']],
  ['pigeon', ['there is no adapter pigeon; use one of slack, telegram, webhook, email, teams']],
])('channels: [%s] names the adapters that can be switched on', (list, messages) => {
  expect(linesOf(read(`agent_id: x\nchannels: [${list}]`))).toEqual(
    messages.map((message) => `warning 2:12 channels.0 | ${message}`),
  );
});
