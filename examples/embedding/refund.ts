import { hash } from 'node:crypto';
import * as holdpoint from 'holdpoint/machines';
import { assign, createActor, fromPromise, raise, waitFor } from 'xstate';

const { now } = Date;
const args = { order: 'A-1042' };
const argsSha256 = hash('sha256', JSON.stringify({ args, tool: 'refund' }));
const calls = [{ id: 'call-1', tool: 'refund', args, argsSha256 }];
const approvers = ['ann@example.com'];
const defer = holdpoint.deferRule({ to: ['channel:desk:money'], timeout: 300_000, approvers });

const refundTask = holdpoint.taskMachine.provide({
  actors: {
    think: fromPromise<holdpoint.Thought, holdpoint.ThinkInput>(async ({ input }) => {
      const [refund] = input.exchanges;
      const said = refund ? { text: refund.result, calls: [] } : { text: '', calls };
      const usage = { duration: 0, at: now(), inputTokens: 0, outputTokens: 0 };
      return { provider: 'own', model: 'own', ...usage, outcome: { kind: 'said', ...said } };
    }),
    govern: holdpoint.toolCallMachine.provide({
      actions: {
        consultPolicy: assign({ rules: { ...holdpoint.ungoverned, defer, took: 0 } }),
      },
      actors: { identify: fromPromise<string, holdpoint.IdentifyInput>(async () => argsSha256) },
    }),
    runTool: fromPromise<holdpoint.ToolOutcome, holdpoint.RunToolInput>(async ({ input }) => {
      const checked = { duration: 0, at: now(), checking: 0, findings: [], rewrites: [] };
      return { kind: 'returned', result: `${input.call.args['order']} is refunded`, ...checked };
    }),
  },
  actions: {
    note: (_, facts) => [facts].flat().forEach((fact) => console.log(fact.type)),
    screenPrompt: raise({ type: 'prompt.screened', refusal: null, took: 0 }),
  },
});

const task = createActor(refundTask, {
  input: holdpoint.newTask({
    ...{ id: 'r1', requester: null, createdAt: now() },
    request: { role: 'user', parts: [{ kind: 'text', text: 'Refund A-1042' }], messageId: 'm1' },
  }),
});
// Store `task.getPersistedSnapshot()` here: the chart continues once it receives `task.saved`.
task.subscribe((snapshot) => {
  if (snapshot.hasTag('saving')) task.send({ type: 'task.saved', standing: 'first', at: now() });
});
task.on('decision.answered', ({ answer }) => console.log('answer:', answer.kind));
task.start();

const held = await waitFor(task, (snapshot) => snapshot.hasTag('deferred'));
console.log('held:', held.context.deferral?.context);
const bare = { approver: null, caller: null, note: '', deferralId: null, argsSha256: null };
for (const email of ['eve@example.com', 'ann@example.com']) {
  const attempt = { ...bare, verb: 'approve', email, at: now() } as const;
  task.send({ type: 'deferral.decide', attempt });
}
const ended = await waitFor(task, (snapshot) => snapshot.hasTag('final'));
console.log('ended:', holdpoint.describeTask(ended, now(), 1, null).text);
