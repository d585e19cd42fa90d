import { expect, it } from 'vitest';
import { createActor, fromPromise, raise, waitFor } from 'xstate';
import { statelyEvent } from '../../../src/actors/telemetry/stately-event.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import {
  aCall,
  aCaller,
  aDeferral,
  allowed,
  anAttempt,
  aTaskInput,
  deferred,
  returned,
  said,
  saved,
} from '../../helpers/task-fixtures.ts';

const canary = 'CANARY-4f1d';
const call = aCall({ args: { order: canary } });

it('an event for Stately shows the life of a task without its texts', async () => {
  const shown: string[] = [];
  const thoughts = [said(canary, [call]), said(canary)];
  const rulings = [deferred(aDeferral({ args: call.args, context: canary })), allowed(call)];
  const machine = taskMachine.provide({
    actors: {
      think: fromPromise(() => Promise.resolve(thoughts.shift() ?? said(canary))),
      govern: fromPromise(() => Promise.resolve(rulings.shift())) as never,
      runTool: fromPromise(() => Promise.resolve(returned(canary))),
    },
    actions: { screenPrompt: raise({ type: 'prompt.screened', refusal: null, took: 0 }) },
  });
  const task = createActor(machine, {
    id: 'task:task-1',
    input: aTaskInput({
      requester: aCaller({ userId: canary, email: `${canary}@example.com` }),
      request: { role: 'user', messageId: 'm-1', parts: [{ kind: 'text', text: canary }] },
    }),
    inspect: (event) => shown.push(JSON.stringify(statelyEvent(event, { id: 1, at: 0 }))),
  }).start();
  await waitFor(task, (snapshot) => snapshot.hasTag('deferred'));
  task.send({ type: 'deferral.decide', attempt: anAttempt({ approver: canary, note: canary }) });
  await waitFor(task, (snapshot) => snapshot.hasTag('saving'));
  task.send(saved());
  await waitFor(task, (snapshot) => snapshot.matches({ working: { executing: 'recording' } }));
  task.send(saved());
  await waitFor(task, (snapshot) => snapshot.status === 'done');

  expect(task.getSnapshot().value).toBe('completed');
  expect(JSON.stringify(task.getSnapshot().context)).toContain(canary);
  expect(shown.join('\n')).not.toContain(canary);
  expect(shown.join('\n')).toContain('"tool":"issue_refund","args":"[redacted]"');
});

it('an event for Stately has no kinds that the format lacks', () => {
  const actorRef = createActor(taskMachine, { input: aTaskInput() });
  const inspection = { rootId: 'x:0', actorRef, action: { type: 'note', params: canary } };
  expect(statelyEvent({ type: '@xstate.action', ...inspection }, { id: 1, at: 0 })).toBeNull();
});
