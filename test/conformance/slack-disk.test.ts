import { expect, it, vi } from 'vitest';
import { withoutCall } from '../helpers/call-fields.ts';
import { failingDisk } from '../helpers/failing-disk.ts';
import { fullStore } from '../helpers/full-store.ts';
import { isOverPostgres } from '../helpers/kept-store.ts';
import { patient } from '../helpers/patient.ts';
import { type SlackAgent, startSlackAgent, vouchedInSlack } from '../helpers/slack-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];
const approve = { channel: 'refunds', action: 'Approve', user: 'ann' } as const;

/** The decisions on a task that the log has. */
const decisionsOn = (chat: SlackAgent): unknown[] =>
  chat.agent
    .audit('t1')
    .filter(({ event }) => event === 'task_deferred_decision')
    .map(({ fields: { wait_ms: _, ...fields } = {} }) => withoutCall(fields));

const approvedByAnn = {
  tool: 'pay',
  decision: 'approve',
  approver: 'ann@example.com',
  note: '',
  ...vouchedInSlack('U0ANN00001'),
};

// A commit to PostgreSQL waits for room, as below.
it.skipIf(isOverPostgres)(
  'a click on a message posted while the disk was full is accepted later',
  async () => {
    const chat = await startSlackAgent();
    await chat.slack.connected();
    const disk = Promise.withResolvers<ReturnType<typeof failingDisk>>();
    const posted = chat.slack.called('chat.postMessage').then(() => disk.resolve(failingDisk()));
    chat.agent.send('t1', pay).catch(() => undefined);
    await posted;
    await chat.shows(/\[Approve\]/);
    await chat.slack.click(approve);
    const told = await chat.whispers(/./);
    (await disk.promise).fix();
    await chat.slack.click(approve);
    await chat.agent.reached('t1', 'completed');
    await chat.shows(/ann@example\.com/);
    expect([told, decisionsOn(chat), chat.folder.paid.length]).toEqual([
      'The decision could not be recorded, so nothing was decided. Try again in a moment.',
      [approvedByAnn],
      1,
    ]);
  },
);

it.runIf(isOverPostgres)(
  'a click on a message posted while the database was full is accepted later',
  async () => {
    const chat = await startSlackAgent();
    await chat.slack.connected();
    // The place of the message is not stored either.
    const notices = await fullStore(chat.agent, ['UPDATE OF ref ON approval_notices']);
    chat.agent.send('t1', pay).catch(() => undefined);
    await chat.shows(/\[Approve\]/);
    const disk = await fullStore(chat.agent);
    await chat.slack.click(approve);
    await vi.waitFor(
      async () => expect((await chat.agent.get('/readyz')).status).toBe(503),
      patient,
    );
    expect([decisionsOn(chat), chat.folder.paid]).toEqual([[], []]);
    await notices.free();
    await disk.fix();
    await chat.agent.reached('t1', 'completed');
    await chat.shows(/ann@example\.com/);
    expect([decisionsOn(chat), chat.folder.paid.length]).toEqual([[approvedByAnn], 1]);
  },
);
