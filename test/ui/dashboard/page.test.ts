import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeFindings } from '../../helpers/axe-findings.ts';
import { forgive, missingOf, seeWhole, TestBrowser } from '../../helpers/browser.ts';
import { everyLook, faultsOf, narrow } from '../../helpers/faults-of.ts';
import { aDeferral, anAgent } from '../../helpers/page-fixtures.ts';
import { tellStory } from '../../helpers/page-story.ts';
import { listedTask } from '../../helpers/page-tasks.ts';
import { eventually, startPageServer } from './page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

/** Both themes on a phone, a tablet and a large screen. */
const agentLooks = (['light', 'dark'] as const).flatMap((scheme) =>
  [320, 768, 1920].map((width) => [scheme, width] as const),
);

/** What has the focus, by its name. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = (globalThis as any).document.activeElement;
    return (element?.getAttribute('aria-label') ?? element?.textContent ?? '').trim();
  });
}

const routes = [
  '#/overview',
  '#/agents',
  '#/approvals',
  '#/approvals/refunds/refund-1',
  '#/approvals/refunds/gone',
  '#/agents/refunds/policy',
  '#/agents/refunds/logs',
  '#/nothing',
];

describe('each view', () => {
  it('has no axe-core finding, and fits, in both themes, wide and narrow', async () => {
    const server = await startPageServer();
    tellStory(server);
    const { page } = await browser.page(narrow);
    for (const route of routes) {
      await page.goto(server.url + route);
      await page.locator('main h1').waitFor();
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      const faults = await faultsOf(page, everyLook);
      expect({ route, faults }).toEqual({ route, faults: [] });
    }
  });

  it('shows that the rules in the file are not active, with the command that applies them', async () => {
    const server = await startPageServer();
    const times = { started_at: '2026-11-20T10:02:00Z', changed_at: '2026-11-21T10:15:00Z' };
    const gap = { ...times, remedy: 'restart' as const };
    tellStory(server);
    server.agents = [anAgent({ status: 'running', policy_differs: gap })];
    const { page } = await browser.page();
    for (const route of ['#/agents', '#/agents/refunds/policy']) {
      await page.goto(server.url + route);
      const said = page.getByText('The rules in service.yaml are not in force');
      await said.waitFor();
      await page.getByText('holdpoint serve stop --dir').first().waitFor();
    }
  });

  it('explains in an empty workspace how to create an agent, and shows the new one', async () => {
    const server = await startPageServer();
    const { page } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    await page.getByText('No agents yet').waitFor();
    expect(await page.locator('main code').innerText()).toBe('holdpoint init');
    await eventually(() => expect(server.streams).toBe(1));
    server.emit('agent_created', anAgent({ id: 'fresh', status: 'starting' }));
    await page.getByRole('heading', { name: 'fresh' }).waitFor();
    expect(await page.locator('.about').innerText()).toBe('0.1.0 · workspace /home/ann/agents');
  });

  it('shows a newer release that the server knows', async () => {
    const server = await startPageServer();
    const about = { directory: '/home/ann/agents', version: '0.1.0', token_required: false };
    server.routes.set('GET /api/workspace', () => ({ body: { ...about, newer_release: '0.2.0' } }));
    const { page } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    await page.locator('.about').waitFor();
    expect(await page.locator('.about').innerText()).toBe(
      '0.1.0, 0.2.0 is available · workspace /home/ann/agents',
    );
    expect(await axeFindings(page)).toEqual([]);
  });

  it('shows six agents and more as a table, filters them, and starts the stopped ones at once', async () => {
    const server = await startPageServer();
    server.agents = [
      anAgent({ id: 'a', pending_deferrals: 3 }),
      anAgent({ id: 'b', status: 'errored', error: 'the disk is full' }),
      ...['c', 'g', 'h'].map((id) => anAgent({ id, status: id === 'c' ? 'running' : 'stopped' })),
      anAgent({ id: 'locked', status: 'stopped', needs_passphrase: true }),
    ];
    const accepted = () => ({ status: 202, body: { status: 'starting' } });
    for (const id of ['g', 'h']) server.routes.set(`POST /api/agents/${id}/start`, accepted);
    const { page } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    await page.getByRole('button', { name: 'Start 2 stopped' }).waitFor();
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'a' }) });
    expect(await row.getByRole('link', { name: '3 waiting' }).getAttribute('href')).toBe(
      '#/approvals?agent=a',
    );
    expect(await page.locator('tbody pre').allInnerTexts()).toEqual(['the disk is full']);
    expect(await page.locator('.facts').count()).toBe(0);
    await page.getByRole('button', { name: 'Details of a' }).click();
    await page.getByRole('link', { name: 'Policy' }).waitFor();
    expect(await page.locator('.facts').count()).toBe(1);
    expect(await faultsOf(page, agentLooks)).toEqual([]);
    await page.getByRole('button', { name: 'Start 2 stopped' }).click();
    await eventually(() =>
      expect(server.posts.map(({ path }) => path).toSorted()).toEqual([
        '/api/agents/g/start',
        '/api/agents/h/start',
      ]),
    );
    await page.getByRole('searchbox', { name: 'Filter' }).fill('stopped');
    await page.getByText('3 of 6').waitFor();
    expect(await page.getByRole('rowheader').allInnerTexts()).toEqual(['g', 'h', 'locked']);
    await page.getByRole('button', { name: 'Start', exact: true }).last().click();
    await page.getByLabel('Passphrase').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('keeps the version in view for any number of agents, and cuts a long name', async () => {
    const server = await startPageServer();
    const names = Array.from(
      { length: 24 },
      (_, index) => `agent-${String(index).padStart(2, '0')}`,
    );
    server.agents = [...names, 'z'.repeat(64)].map((id) => anAgent({ id }));
    const { page } = await browser.page();
    await page.setViewportSize({ width: 1280, height: 500 });
    await page.goto(`${server.url}#/agents`);
    const version = page.locator('.about .num').first();
    await version.waitFor();
    const box = (await version.boundingBox())!;
    expect(box.y + box.height).toBeLessThanOrEqual(500);
    const name = page.locator('.rail .name').last();
    await name.scrollIntoViewIfNeeded();
    expect(await name.evaluate((element) => element.clientWidth < element.scrollWidth)).toBe(true);
    expect(await name.getAttribute('title')).toBe('z'.repeat(64));
  });

  it('gives the focus to the heading after a change of view, and the menu opens on a narrow window', async () => {
    const server = await startPageServer();
    tellStory(server);
    const { page } = await browser.page({ width: 320 });
    await page.goto(`${server.url}#/agents`);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Approvals' }).first().click();
    await eventually(async () => expect(await focused(page)).toBe('Approvals'));
    expect(await page.title()).toBe('(3) Approvals · Holdpoint');
  });
});

describe('on a phone', () => {
  it('touch targets are 44 px high', async () => {
    const server = await startPageServer();
    tellStory(server);
    const { page, complaints } = await browser.page({ width: 360, isTouched: true });
    forgive(complaints, ['404']);
    for (const route of [...routes, '#/tasks', '#/audit', '#/health', '#/skills', '#/new/name']) {
      await page.goto(server.url + route);
      await page.locator('main h1').waitFor();
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Menu' }).click();
      const small = await page.evaluate(() => {
        const { document } = globalThis as any;
        return [...document.querySelectorAll('a, button, select, summary, input, textarea')]
          .filter(
            (element) => element.checkVisibility() && element.closest('p, label, .skip') === null,
          )
          .filter((element) => element.getBoundingClientRect().height < 44)
          .map(
            (element) =>
              `${element.tagName} ${element.className} ${element.textContent.trim().slice(0, 30)} ${element.getBoundingClientRect().height}`,
          );
      });
      expect({ route, small }).toEqual({ route, small: [] });
    }
  });
});

describe('the inbox', () => {
  it.each([1280, 320])(
    'names agents that did not report their waiting calls, and asks them again, %i px wide',
    async (width) => {
      const server = await startPageServer();
      tellStory(server);
      const long = 'billing'.repeat(9);
      server.unasked = [long, 'ops'];
      const { page } = await browser.page({ width });
      await page.goto(`${server.url}#/approvals`);
      const note = page.getByText(
        `${long} and ops did not respond, so some calls may be missing. Retry, or check the log.`,
      );
      await note.waitFor();
      expect(await page.locator('[data-task]').count()).toBe(3);
      const alert = page.getByRole('alert').filter({ has: note });
      expect(await alert.locator('code').innerText()).toBe('holdpoint task deferrals');
      expect(await missingOf(page)).toEqual([]);
      server.unasked = [];
      // A read that the page makes on its own removes the button as well, in any moment.
      const retry = page.getByRole('button', { name: 'Retry' });
      await eventually(async () => {
        await retry.click({ timeout: 500 }).catch(() => undefined);
        expect(await note.count()).toBe(0);
      });
    },
  );
});

describe('a decision made elsewhere', () => {
  it.each(['#/agents', '#/agents/refunds/policy', '#/agents/refunds/logs'])(
    'is shown on %s',
    async (route) => {
      const server = await startPageServer();
      tellStory(server);
      const held = server.deferrals.find(({ task_id }) => task_id === 'refund-1')!;
      const at = new Date(Date.now() + 60_000).toISOString();
      server.routes.set('GET /api/agents/refunds/tasks/refund-1', () => ({
        body: {
          timeline: [
            {
              ...{ line: 1, seq: 1, at, event: 'task_deferred_decision' },
              fields: { tool: held.tool, decision: 'approve', approver: 'ann@example.com' },
            },
          ],
        },
      }));
      const { page } = await browser.page();
      await page.goto(server.url + route);
      await eventually(() => expect(server.streams).toBe(1));
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      server.emit('deferral', {
        ...{ agent_id: 'refunds', deferral: null, task_id: 'refund-1', pending: 0 },
      });
      await page
        .getByText(`Decided elsewhere: ${held.tool} of refunds was released by ann@example.com.`)
        .waitFor();
    },
  );
});

describe('an agent', () => {
  it('shows the last lines of its log as text', async () => {
    const server = await startPageServer();
    server.agents = [anAgent({ status: 'errored', error: '<b>no</b> key\u202E' })];
    const { page } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    expect(await page.locator('article pre').innerText()).toBe('<b>no</b> keyU+202E');
  });

  it.each([
    [
      'the process ended without a word: it was killed, or the machine was restarted',
      'Start the agent again. If it exits again, its log shows what it did last.',
      [],
    ],
    [
      'port 8080 on 127.0.0.1 is taken by another program; name another with --port',
      'Stop the program that uses the port, or start the agent on any free port:',
      ['holdpoint serve start --dir /home/ann/agents/refunds --port 0'],
    ],
    [
      'the disk is full',
      'The log shows what came before. Fix the cause, then start the agent again.',
      [],
    ],
  ])('that exited with %j has a remedy', async (error, said, commands) => {
    const server = await startPageServer();
    server.agents = [anAgent({ status: 'errored', error })];
    const { page } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    expect(await page.locator('article pre + p').innerText()).toBe(said);
    expect(await page.locator('article pre + p + .command code').allInnerTexts()).toEqual(commands);
  });

  it('shows the state of its process next to its waiting calls and that it does not respond', async () => {
    const server = await startPageServer();
    const silent = { not_responding_since: new Date(Date.now() - 5_000).toISOString() };
    server.agents = [
      anAgent({ id: 'a', pending_deferrals: 3, ...silent }),
      anAgent({ id: 'b', status: 'errored', error: 'no' }),
      anAgent({ id: 'c', status: 'stopped' }),
      anAgent({ id: 'd', status: 'starting' }),
    ];
    const { page, complaints } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    await page.getByText(/^Not responding since \d\d:\d\d:\d\d\.$/).waitFor();
    expect(await page.locator('article .pill').allInnerTexts()).toEqual([
      ...['3 waiting', 'running', 'errored', 'stopped', 'starting'],
    ]);
    expect(await page.locator('main h1 + p').innerText()).toBe('1 running, 2 need attention');
    await page.goto(`${server.url}#/agents/a/chat`);
    await page.getByText(/^a has not responded since \d\d:\d\d:\d\d\.$/).waitFor();
    await page.getByText('Conversations could not be loaded:').waitFor();
    forgive(complaints, ['404']);
  });

  it.each([
    ['abandon', '3 calls are waiting for approval. Stopping refunds denies them. Stop anyway?'],
    [
      'resume',
      '3 calls are waiting for approval. They keep waiting, and can be decided once refunds runs again.',
    ],
  ] as const)('asks before its waiting calls end, with on_restart: %s', async (onRestart, said) => {
    const server = await startPageServer();
    server.agents = [anAgent({ pending_deferrals: 3, on_restart: onRestart })];
    const { page } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop refunds?' });
    expect(await dialog.locator('p').innerText()).toBe(said);
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect([await focused(page), server.posts]).toEqual(['Stop', []]);
  });

  it('asks again for a wrong passphrase, and keeps none in the page', async () => {
    const server = await startPageServer();
    server.agents = [anAgent({ status: 'stopped', needs_passphrase: true })];
    server.routes.set('POST /api/agents/refunds/start', ({ passphrase }) =>
      passphrase === 'right'
        ? { status: 202, body: { status: 'starting' } }
        : { status: 400, body: { error: 'The passphrase is wrong.', needs_passphrase: true } },
    );
    const { page, complaints } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The passphrase is wrong.').waitFor();
    // The browser notes a 400 of its own accord.
    forgive(complaints, ['400']);
    expect(await page.getByLabel('Passphrase').evaluate((field) => field.matches(':focus'))).toBe(
      true,
    );
    await page.keyboard.type('right');
    await page.keyboard.press('Enter');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toMatch(/wrong|right"/);
    expect(await focused(page)).toBe('Start');
    server.emit('agent_status', anAgent({ status: 'running' }));
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    expect(server.posts.map(({ body }) => body)).toEqual([
      { passphrase: 'wrong' },
      { passphrase: 'right' },
    ]);
  });
});

describe('an approval', () => {
  it('is given by two keys, for exactly the shown call, and the next one follows', async () => {
    const server = await startPageServer();
    tellStory(server);
    server.routes.set('POST /api/agents/ops-runner/tasks/cleanup-7/decisions', () => {
      server.emit('deferral', {
        agent_id: 'ops-runner',
        deferral: null,
        task_id: 'cleanup-7',
        pending: 0,
      });
      return { body: { status: 'resolved' } };
    });
    const { page } = await browser.page();
    await page.goto(server.url + '#/approvals');
    await page.getByRole('heading', { name: 'issue_refund' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'drop_table' }).waitFor();
    expect(await focused(page)).not.toContain('Approve');
    await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).waitFor();
    await page.keyboard.press('a');
    expect(server.posts).toEqual([]);
    expect(await focused(page)).toBe('Approve');
    await page.keyboard.press('Enter');
    await page.getByText('Approved: drop_table of ops-runner.').waitFor();
    // The neighbour after it, not the first of the list.
    await page.getByRole('heading', { name: 'send_mail' }).waitFor();
    expect(server.posts).toEqual([
      {
        path: '/api/agents/ops-runner/tasks/cleanup-7/decisions',
        body: {
          decision: 'approve',
          deferral_id: 'd-2',
          args_sha256: 'b49debc5dbedc964b8ebdc1b'.padEnd(64, '0'),
        },
      },
    ]);
    await eventually(async () => expect(await page.title()).toBe('(2) Approvals · Holdpoint'));
  });

  it('keeps the decision visible for a long call, disabled until its end was in view', async () => {
    const server = await startPageServer();
    const args = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [`line_${index}`, index]),
    );
    server.agents = [anAgent({ pending_deferrals: 1 })];
    server.deferrals = [aDeferral({ args })];
    const { page } = await browser.page();
    await page.goto(`${server.url}#/approvals`);
    const list = page.getByRole('navigation', { name: 'Waiting calls' }).getByRole('listitem');
    await page.getByText('120 arguments').waitFor();
    expect(await list.count()).toBe(1);
    const approve = page.getByRole('button', { name: 'Approve' });
    const { y } = (await approve.boundingBox())!;
    expect(y).toBeLessThan(800);
    await seeWhole(page);
    await approve.and(page.locator(':enabled')).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('leads back to the conversation where it was opened', async () => {
    const server = await startPageServer();
    tellStory(server);
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => ({
      body: { status: 'resolved' },
    }));
    const { page, complaints } = await browser.page();
    forgive(complaints, ['404']);
    await page.goto(`${server.url}#/approvals/refunds/refund-1?from=chat`);
    await page.getByRole('link', { name: 'Back to the chat' }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).click();
    await page.waitForURL(`${server.url}#/agents/refunds/chat`);
  });

  it.each([
    [{ phase: 'end' }, 'issue_refund ran', ['ran']],
    [
      { phase: 'end', error: 'exit code 1: already refunded' },
      'issue_refund failed: exit code 1: already refunded',
      ['failed', 'issue_refund failed: exit code 1: already refunded'],
    ],
  ])('shows its outcome: %j', async (fields, said, listed) => {
    const server = await startPageServer();
    const held = aDeferral();
    server.agents = [anAgent({ pending_deferrals: 1 })];
    server.deferrals = [held];
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => {
      server.emit('deferral', {
        ...{ agent_id: 'refunds', deferral: null, task_id: 'refund-1', pending: 0 },
      });
      return { body: { status: 'resolved' } };
    });
    const { page } = await browser.page();
    await page.goto(`${server.url}#/approvals`);
    await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).click();
    const own = page.getByRole('region', { name: 'Decided by you' });
    await own.getByText('approved, no outcome yet').waitFor();
    const at = new Date(Date.now() + 1_000).toISOString();
    const entry = (event: string, more: object) => ({
      ...{ line: 1, seq: 1, at, event },
      fields: { tool: 'issue_refund', ...more },
    });
    const timeline = [
      entry('task_deferred_decision', { decision: 'approve' }),
      entry('tool_exec', fields),
    ];
    server.routes.set('GET /api/agents/refunds/tasks/refund-1', () => ({ body: { timeline } }));
    server.emit('task', { agent_id: 'refunds', task: listedTask(1, { id: 'refund-1' }) });
    const toast = page.locator('.toast').filter({ hasText: said });
    await toast.waitFor();
    expect(await toast.getByRole('link').getAttribute('href')).toBe('#/tasks/refunds/refund-1');
    expect(await own.locator('.pill, .words').allInnerTexts()).toEqual(listed);
    expect(await own.getByRole('button').allInnerTexts()).toEqual([
      ...['Download receipt', 'Verify receipt'],
    ]);
    expect(await axeFindings(page)).toEqual([]);
  });

  it('is rejected with a reason, at its own address', async () => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    server.deferrals = [aDeferral({ approvers: ['bob@example.com'] })];
    const { page } = await browser.page();
    await page.goto(server.url + '#/approvals/refunds/refund-1');
    await page.getByLabel('Your email address').fill('bob@example.com');
    await page.getByRole('button', { name: 'Reject' }).and(page.locator(':enabled')).waitFor();
    await page.getByRole('heading', { name: 'Approvals' }).focus();
    await page.keyboard.press('r');
    expect(await focused(page)).toBe('Approvals');
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await page.keyboard.type('too much');
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => ({
      body: { status: 'resolved' },
    }));
    await page.keyboard.press('Enter');
    expect(server.posts).toEqual([]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Rejected: issue_refund of refunds.').waitFor();
    expect(server.posts[0]?.body).toMatchObject({
      decision: 'reject',
      note: 'too much',
      approver_email: 'bob@example.com',
    });
  });

  it('leads back to the list on a narrow window, and is enabled once the end of the call was in view', async () => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    // Long enough to scroll by itself: what a scroll of the page alone opens takes the button away under a click.
    const args = { note: 'a line of it\n'.repeat(200), amount: 5 };
    const first = aDeferral({ args });
    const later = new Date(Date.now() + 900_000).toISOString();
    server.deferrals = [first, aDeferral({ id: 'd-9', task_id: 'refund-9', expires_at: later })];
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => {
      server.deferrals = server.deferrals.slice(1);
      return { body: { status: 'resolved' } };
    });
    const { page } = await browser.page({ width: 360, height: 740 });
    await page.goto(server.url + '#/approvals/refunds/refund-1');
    await page.getByText('until you have seen the whole call.').waitFor();
    await page.getByRole('button', { name: 'Reject' }).and(page.locator(':enabled')).waitFor();
    const approve = page.getByRole('button', { name: 'Approve' });
    expect(await approve.isDisabled()).toBe(true);
    await seeWhole(page);
    await approve.click();
    await page.getByText('Approved: issue_refund of refunds.').waitFor();
    await eventually(() => expect(page.url()).toBe(`${server.url}#/approvals`));
    expect(await approve.isVisible()).toBe(false);
  });

  it('is sent by Ctrl and Enter in the reason', async () => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    server.deferrals = [aDeferral()];
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => ({
      body: { status: 'resolved' },
    }));
    const { page } = await browser.page();
    await page.goto(server.url + '#/approvals');
    await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).waitFor();
    await page.getByLabel('Reason').fill('as agreed');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Approved: issue_refund of refunds.').waitFor();
    expect(server.posts[0]?.body).toMatchObject({ decision: 'approve', note: 'as agreed' });
  });

  it('that needs a reason is sent with one only', async () => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    server.deferrals = [aDeferral({ require_reason: 'approve' })];
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => ({
      body: { status: 'resolved' },
    }));
    const { page } = await browser.page();
    await page.goto(server.url + '#/approvals');
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.and(page.locator(':enabled')).click();
    await page.getByText('Enter a reason to approve this call.').waitFor();
    expect(server.posts).toEqual([]);
    await page.getByLabel('Reason').fill('as agreed');
    await approve.click();
    await page.getByText('Approved: issue_refund of refunds.').waitFor();
    expect(server.posts[0]?.body).toMatchObject({ decision: 'approve', note: 'as agreed' });
  });

  it('may change the arguments, typed by the schema, and shows the change', async () => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    const args = { amount: 5, currency: 'EUR', note: 'hello', items: [1], card: 'hidden' };
    const deferral = aDeferral({ edit: true, args, args_redacted: true });
    server.deferrals = [deferral];
    const properties = {
      amount: { type: 'integer', description: 'In cents.' },
      currency: { type: 'string', enum: ['EUR', 'USD'] },
      note: { type: 'string' },
      items: { type: 'array' },
      card: { type: 'string' },
      urgent: { type: 'boolean' },
    };
    const args_schema = { type: 'object', properties, required: ['amount'] };
    const { args_redacted: _, ...whole } = deferral;
    let detail: object = { deferral, timeline: [] };
    server.routes.set('GET /api/agents/refunds/tasks/refund-1', () => ({ body: detail }));
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => ({
      body: { status: 'resolved' },
    }));
    const { page } = await browser.page();
    await page.goto(server.url + '#/approvals');
    const edit = page.getByRole('button', { name: 'Edit arguments' });
    await edit.and(page.locator(':enabled')).click();
    await page.getByText('You cannot see all of the arguments, so you cannot edit them.').waitFor();
    detail = { timeline: [], deferral: { ...whole, args: { ...args, card: '4242' }, args_schema } };
    await edit.click();
    await page.getByLabel('amount').fill('9007199254740993');
    await page.getByText('cannot be read without changing it').waitFor();
    const approve = page.getByRole('button', { name: 'Approve with changes' });
    expect(await approve.isDisabled()).toBe(true);
    await page.getByLabel('amount').fill('4');
    await page.getByLabel('currency').selectOption('USD');
    await page.getByLabel('items').fill('[1, 2]');
    const sent = page.getByLabel('sent');
    await sent.nth(1).uncheck();
    await sent.nth(4).check();
    const was = page.locator('.fields small').filter({ hasText: /^was/ });
    expect(await was.allInnerTexts()).toEqual([
      ...['was 5', 'was EUR', 'was hello', 'was [\n  1\n]', 'was not sent'],
    ]);
    expect(await axeFindings(page)).toEqual([]);
    await approve.click();
    await page.getByText('Approved: issue_refund of refunds.').waitFor();
    expect(server.posts.map(({ body }) => body)).toEqual([
      {
        ...{ decision: 'approve', deferral_id: deferral.id, args_sha256: deferral.args_sha256 },
        args: { amount: 4, currency: 'USD', items: [1, 2], card: '4242', urgent: false },
      },
    ]);
  });

  it('shows the changes of earlier approvers', async () => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    const changes = [{ path: 'amount', before: '5', after: '4' }];
    const edits = [
      {
        ...{ deferral_id: 'd-0', approver: 'ann@example.com', at: new Date().toISOString() },
        ...{ args_sha256: 'a'.repeat(64), edited_args_sha256: 'b'.repeat(64), changes },
      },
    ];
    server.deferrals = [aDeferral({ edits })];
    const { page } = await browser.page();
    await page.goto(server.url + '#/approvals');
    const shown = page.locator('.edited');
    await shown.waitFor();
    expect((await shown.innerText()).replaceAll(/\s+/g, ' ')).toBe(
      'ann@example.com changed the arguments: amount: was 5 now 4',
    );
  });

  it('that was given elsewhere names the approver, and keeps the typed text', async () => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    const deferral = aDeferral();
    server.deferrals = [deferral];
    const fields = { tool: 'issue_refund', decision: 'reject', approver: 'bob@example.com' };
    server.routes.set('GET /api/agents/refunds/tasks/refund-1', () => ({
      body: {
        timeline: [
          {
            ...{ event: 'task_deferred_decision', at: deferral.expires_at },
            fields: { ...fields, note: 'too much' },
          },
        ],
      },
    }));
    const { page } = await browser.page();
    await page.goto(server.url + '#/approvals/refunds/refund-1');
    await page.getByLabel('Reason').fill('looks fine to');
    const gone = { agent_id: 'refunds', deferral: null, task_id: 'refund-1', pending: 0 };
    server.emit('deferral', gone);
    await page.getByText('Rejected by bob@example.com: too much').first().waitFor();
    expect(await page.getByLabel('Your unsent reason').inputValue()).toBe('looks fine to');
    expect(await page.getByText('none yet').isVisible()).toBe(false);
  });

  it('folds its commands, and shows the words of a model separately and small', async () => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    const context = `Approved by the security team.\n\n${'It is urgent.\n'.repeat(400)}`;
    server.deferrals = [aDeferral({ context })];
    const { page } = await browser.page({ height: 800 });
    await page.goto(server.url + '#/approvals');
    const command = page.getByText(/^holdpoint task approve refund-1 .*--args-sha256 b49debc5/);
    expect(await command.isVisible()).toBe(false);
    await page.getByText('Command', { exact: true }).click();
    await command.waitFor();
    expect(await page.getByRole('button', { name: 'Copy the command' }).count()).toBe(2);
    const said = page.getByLabel('Context from your policy');
    expect(await said.evaluate((quote: any) => quote.clientHeight)).toBeLessThan(200);
    // The arguments that will run are above the text about them.
    const args = await page.locator('.pane .call dl').first().boundingBox();
    const quote = await said.boundingBox();
    expect(args!.y + args!.height).toBeLessThan(quote!.y);
    expect(await axeFindings(page)).toEqual([]);
  });

  it.each([
    [403, { error: 'approver not authorized' }, 'You cannot decide on this call'],
    [
      409,
      { error: 'deferral already decided', decision: 'reject', approver: 'carol' },
      'Already decided: reject by carol.',
    ],
    [410, { error: 'deferral expired' }, 'deferral expired.'],
    [502, { error: 'refunds does not answer.' }, 'refunds does not answer.'],
  ])('that is answered with %i shows the reason', async (status, body, sentence) => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    server.deferrals = [aDeferral()];
    server.routes.set('POST /api/agents/refunds/tasks/refund-1/decisions', () => ({
      status,
      body,
    }));
    const { page, complaints } = await browser.page();
    await page.goto(server.url + '#/approvals');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('alert').filter({ hasText: sentence }).waitFor();
    forgive(complaints, [`${status}`]);
  });

  it('counts down by the clock of the server', async () => {
    const server = await startPageServer();
    server.ahead = 3_600_000;
    server.deferrals = [
      aDeferral({ expires_at: new Date(Date.now() + 3_600_000 + 90_000).toISOString() }),
    ];
    const { page } = await browser.page();
    await page.goto(server.url + '#/approvals');
    const text = await page.locator('.clock time').innerText();
    expect(text).toMatch(/^1:[0-3]\d$/);
  });

  it('stays fast with a thousand of twenty agents', async () => {
    const server = await startPageServer();
    server.deferrals = Array.from({ length: 1_000 }, (_, index) =>
      aDeferral({
        agent_id: `agent-${index % 20}`,
        id: `d-${index}`,
        task_id: `t-${index}`,
        expires_at: new Date(Date.now() + 600_000 + index * 1_000).toISOString(),
      }),
    );
    const { page } = await browser.page();
    await page.goto(server.url + '#/approvals');
    await page.getByText('1,000 waiting; first deadline in').waitFor();
    for (let index = 1; index <= 20; index += 1) {
      await page.keyboard.press('j');
      await eventually(() => expect(page.url()).toMatch(new RegExp(`t-${index}$`)));
    }
    await eventually(() => expect(server.streams).toBe(1));
    server.emit('deferral', {
      agent_id: 'agent-20',
      deferral: aDeferral({ agent_id: 'agent-20', id: 'd-new', task_id: 't-new' }),
      task_id: 't-new',
      pending: 1,
    });
    await page.getByText('1,001 wait').waitFor();
  });
});

describe('text from a model, a log or a name', () => {
  const payloads = [
    '<img src=x onerror="document.title=1">',
    '<script>document.title=1</script>',
    '"><svg onload=alert(1)>',
    'javascript:alert(1)',
    "'-alert(1)-'",
    '{{constructor.constructor("alert(1)")()}}',
    '<iframe srcdoc="<script>parent.document.title=1</script>">',
    '</title><script>alert(1)</script>',
    '<a href="https://evil.test">Approve</a>',
    '[Approve](https://evil.test)',
    '![x](https://evil.test/pixel.png)',
    '<style>*{display:none}</style>',
    '<base href="https://evil.test/">',
    '<meta http-equiv="refresh" content="0;url=https://evil.test">',
    '<form action="https://evil.test"><button>Approve</button></form>',
    '\u202Eevorppa\u2066',
    '<link rel=stylesheet href=https://evil.test/x.css>',
    '__proto__',
    'constructor',
    '%3Cscript%3E',
    '<img src=1 href=1 onerror="javascript:alert(1)"></img>',
    '<video src=x onerror=alert(1)></video>',
    '<audio src=x onerror=alert(1)></audio>',
    '<body onload=alert(1)>',
    '<details open ontoggle=alert(1)>x</details>',
    '<input autofocus onfocus=alert(1)>',
    '<select autofocus onfocus=alert(1)>',
    '<marquee onstart=alert(1)>x</marquee>',
    '<object data="javascript:alert(1)"></object>',
    '<embed src="javascript:alert(1)">',
    '<math><mtext><script>alert(1)</script></mtext></math>',
    '<svg><animate onbegin=alert(1) attributeName=x></svg>',
    '<svg><script href="data:,alert(1)"></script></svg>',
    '<svg><foreignObject><img src=x onerror=alert(1)></foreignObject></svg>',
    '<template><script>alert(1)</script></template>',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    '<textarea></textarea><script>alert(1)</script>',
    '<!--><script>alert(1)</script>-->',
    '<![CDATA[<script>alert(1)</script>]]>',
    '<scr<script>ipt>alert(1)</scr</script>ipt>',
    '<ScRiPt>alert(1)</ScRiPt>',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '&#60;script&#62;alert(1)&#60;/script&#62;',
    '\\u003cscript\\u003ealert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:msgbox(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '//evil.test/x.js',
    'https://evil.test/?q=<script>',
    '${alert(1)}',
    '#{alert(1)}',
    '<%= alert(1) %>',
    '{@html "<img src=x onerror=alert(1)>"}',
    '{#if true}<script>alert(1)</script>{/if}',
    '`-alert(1)-`',
    '");alert(1);//',
    "\\';alert(1);//",
    '$(touch /tmp/x); `id` && rm -rf ~',
    '../../../etc/passwd#?&=',
  ];

  it('stays text in every place', async () => {
    const server = await startPageServer();
    server.agents = payloads.map((text, index) =>
      anAgent({
        id: `${text}${index}`,
        version: text,
        error: text,
        status: index % 2 === 0 ? 'errored' : 'running',
        channels: [text],
        tools: [text],
        warnings: [text],
        model: { provider: text, name: text },
        directory: `/tmp/${text}`,
      }),
    );
    server.deferrals = payloads.map((text, index) =>
      aDeferral({
        agent_id: `${text}${index}`,
        id: text,
        task_id: text,
        tool: text,
        title: text,
        context: text,
        to: text,
        args: { [text]: text },
        modified: text,
        changes: [{ path: text, before: `${text}!`, after: text }],
        approvers: [text],
        approvals: [{ approver: text, at: text }],
        requester: { user_id: text, email: text, provider: text },
      }),
    );
    const { page } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    const odd =
      'main :is(img, script, iframe, style, base, meta, form[action], a:not([href^="#/"]))';
    await page
      .getByRole('rowheader')
      .nth(payloads.length - 1)
      .waitFor();
    for (const details of await page.getByRole('button', { name: 'Details of' }).all()) {
      await details.click();
    }
    expect(await page.locator('.facts').count()).toBe(payloads.length);
    expect(await page.locator(odd).count()).toBe(0);
    await page.goto(server.url + '#/approvals');
    for (const text of payloads) {
      const plain = text
        .replace('\u202E', 'U+202E')
        .replace('\u2066', 'U+2066')
        .replace('\t', 'tab');
      await eventually(async () => {
        expect(await page.locator('.pane blockquote').innerText()).toContain(plain);
      });
      await page.keyboard.press('j');
    }
    expect(await page.locator(odd).count()).toBe(0);
    expect(await page.title()).toBe(`(${payloads.length}) Approvals · Holdpoint`);
  });
});

describe('the stream', () => {
  it('is one for eight tabs, and another tab continues when the first one is closed', async () => {
    const server = await startPageServer();
    server.agents = [anAgent({ status: 'stopped' })];
    const { page: first } = await browser.page();
    const context = first.context();
    const tabs = [first];
    while (tabs.length < 8) tabs.push(await context.newPage());
    await first.goto(`${server.url}#/agents`);
    await eventually(() => expect(server.streams).toBe(1));
    await Promise.all(tabs.slice(1).map((tab) => tab.goto(`${server.url}#/agents`)));
    for (const tab of tabs) await tab.getByRole('button', { name: 'Start', exact: true }).waitFor();
    await eventually(() => expect(server.streams).toBe(1));
    server.emit('agent_status', anAgent({ status: 'running' }));
    for (const tab of tabs) await tab.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    expect(server.streams).toBe(1);
    await first.close();
    await eventually(() => expect([server.streams, server.resumed]).toEqual([1, ['', '1']]));
    server.emit('agent_status', anAgent({ status: 'errored', error: 'gone' }));
    for (const tab of tabs.slice(1)) await tab.getByText('gone').waitFor();
  });

  it('shows the latest request, for any order of answers', async () => {
    const server = await startPageServer();
    server.agents = [anAgent()];
    const late = Promise.withResolvers<void>();
    const waiting = { unasked: [], now: new Date().toISOString() };
    let readings = 0;
    server.routes.set('GET /api/deferrals', async () => {
      readings += 1;
      if (readings > 1) return { body: { deferrals: [], ...waiting } };
      await late.promise;
      return { body: { deferrals: [aDeferral()], ...waiting } };
    });
    const { page } = await browser.page();
    const first = page.waitForResponse('**/api/deferrals');
    await page.goto(`${server.url}#/approvals`);
    await page.getByText('Nothing to approve').waitFor();
    expect(readings).toBe(2);
    late.resolve();
    await (await first).finished();
    server.emit('agent_status', anAgent({ id: 'later' }));
    await page.getByRole('link', { name: 'later' }).waitFor();
    expect(await page.title()).toBe('Approvals · Holdpoint');
  });

  it('resumes after a restart from the last event', async () => {
    const server = await startPageServer();
    server.agents = [anAgent({ status: 'stopped' })];
    const { page, complaints } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    await eventually(() => expect(server.streams).toBe(1));
    server.emit('agent_status', anAgent({ status: 'running' }));
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    server.dropStreams();
    await eventually(() => expect([server.streams, server.resumed]).toEqual([1, ['', '1']]));
    forgive(complaints, ['ERR_']);
  });
});

describe('a dashboard with a token', () => {
  it('takes it from the address, removes it there, and asks for it otherwise', async () => {
    const server = await startPageServer();
    server.token = 'CANARY-9d2f';
    server.agents = [anAgent()];
    const { page, complaints } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('Wrong token').waitFor();
    await page.getByLabel('Token').fill('CANARY-9d2f');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'refunds' }).waitFor();
    expect(await page.content()).not.toContain('CANARY-9d2f');
    const other = await page.context().newPage();
    await other.goto(`${server.url}#token=CANARY-9d2f`);
    await other.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(other.url()).toBe(server.url);
    forgive(complaints, ['401']);
  });

  it('takes it from an address opened in the same tab, and from another tab', async () => {
    const server = await startPageServer();
    server.token = 'CANARY-9d2f';
    server.agents = [anAgent()];
    const { page, complaints } = await browser.page();
    await page.goto(`${server.url}#/agents`);
    await page.getByLabel('Token').waitFor();
    await page.evaluate(`location.hash = '#token=CANARY-9d2f'`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(server.url);
    const linked = await page.context().newPage();
    await linked.goto(`${server.url}#/approvals`);
    await linked.getByRole('heading', { name: 'Nothing to approve' }).waitFor();
    expect(linked.url()).toBe(`${server.url}#/approvals`);
    forgive(complaints, ['401']);
  });
});

describe('the page of an agent', () => {
  it('starts again with another agent', async () => {
    const server = await startPageServer();
    server.agents = [anAgent(), anAgent({ id: 'support', status: 'stopped' })];
    const { page } = await browser.page();
    server.routes.set('GET /api/agents/refunds/sessions', () => ({ body: [] }));
    await page.goto(`${server.url}#/agents/refunds/chat`);
    await page.getByRole('heading', { name: 'refunds', level: 1 }).waitFor();
    await page.evaluate(`location.hash = '#/agents/support/chat'`);
    await page.getByRole('heading', { name: 'support', level: 1 }).waitFor();
    await page.getByText('support is not running').waitFor();
    await page.getByText('holdpoint serve start --dir /home/ann/agents/support').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it.each(['chat', 'config', 'policy', 'mcp', 'doctor', 'logs'])(
    'that is missing shows that: %s',
    async (view) => {
      const server = await startPageServer();
      server.agents = [anAgent()];
      const { page } = await browser.page();
      await page.goto(`${server.url}#/agents/nobody/${view}`);
      await page.getByRole('heading', { name: 'No such agent' }).waitFor();
      expect(await axeFindings(page)).toEqual([]);
    },
  );
});
