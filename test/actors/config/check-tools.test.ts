import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

it('refuses a tool that is listed twice', () => {
  const text =
    'agent_id: x\ntools: [{name: t}, {name: u}, {name: t}]\nbuiltin_tools: [uuid_generate, uuid_generate]';
  expect(linesOf(read(text))).toEqual([
    'error 2:38 tools.2.name | this tool is listed twice; remove one of the two',
    'error 3:32 builtin_tools.1 | this tool is listed twice; remove one of the two',
  ]);
});

it('lets `tools` configure a builtin tool', () => {
  const text = 'agent_id: x\ntools: [{name: uuid_generate}]\nbuiltin_tools: [uuid_generate]';
  expect(linesOf(read(text))).toEqual([]);
});
