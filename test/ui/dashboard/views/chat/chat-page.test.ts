import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeferralJson } from '../../../../../src/http/wire/dashboard/held-call-json.ts';
import { axeFindings } from '../../../../helpers/axe-findings.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { evilTexts } from '../../../../helpers/evil-texts.ts';
import { everyLook, faultsOf, narrow } from '../../../../helpers/faults-of.ts';
import { listedAgent, listedTask, workspaceApi } from '../../../../helpers/page-tasks.ts';
import { servePage } from '../../../../helpers/serve-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

const agent = listedAgent('refunds');

/** The stream of one answer, which a test writes as it goes. */
class Answer {
  readonly #text = new TextEncoder();
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly response = new Response(
    new ReadableStream({ start: (stream) => void (this.#stream = stream) }),
    { headers: { 'Content-Type': 'text/event-stream' } },
  );

  say(event: string, data: unknown): void {
    const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    this.#stream?.enqueue(this.#text.encode(text));
  }

  task(state: string, answer?: string, asked = 'Refund A-1042'): void {
    this.say(answer === undefined && state !== 'failed' ? 'status' : 'result', {
      ...{ id: 't-1', contextId: 'c-1', kind: 'task' },
      status: { state, message: { role: 'agent', parts: [{ kind: 'text', text: state }] } },
      history: [{ role: 'user', parts: [{ kind: 'text', text: asked }] }],
      ...(answer === undefined ? {} : { artifacts: [{ parts: [{ kind: 'text', text: answer }] }] }),
    });
  }

  token(text: string): void {
    this.say('progress', { task_id: 't-1', phase: 'token', text });
  }

  end(): void {
    this.say('done', { session_id: 'c-1', task_id: 't-1' });
    this.#stream?.close();
  }

  break(): void {
    this.#stream?.close();
  }
}

/** What the dashboard tells of the task: a call that a rule changed, and held, and that a person approved. */
const held = new Date(Date.now() - 60_000).toISOString();
const decided = new Date(Date.now() - 30_000).toISOString();
const layer = { call_id: '1', tool: 'pay', duration_ms: 4 };
const detail = {
  changed_at: decided,
  decisions: [
    { ...layer, layer: 'modify', decision: 'modify', reason: 'rule 2' },
    { ...layer, layer: 'defer', decision: 'defer', reason: 'rule 1' },
  ],
  timeline: [
    { seq: 1, at: held, event: 'task_deferred', fields: { tool: 'pay' } },
    {
      seq: 2,
      at: decided,
      event: 'task_deferred_decision',
      fields: { tool: 'pay', approver: 'bob@example.com', decision: 'approve', wait_ms: 30_000 },
    },
    { seq: 3, at: decided, event: 'tool_exec', fields: { tool: 'pay', phase: 'start' } },
  ],
};

const ran = {
  ...{ seq: 4, at: decided, event: 'tool_exec' },
  fields: { tool: 'pay', phase: 'end', duration_ms: 12 },
};

const deferral: DeferralJson = {
  ...{ agent_id: 'refunds', id: 'd-1', deferral_id: 'd-1', task_id: 't-1', tool: 'pay' },
  to: 'channel:slack:#ops',
  ...{ timeout: '5m', context: '', args: { amount: 89.9 }, args_sha256: '0'.repeat(64) },
  ...{ requester: null, approvers: null, quorum: 1, approvals: [], title: '' },
  requested_at: held,
  expires_at: new Date(Date.now() + 300_000).toISOString(),
};

/** A server whose agent answers as a test configures it. */
async function serveChat(
  more: (path: string, body: any) => unknown = () => undefined,
  agents = [agent],
) {
  const answers: Answer[] = [];
  const server = await servePage(
    workspaceApi(agents, ({ pathname }, body) => {
      const own = more(pathname, body);
      if (own !== undefined) return own;
      switch (pathname.replace('/api/agents/refunds', '')) {
        case '/chat':
        case '/tasks/t-1/events':
        case '/tasks/t-2/events':
          answers.push(new Answer());
          return answers.at(-1)?.response;
        case '/sessions':
          return [];
        case '/sessions/c-1':
          return { id: 'c-1', messages: [{ role: 'user', parts: [{ text: 'Refund A-1042' }] }] };
        case '/tasks':
          return { tasks: [listedTask(1, { id: 't-1', context_id: 'c-1', state: 'working' })] };
        case '/tasks/t-1/cancel':
          return {};
        case '/tasks/t-1':
          return detail;
        default:
          return undefined;
      }
    }),
  );
  return { server, answers, answer: (index = 0) => asked(answers, index) };
}

async function asked(answers: readonly Answer[], index: number): Promise<Answer> {
  await expect.poll(() => answers.length, { timeout: 20_000 }).toBeGreaterThan(index);
  return answers[index]!;
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

describe('the page of a conversation', () => {
  it('writes the answer as it arrives, with the calls between the words', async () => {
    const { server, answer } = await serveChat();
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Refund A-1042');
    const stream = await answer();
    stream.task('working');
    stream.token('Let me **look**');
    await page.locator('.agent strong', { hasText: 'look' }).waitFor();
    stream.say('progress', { task_id: 't-1', phase: 'tool_start', tool: 'pay' });
    await page.getByText('changed').waitFor();
    stream.say('progress', { task_id: 't-1', phase: 'tool_end', tool: 'pay' });
    stream.token('Pai');
    stream.task('completed', 'Paid *89.90*.');
    stream.end();
    await page.locator('.agent em', { hasText: '89.90' }).waitFor();
    expect(await page.locator('.asked').innerText()).toContain('Refund A-1042');
    expect(await page.locator('.call').innerText()).toMatch(/pay[^]*changed[^]*was held[^]*done/);
    expect(await page.getByRole('link', { name: 'Steps' }).getAttribute('href')).toBe(
      '#/tasks/refunds/t-1',
    );
    expect(server.changes).toEqual(['POST /api/agents/refunds/chat {"message":"Refund A-1042"}']);
    await say(page, 'And now?');
    await answer(1);
    expect(server.changes[1]).toBe(
      'POST /api/agents/refunds/chat {"message":"And now?","session_id":"c-1"}',
    );
  });

  it('shows a held call in its place, with its outcome', async () => {
    let told: unknown = { ...detail, timeline: detail.timeline.slice(0, 1) };
    const { server, answer } = await serveChat((path) =>
      path.endsWith('/tasks/t-1') ? told : undefined,
    );
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Refund A-1042');
    const stream = await answer();
    stream.token('One moment.');
    stream.task('deferred');
    server.push('deferral', { agent_id: 'refunds', deferral, task_id: 't-1', pending: 1 });
    const waiting = page.getByRole('group', { name: 'Waiting call' });
    await waiting.waitFor();
    expect(await waiting.innerText()).toMatch(
      /pay needs approval; sent to:\s+slack #ops[^]*denied in\s+\d:\d\d[^]*amount[^]*89\.9[^]*defer\.tools\.pay/,
    );
    expect(await waiting.getByRole('link').getAttribute('href')).toBe(
      '#/approvals/refunds/t-1?from=chat',
    );
    await waiting.getByText('Governance').click();
    await waiting.locator('[data-layer=Approval]', { hasText: 'hold' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    told = detail;
    server.push('deferral', { agent_id: 'refunds', deferral: null, task_id: 't-1', pending: 0 });
    await waiting.waitFor({ state: 'detached' });
    const waited = page.getByRole('group', { name: 'Decided call' });
    await waited.getByText('bob@example.com approved').waitFor();
    expect(await waited.getByRole('link').count()).toBe(0);
    stream.task('working');
    stream.say('progress', { task_id: 't-1', phase: 'tool_start', tool: 'pay' });
    await page.locator('details.call', { hasText: 'runs …' }).waitFor();
    told = { ...detail, timeline: [...detail.timeline, ran] };
    stream.say('progress', { task_id: 't-1', phase: 'tool_end', tool: 'pay' });
    const call = page.locator('details.call');
    await call.getByText('was held').waitFor();
    await call.locator('[data-layer=Run]', { hasText: 'ran' }).waitFor({ state: 'attached' });
    expect(await call.locator('[data-layer=Approval]').isVisible()).toBe(false);
    await call.locator('summary').click();
    await call.locator('[data-layer=Approval]', { hasText: 'hold' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    stream.task('completed', 'Paid.');
    await page.getByText('Paid.').first().waitFor();
    await waited.getByText('bob@example.com approved').waitFor();
  });

  it('stops a task', async () => {
    const { server, answer } = await serveChat();
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Refund A-1042');
    const stream = await answer();
    stream.task('working');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect
      .poll(() => server.changes, { timeout: 20_000 })
      .toContain('POST /api/agents/refunds/tasks/t-1/cancel {}');
    stream.say('result', { id: 't-1', contextId: 'c-1', status: { state: 'canceled' } });
    await page.getByText('Stopped.').waitFor();
  });

  it('continues after a reload in the middle, and in a second tab', async () => {
    const { server, answer } = await serveChat();
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Refund A-1042');
    const first = await answer();
    first.task('working');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.reload();
    const joined = await answer(1);
    joined.task('working');
    joined.token('Still he');
    await page.getByText('Still he').first().waitFor();
    joined.task('completed', 'Still here.');
    joined.end();
    await page.getByText('Still here.').first().waitFor();
    expect(await page.locator('.asked').allInnerTexts()).toEqual([
      expect.stringContaining('Refund A-1042'),
    ]);
    const task = listedTask(1, { id: 't-2', context_id: 'c-1', state: 'working' });
    server.push('task', { agent_id: 'refunds', task });
    const other = await answer(2);
    const said = { role: 'user', parts: [{ text: 'From another tab' }] };
    const status = { state: 'working' };
    other.say('status', { id: 't-2', contextId: 'c-1', status, history: [said] });
    await page.locator('.asked', { hasText: 'From another tab' }).waitFor();
    expect(server.changes).toHaveLength(1);
  });

  it('reconnects to a task whose stream broke', async () => {
    const { server, answer } = await serveChat();
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Refund A-1042');
    const first = await answer();
    first.task('working');
    first.break();
    const joined = await answer(1);
    joined.task('completed', 'Paid.');
    await page.getByText('Paid.').first().waitFor();
    expect(server.changes).toHaveLength(1);
  });

  it('waits while the agent is known not to run, and continues when it does', async () => {
    const agents = [agent];
    const refused: string[] = [];
    const { server, answer } = await serveChat((path) => {
      if (!path.startsWith('/api/agents/refunds/') || agents[0] === agent) return undefined;
      refused.push(path);
      return Response.json({ error: 'the agent refunds does not run' }, { status: 400 });
    }, agents);
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Refund A-1042');
    const first = await answer();
    first.task('working');
    await page.getByText('Working …').waitFor();
    const stopped = listedAgent('refunds', { status: 'stopped' });
    server.push('agent_status', stopped);
    await page.getByText('refunds is not running any more.').waitFor();
    agents.splice(0, 1, stopped);
    first.break();
    await page.getByText('Connection lost').waitFor();
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    agents.splice(0, 1, agent);
    server.push('agent_status', agent);
    const joined = await answer(1);
    joined.task('completed', 'Paid.');
    await page.getByText('Paid.').first().waitFor();
    expect(refused).toEqual([]);
  });

  it('returns words that the agent refused, with its message', async () => {
    const { server } = await serveChat((path) =>
      path.endsWith('/chat')
        ? Response.json({ error: 'refunds does not run' }, { status: 400 })
        : undefined,
    );
    const { page, complaints } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Refund A-1042');
    await page.getByText('refunds does not run').waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('Refund A-1042');
    forgive(complaints, ['400']);
  });

  it('returns refused words before those typed since', async () => {
    const { server, answer } = await serveChat();
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Refund A-1042');
    const stream = await answer();
    const field = page.getByLabel('Message', { exact: true });
    await field.fill('And A-1043');
    stream.say('error', { error: 'refunds is busy' });
    stream.break();
    await page.getByText('refunds is busy').waitFor();
    expect(await field.inputValue()).toBe('Refund A-1042\nAnd A-1043');
  });

  it('follows the end until its reader scrolls back', async () => {
    const { server, answer } = await serveChat();
    const { page } = await browser.page({ height: 600 });
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Tell me');
    const stream = await answer();
    stream.task('working');
    const paragraphs = (count: number): string => 'Some words.\n\n'.repeat(count);
    stream.token(paragraphs(60));
    const log = page.getByRole('region', { name: 'Messages' });
    const left = () =>
      log.evaluate((one: any) => one.scrollHeight - one.scrollTop - one.clientHeight);
    await expect
      .poll(() => log.evaluate((one: any) => one.scrollTop), { timeout: 20_000 })
      .toBeGreaterThan(100);
    await expect.poll(left, { timeout: 20_000 }).toBeLessThan(48);
    await log.evaluate((one: any) => (one.scrollTop = 0));
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    stream.token(`${paragraphs(20)}THE END`);
    await page.locator('.markdown', { hasText: 'THE END' }).waitFor();
    expect(await log.evaluate((one: any) => one.scrollTop)).toBe(0);
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await expect.poll(left, { timeout: 20_000 }).toBeLessThan(48);
  });

  it('renders only text and links with visible targets from a model', async () => {
    const { server, answer } = await serveChat();
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Be evil');
    const stream = await answer();
    stream.task('working');
    for (const text of evilTexts) stream.token(`\n\n${text}\n\n`);
    stream.token('\n\nstreamed all');
    await page.locator('.markdown', { hasText: 'streamed all' }).waitFor();
    await expectHarmless(page);
    stream.task('completed', [...evilTexts, 'answered all'].join('\n\n'));
    await page.locator('.markdown', { hasText: 'answered all' }).waitFor();
    await expectHarmless(page);
    await page.reload();
  });

  it('is accessible', async () => {
    const { server, answer } = await serveChat((path) =>
      path.endsWith('/sessions')
        ? [
            {
              id: 'c-0',
              preview: 'Where is my order?',
              created_at: '2026-11-22T10:00:00Z',
              updated_at: '2026-11-22T10:00:00Z',
            },
          ]
        : undefined,
    );
    const { page } = await browser.page(narrow);
    await page.goto(`${server.url}/#/agents/refunds/chat`);
    await say(page, 'Refund A-1042');
    const stream = await answer();
    stream.task('working');
    stream.say('progress', { task_id: 't-1', phase: 'tool_start', tool: 'pay' });
    await page.getByText('was held').waitFor();
    stream.task(
      'completed',
      '# Done\n\nSee [the shop](https://shop.example.com/x), `code`.\n\n- a\n- b\n\n> c\n\n| a | b |\n|---|---|\n| c | d |\n\n```\nlong line of code that goes on and on and on and on\n```',
    );
    await page.getByRole('link', { name: 'the shop (shop.example.com)' }).waitFor();
    expect(await faultsOf(page, everyLook)).toEqual([]);
  });
});

async function expectHarmless(page: Page): Promise<void> {
  const foreign =
    '.markdown :is(img, script, iframe, svg, math, object, embed, form, input, button, style, link, meta, base, video, audio, template, [style], [id], [class], [name])';
  expect(await page.locator(foreign).count()).toBe(0);
  const links = await page.locator('.markdown a').evaluateAll((all: any[]) =>
    all.map((link) => ({
      href: String(link.getAttribute('href')),
      rel: link.rel,
      text: link.textContent,
    })),
  );
  for (const { href, rel, text } of links) {
    if (href === 'null') continue;
    expect(href).toMatch(/^(https?:\/\/|mailto:)/);
    expect(rel).toBe('noopener noreferrer nofollow');
    if (href.startsWith('http')) expect(text).toContain(`(${new URL(href).host})`);
  }
  expect(await page.locator('.markdown').allInnerTexts()).not.toContain('\u202e');
  expect(await page.title()).toContain('Chat of refunds');
}
