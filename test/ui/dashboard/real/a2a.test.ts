import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { evilTexts } from '../../../helpers/evil-texts.ts';
import { faultsOf, narrow, twoLooks } from '../../../helpers/faults-of.ts';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';
import { deferring } from '../../../helpers/test-agent.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { eventually } from '../page-browser.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
let dashboard: DashboardProcess;

beforeAll(async () => {
  const agent = new WorkspaceAgent(shared.workspace, 'till', deferring(), shared.later);
  dashboard = await shared.open();
  await agent.start(dashboard);
});
afterAll(() => shared.close());

async function look(
  view: Parameters<typeof shared.browser.page>[0] = {},
  query = '',
): Promise<Page> {
  const { page } = await shared.browser.page(view);
  await page.goto(`${dashboard.url}/#/a2a${query}`);
  await page.locator('main h1').waitFor();
  await page.getByText('Loading …').waitFor({ state: 'detached' });
  return page;
}

it('the cards of an agent are shown, and its answers are streamed, wide and narrow', async () => {
  const page = await look(narrow);
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('till');
  await page.getByRole('button', { name: 'Get card' }).click();
  await page.getByRole('region', { name: 'Requested 1.0' }).getByText('no errors').waitFor();
  await page.getByText('is marked deprecated and links to the card').waitFor();
  await page.getByRole('combobox', { name: 'Request' }).selectOption('message/stream');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText(/^Status 200/).waitFor();
  expect(await page.getByRole('region', { name: 'Answer' }).innerText()).toContain(
    '"state":"submitted"',
  );
  expect(await faultsOf(page, twoLooks)).toEqual([]);
});

it('no request is sent because of an address, and a token is dropped with its agent', async () => {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    sent.push(String(request.headers.authorization));
    response.end('{}');
  });
  const url = await listenOnLoopback(server);
  const page = await look({}, `?url=${encodeURIComponent(url)}`);
  await eventually(async () =>
    expect(await page.getByRole('textbox', { name: 'URL' }).inputValue()).toBe(url),
  );
  expect(sent).toEqual([]);
  await page.getByRole('button', { name: 'Get card' }).click();
  await page.getByText(/is a loopback address; say that it may be on this machine/).waitFor();
  expect(sent).toEqual([]);
  await page.getByLabel('Allow addresses of this machine').check();
  await page.getByLabel(/^Token/).fill('canary-token');
  await page.getByRole('button', { name: 'Get card' }).click();
  await page.getByRole('heading', { name: 'Console' }).waitFor();
  expect(new Set(sent)).toEqual(new Set(['Bearer canary-token']));
  expect(await page.locator('main').innerText()).toContain('-H "Authorization: Bearer $TOKEN"');
  expect(await page.content()).not.toContain('canary-token');
  await page.getByRole('textbox', { name: 'URL' }).fill('https://other.example');
  expect(await page.getByLabel(/^Token/).inputValue()).toBe('');
  await page.getByRole('heading', { name: 'Console' }).waitFor({ state: 'detached' });
}, 60_000);

it('any content of a foreign card is shown as text', async () => {
  const card = {
    ...{ name: evilTexts[0], url: `javascript:document.title=1`, protocolVersion: '0.3.0' },
    skills: evilTexts.map((text) => ({ id: text, name: text, description: text, tags: [] })),
    securitySchemes: Object.fromEntries(evilTexts.map((text) => [text, { type: text }])),
    security: evilTexts.map((text) => ({ [`${text}!`]: [] })),
  };
  const server = createServer((_, response) => response.end(JSON.stringify(card)));
  const url = await listenOnLoopback(server);
  const page = await look({}, `?url=${encodeURIComponent(url)}`);
  await page.getByLabel('Allow addresses of this machine').check();
  await page.getByRole('button', { name: 'Get card' }).click();
  await page.getByRole('heading', { name: 'Console' }).waitFor();
  const closed = page.locator('details:not([open]) > summary');
  while ((await closed.count()) > 0) {
    await closed.first().evaluate((element: any) => element.click());
  }
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText(/^Status 200/).waitFor();
  expect(await page.locator('main').textContent()).toContain('document.title=1');
  const odd = 'main :is(img, script, iframe, style, base, meta, object, embed, video, a)';
  expect(await page.locator(odd).count()).toBe(0);
  expect(await page.title()).toBe('A2A · Holdpoint');
}, 60_000);
