import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { FakeSlack } from '../packages/fake-slack/fake-slack.ts';
import { Connections } from './connections.ts';
import { type Daemon, makeAgentFolder, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { percentile } from './load.ts';

const held = [{ tool: 'datetime_now' }, { say: 'it is {result}' }];

interface Office {
  slack: FakeSlack;
  daemon: Daemon;
  pool: Connections;
  close(): Promise<void>;
}

/** A daemon that asks for releases in a Slack on loopback. */
async function openOffice(messageEvery = 0): Promise<Office> {
  const slack = await FakeSlack.start({ messageEvery });
  const folder = makeAgentFolder({ more: 'channels: [slack]\n', to: 'channel:slack:#refunds' });
  const settings = { adapter: 'slack', settings: { api_url: slack.apiUrl, conversations: false } };
  writeFileSync(join(folder.directory, 'slack-config.yaml'), JSON.stringify(settings));
  const daemon = await startDaemon(folder.directory, {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
  });
  const pool = new Connections(daemon.url, { headersTimeout: 0, bodyTimeout: 0 });
  await slack.connected();
  return {
    slack,
    daemon,
    pool,
    async close() {
      await pool.close();
      await daemon.stop();
      await slack.close();
      folder.remove();
    },
  };
}

/** From a click in Slack to the answer of the request that was held for it. */
export async function clickFigures(): Promise<Figure[]> {
  const office = await openOffice();
  const { slack } = office;
  try {
    const clicks: number[] = [];
    const messages: number[] = [];
    for (let index = 0; index < 220; index += 1) {
      const answer = send(office, `c${index}`);
      const asked = await slack.until(() => slack.messages('refunds')[index]);
      // Nobody clicks before the daemon knows that its message is there.
      await setTimeout(50);
      const began = performance.now();
      const clicked = slack.click({ channel: 'refunds', ts: asked.ts, action: 'Approve' });
      const shown = slack.until(() => (asked.edits > 0 ? true : undefined));
      await Promise.all([
        answer.then(() => clicks.push(performance.now() - began)),
        shown.then(() => messages.push(performance.now() - began)),
        clicked,
      ]);
    }
    return [
      figure('a click to the answer of the held request', quantiles(clicks.slice(20))),
      figure('a click to the updated message', quantiles(messages.slice(20))),
    ];
  } finally {
    await office.close();
  }
}

/**
 * Many deferrals at once in a Slack that takes one message each `messageEvery` ms in a channel: whether any is
 * lost, whether they come in order, and what the daemon holds in memory meanwhile.
 */
export async function floodFigures(
  count = 60,
  messageEvery = 1_000,
  within = 3,
): Promise<Figure[]> {
  const office = await openOffice(messageEvery);
  const { slack, daemon } = office;
  try {
    await send(office, 'warm', false);
    const began = performance.now();
    for (let index = 0; index < count; index += 1) {
      await send(office, idOf(index), false);
      await setTimeout(
        Math.max(0, began + (index + 1) * ((within * 1_000) / count) - performance.now()),
      );
    }
    const heaps: number[] = [];
    const residents: number[] = [];
    const posted = (): number => slack.messages('refunds').length;
    while (posted() < count + 1) {
      const { heap, resident } = await daemon.memory();
      heaps.push(heap);
      residents.push(resident);
      await setTimeout(Math.max(1_000, messageEvery * 50));
    }
    const took = (performance.now() - began) / 1_000;
    const ids = slack
      .messages('refunds')
      .map(({ blocks }) => /m\d{5}/.exec(JSON.stringify(blocks))?.[0]);
    const isOrdered = ids.slice(1).every((id, index) => id === idOf(index));
    const limited =
      slack.calls.filter(({ method }) => method === 'chat.postMessage').length - count - 1;
    return [
      figure(
        `${count} deferrals within ${within} s, one message each ${messageEvery} ms`,
        `${posted() - 1} posted in ${took.toFixed(0)} s, ${isOrdered ? 'in order' : 'OUT OF ORDER'}, ${limited} calls refused`,
      ),
      figure('memory meanwhile', `heap ${range(heaps)} MiB, resident ${range(residents)} MiB`),
    ];
  } finally {
    await office.close();
  }
}

function idOf(index: number): string {
  return `m${String(index).padStart(5, '0')}`;
}

/** Sends a task; unless it is `held` for, the caller leaves as soon as the task waits. */
async function send({ pool }: Office, id: string, isHeld = true): Promise<void> {
  const message = {
    role: 'user',
    messageId: id,
    parts: [{ kind: 'data', data: { script: held } }],
  };
  const path = '/tasks/send';
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ task: { id, message } });
  const left = new AbortController();
  const answer = pool.request({ method: 'POST', path, headers, body, signal: left.signal });
  if (isHeld) return (await answer).body.dump();
  answer.catch(() => undefined);
  for (;;) {
    const { statusCode, body: found } = await pool.request({ method: 'GET', path: `/tasks/${id}` });
    const task = (await found.json()) as { status?: { state: string } };
    if (statusCode === 200 && task.status?.state === 'deferred') break;
    await setTimeout(1);
  }
  left.abort();
}

function quantiles(values: readonly number[]): string {
  return `p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms`;
}

function range(values: readonly number[]): string {
  const mebibytes = values.map((value) => Math.round(value / 2 ** 20));
  return `${Math.min(...mebibytes)} to ${Math.max(...mebibytes)}`;
}

function figure(what: string, measured: string): Figure {
  return { what: `Slack: ${what}`, measured, aim: '' };
}
