import { randomIds } from '../../../src/actors/random-ids.ts';
import { SqliteStore } from '../../../src/actors/records/sqlite/sqlite-store.ts';
import { scriptedModel } from '../../../src/actors/tasks/models/scripted-model.ts';
import { TaskSystem } from '../../../src/actors/tasks/task-system.ts';
import { defaultLimits } from '../../../src/machines/task/limits.ts';
import { aPolicy } from '../../helpers/a-policy.ts';
import { onePolicy } from '../../helpers/one-policy.ts';

/** What the test tells this process: decide on a task, so many times at once. */
export interface Order {
  taskId: string;
  verb: 'approve' | 'reject';
  count: number;
  /** Epoch milliseconds on the clock of the test. */
  at: number;
}

/** What this process reports: that it is ready, that it has begun to decide, what its decisions were answered, that its tool ran. */
export type Report = { ready: true } | { deciding: true } | { answers: string[] } | { ran: string };

const [, , path = '', auditPath = ''] = process.argv;
const report = (message: Report): void => void process.send?.(message);
const quiet = (): void => undefined;
const pay = {
  name: 'pay',
  description: 'Does pay.',
  parameters: { type: 'object' },
  idempotent: false,
  run: (_args: object, { taskId }: { taskId: string }) => {
    report({ ran: taskId });
    return Promise.resolve('paid there');
  },
};

const store = await SqliteStore.open({ path, audit: { path: auditPath, chain: true } });
let now = 0;
const system = new TaskSystem({
  store,
  model: scriptedModel('demo', []),
  tools: new Map([['pay', pay]]),
  policies: onePolicy(aPolicy()),
  shared: null,
  issuer: null,
  egress: null,
  clock: { now: () => now, setTimeout: () => null, clearTimeout: quiet },
  ids: randomIds(),
  log: { info: quiet, warn: quiet, error: quiet },
  envelope: { entity_id: 'test' },
  onToolError: 'fail',
  onRestart: 'resume',
  restAfter: 3_000,
  release: '0.0.0-test',
  limits: defaultLimits,
  retention: 3_600_000,
});
await system.start();

process.on('message', (order: Order) => {
  now = order.at;
  const attempts = Array.from({ length: order.count }, (_, index) =>
    system.decide(order.taskId, {
      verb: order.verb,
      approver: `there-${index}`,
      email: null,
      note: '',
      caller: null,
      deferralId: null,
      argsSha256: null,
      at: order.at,
    }),
  );
  report({ deciding: true });
  void Promise.allSettled(attempts).then((outcomes) =>
    report({
      answers: outcomes.map((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value.kind : String(outcome.reason),
      ),
    }),
  );
});
process.on('disconnect', () => void system.stop());
report({ ready: true });
