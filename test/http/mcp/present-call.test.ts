import { expect, it } from 'vitest';
import { presentCall } from '../../../src/http/mcp/present-call.ts';
import { aTask } from '../../helpers/stored-tasks.ts';

const never = () => 'ask again';

it('the parts of a result next to its text are returned', () => {
  const picture = { type: 'image', data: 'AA==', mimeType: 'image/png' };
  const structured = { rows: 2 };
  const task = aTask({ state: 'completed', text: '2 rows' });
  const text = { type: 'text', text: '2 rows' };
  const _meta = { task_id: task.id };
  expect([
    presentCall({ ...task, extras: { structured, parts: [picture] } }, never),
    presentCall({ ...task, extras: { structured: [1, 2] } }, never),
    presentCall({ ...task, text: '', extras: { parts: [picture] } }, never),
  ]).toEqual([
    { content: [text, picture], structuredContent: structured, _meta },
    { content: [text], _meta },
    { content: [picture], _meta },
  ]);
});
