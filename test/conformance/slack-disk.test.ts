import { expect, it } from 'vitest';
import { failingDisk } from '../helpers/failing-disk.ts';
import { startSlackAgent, vouchedInSlack } from '../helpers/slack-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];
const approve = { channel: 'refunds', action: 'Approve', user: 'ann' } as const;

it('takes a click on a message that was posted while the disk took nothing, once it does again', async () => {
  const chat = await startSlackAgent();
  await chat.slack.connected();
  const disk = Promise.withResolvers<ReturnType<typeof failingDisk>>();
  const posted = chat.slack.called('chat.postMessage').then(() => disk.resolve(failingDisk()));
  chat.agent.send('t1', pay).catch(() => undefined);
  await posted;
  await chat.shows(/\[Approve\]/);
  await chat.slack.click(approve);
  const told = await chat.whispers(/./);
  (await disk.promise).mend();
  await chat.slack.click(approve);
  await chat.agent.reached('t1', 'completed');
  await chat.shows(/ann@example\.com/);
  const decisions = chat.agent
    .audit('t1')
    .filter(({ event }) => event === 'task_deferred_decision')
    .map(({ fields: { wait_ms: _, ...fields } = {} }) => fields);
  expect([told, decisions, chat.folder.paid.length]).toEqual([
    'The decision could not be recorded, so nothing was decided. Try again in a moment.',
    [
      {
        tool: 'pay',
        decision: 'approve',
        approver: 'ann@example.com',
        note: '',
        ...vouchedInSlack('U0ANN00001'),
      },
    ],
    1,
  ]);
});
