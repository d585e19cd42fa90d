import { expect, it } from 'vitest';
import { keptRun, keptSnapshot } from '../../../src/actors/tasks/kept-run.ts';
import type { Message } from '../../../src/machines/domain/task.ts';
import { describeTask } from '../../../src/machines/task/describe-task.ts';
import {
  initialContext,
  newTask,
  type TaskContext,
} from '../../../src/machines/task/task-input.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';

const said = (text: string): Message => ({
  role: 'user',
  parts: [{ kind: 'text', text }],
  messageId: text,
});

const short = initialContext(
  newTask({ id: 't', request: said('go'), requester: null, createdAt: 1 }),
);
const full = initialContext(
  newTask({
    ...{ id: 't', contextId: 'c', createdAt: 2, leftOut: 3, tags: { org_id: 'o' } },
    ...{ requester: { userId: 'u', provider: 'oidc' }, owner: null, surface: 'a2a' },
    ...{ request: said('again'), history: [said('first'), said('second')] },
    ran: [{ tool: 'pay', callId: 'k', argsSha256: 'd', args: '{}', outcome: 'failed', at: 1 }],
  }),
);

/** Returns what a restart reads of a context, and the parts of it that its snapshot has. */
function keptOf(context: TaskContext) {
  const snapshot = taskMachine.resolveState({ value: { deferred: 'asked' }, context });
  const task = describeTask(snapshot, 5, 1, null);
  const kept = keptRun(snapshot, false);
  const stored = JSON.parse(JSON.stringify({ ...kept, auditSeq: 1, task }));
  return { read: keptSnapshot(stored) as object, run: stored.snapshot.context.run };
}

it.each([
  ['of a first run', short],
  ['with earlier messages and calls', full],
  [
    'with messages sent during a wait',
    { ...full, followUps: [{ after: 0, message: said('well') }] },
  ],
] as [string, TaskContext][])('a context %s is read as it was', (_, context) => {
  expect(keptOf(context).read).toEqual({
    ...keptOf(context).read,
    value: { deferred: 'asked' },
    context,
  });
});

it('a snapshot has no part of the run that its task has', () => {
  const own = { correlationId: 't', trace: null, session: [], hasModel: true };
  const { limits, onToolError } = full.run;
  expect(keptOf(full).run).toEqual({ ...own, limits, onToolError });
});
