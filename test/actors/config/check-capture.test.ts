import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

const warned = (kinds: string) =>
  `warning 2:18 audit.capture | the audit log stores contents (${kinds}): restrict who can read it`;

it.each([
  ['{tool_args: true}', [warned('tool_args')]],
  ['{llm_messages: true, tool_result: true}', [warned('tool_result, llm_messages')]],
  ['{max_bytes: 20000}', []],
  ['{tool_args: true, max_bytes: 16384}', [warned('tool_args')]],
  [
    '{tool_args: true, max_bytes: 16385}',
    [
      warned('tool_args'),
      'warning 2:47 audit.capture.max_bytes | a line stores at most 16384 bytes of a string; set max_bytes: 16384',
    ],
  ],
])('contents in the log cause one warning: %s', (capture, expected) => {
  expect(linesOf(read(`agent_id: x\naudit: {capture: ${capture}}`))).toEqual(expected);
});
