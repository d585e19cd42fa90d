import { setImmediate as afterInput } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FakeSlack } from '../../packages/fake-slack/fake-slack.ts';
import { withoutCall } from '../helpers/call-fields.ts';
import {
  type SlackAgent,
  startSlackAgent,
  vouchedInSlack,
  wordsOf,
} from '../helpers/slack-agent.ts';
import { expectIntact, textOf } from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];

const reconnects = 50;

/** What ends the connection while a click is under way, and what the next ones meet. */
const breaks: ((slack: FakeSlack) => void)[] = [
  ({ socket }) => socket.drop(false),
  ({ socket }) => socket.drop(true),
  (slack) => {
    slack.fail({ method: 'apps.connections.open', fault: { kind: 'status', status: 502 } });
    slack.socket.drop(false);
  },
  (slack) => {
    slack.fail({ method: 'apps.connections.open', fault: { kind: 'reset' } });
    slack.socket.drop(true);
  },
  (slack) => {
    slack.fail({ method: 'apps.connections.open', times: 2, fault: { kind: 'html' } });
    slack.socket.drop(false);
  },
  ({ socket }) => {
    socket.spoil('refuse', 2);
    socket.drop(false);
  },
  ({ socket }) => socket.retire('refresh_requested'),
  ({ socket }) => {
    socket.spoil('refuse', 1);
    socket.retire('warning');
    socket.drop(true);
  },
  ({ socket }) => {
    for (const frame of ['', '{', '[]', 'null', '{"type":"events_api"}', '{"envelope_id":7}']) {
      socket.frame(frame);
    }
    socket.frame('{"type":"interactive","envelope_id":"x","payload":{"type":"block_actions"}}');
    socket.drop(false);
  },
  (slack) => {
    slack.fail({ method: 'auth.test', fault: { kind: 'refuse', error: 'internal_error' } });
    slack.socket.drop(false);
  },
];

/** When a connection is broken: at once, once the click has gone out, or once it was acknowledged. */
const moments: ((slack: FakeSlack, click: Promise<unknown>) => Promise<unknown>)[] = [
  async () => undefined,
  () => afterInput(),
  (_, click) => click,
  async (slack) => {
    slack.socket.spoil('double', 1);
    await afterInput();
  },
];

/** Tells what a process would end of, and what it warns of, such as listeners that pile up. */
function uncaught(): unknown[] {
  const errors: unknown[] = [];
  const note = (error: unknown) => void errors.push(error);
  const events = ['unhandledRejection', 'uncaughtExceptionMonitor', 'warning'];
  for (const event of events) process.on(event, note);
  onTestFinished(() => events.forEach((event) => process.off(event, note)));
  return errors;
}

/** Asks for a release, and resolves with the time stamp of the message that shows it. */
async function asked({ agent, slack }: SlackAgent, id: string) {
  const answer = agent.send(id, pay);
  const { ts } = await slack.until(() =>
    slack.messages('refunds').find((message) => JSON.stringify(message.blocks).includes(`${id}"`)),
  );
  return { answer, ts };
}

function decisionsOf({ agent }: SlackAgent): [string | undefined, unknown][] {
  return agent
    .audit()
    .filter(({ event }) => event === 'task_deferred_decision')
    .map(({ task_id: id, fields: { wait_ms: _, ...fields } = {} }) => [id, withoutCall(fields)]);
}

describe('a connection that breaks again and again', () => {
  it('loses and doubles no click, leaves no message open, and never ends the daemon', async () => {
    // Pauses are any part of a second or more; chance makes them none.
    const chance = vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => chance.mockRestore());
    const errors = uncaught();
    const chat = await startSlackAgent({ slack: { ackWithin: 60, mostDeliveries: 100 } });
    const { slack, agent, folder } = chat;
    await slack.connected();
    const ids = Array.from({ length: reconnects }, (_, round) => `round-${round}-`);
    for (const [round, id] of ids.entries()) {
      const { answer, ts } = await asked(chat, id);
      await slack.until(() => slack.connections > 0 || undefined);
      const opened = slack.calls.filter(({ method }) => method === 'apps.connections.open').length;
      const click = slack.click({ channel: 'refunds', ts, action: 'Approve', user: 'ann' });
      await moments[round % moments.length]?.(slack, click);
      breaks[round % breaks.length]?.(slack);
      await click;
      expect(textOf(await answer)).toBe('paid {"amount":5}');
      await slack.until(() => {
        const calls = slack.calls.filter(({ method }) => method === 'apps.connections.open');
        return (calls.length > opened && slack.connections > 0) || undefined;
      });
    }
    const shown = await slack.until(() => {
      const messages = slack.messages('refunds').map(wordsOf);
      return messages.every((words) => words.includes('Approved by')) ? messages : undefined;
    });
    expect(shown).toHaveLength(reconnects);
    const decision = { tool: 'pay', decision: 'approve', approver: 'ann@example.com', note: '' };
    expect(decisionsOf(chat)).toEqual(
      ids.map((id) => [id, { ...decision, ...vouchedInSlack('U0ANN00001') }]),
    );
    expect(folder.paid).toHaveLength(reconnects);
    // No one is warned about a click that Slack delivered more than once.
    expect(slack.ephemerals('refunds').map(wordsOf)).toEqual([]);
    expect(slack.envelopes.some(({ deliveries }) => deliveries > 1)).toBe(true);
    expect(errors).toEqual([]);
    expect(JSON.stringify(agent.log)).not.toMatch(/xox|xapp/);
    await expectIntact(agent.auditPath);
    await agent.stop();
    await slack.connected(0);
  }, 30_000);
});
