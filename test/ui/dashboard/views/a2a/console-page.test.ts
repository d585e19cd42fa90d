import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { A2aLineJson } from '../../../../../src/http/wire/dashboard/a2a-json.ts';
import { hasFocus, openAskedPage } from '../../../../helpers/asked-page.ts';
import { TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { eventually } from '../../page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

const exchange = {
  ...{ method: 'GET', url: 'https://agent.example.com/card', headers: {} },
  answer: { status: 200, headers: {}, body: '{}', ms: 1 },
};
const inspection = {
  url: 'https://agent.example.com',
  cards: [{ asked: '', form: '0.3', card_sha256: null, findings: [], schemes: [], exchange }],
  legacy: { exchange: { ...exchange, answer: null }, findings: [] },
};
const request = { agent: 'refunds', method: 'GET', path: '/healthz', version: '' } as const;
const refusal = { error: 'The agent does not run.' };

/** The console of an agent whose card has been read, with a request that is filled in. */
async function openConsole() {
  const known = { 'POST /api/a2a/card': inspection };
  const asked = await openAskedPage(browser, '#/a2a?agent=refunds', known);
  await asked.press('Get card');
  await asked.page.locator('.parts select').selectOption('GET of a path');
  return asked;
}

type World = Awaited<ReturnType<typeof openConsole>>;

const send = 'POST /api/a2a/send';
const headers = { 'content-type': 'application/json' };

/** Writes lines of the answer. */
async function write({ server }: World, ...lines: A2aLineJson[]): Promise<void> {
  const answer = await server.stream(send);
  for (const line of lines) answer.write(`${JSON.stringify(line)}\n`);
}

/** Compares the console, its focus and the requests of the page. */
function expectShown({ page, server }: World, isBusy: boolean, changes: object): Promise<void> {
  return eventually(async () => {
    expect([await shownBy(page), await hasFocus(page), server.underWay()]).toEqual([
      {
        buttons: isBusy ? ['(Send)', 'Stop'] : ['Send'],
        says: isBusy ? 'Waiting for the answer …' : '',
        ...{ alerts: [], answer: null, ...changes },
      },
      true,
      isBusy ? [`${send} ${JSON.stringify(request)}`] : [],
    ]);
  });
}

function shownBy(page: World['page']) {
  return page.evaluate(() => {
    const form = (globalThis as any).document.querySelector('main .parts form');
    const all = (selector: string): any[] => [...form.querySelectorAll(selector)];
    const words = ({ innerText }: any): string => innerText.trim();
    const answer = form.querySelector('pre');
    return {
      buttons: all('.row > button').map((button) =>
        button.ariaDisabled === 'true' ? `(${words(button)})` : words(button),
      ),
      says: words(form.querySelector('[role=status]')),
      alerts: all('[role=alert]').map(words),
      answer: answer && words(answer),
    };
  });
}

describe('the console', () => {
  it('shows an answer as it arrives, and formats it at its end', async () => {
    const world = await openConsole();
    const head = '200\ncontent-type: application/json';
    await world.press('Send');
    await expectShown(world, true, {});
    // A form is sent by its fields too.
    await world.page.getByLabel(/^Path below/).press('Enter');
    await expectShown(world, true, {});
    await write(world, { status: 200, headers });
    await expectShown(world, true, { answer: head });
    await write(world, { text: '{"ok":' });
    await expectShown(world, true, { answer: `${head}\n\n{"ok":` });
    await write(world, { text: 'true}' }, { end: { bytes: 11, ms: 7 } });
    await expectShown(world, true, { answer: `${head}\n\n{"ok":true}` });
    (await world.server.stream(send)).end();
    await expectShown(world, false, {
      ...{ says: 'Status 200, 11 bytes in 7 ms', answer: `${head}\n\n{\n  "ok": true\n}` },
    });
    await world.press('Send');
    await expectShown(world, true, {});
  });

  it('keeps the received part of an answer that is stopped or breaks', async () => {
    const world = await openConsole();
    const part = '200\ncontent-type: application/json\n\n{"ok":';
    await world.press('Send');
    await write(world, { status: 200, headers }, { text: '{"ok":' });
    await expectShown(world, true, { answer: part });
    await world.press('Stop');
    await expectShown(world, false, { answer: part });
    await world.press('Send');
    await write(
      world,
      ...[{ status: 200, headers }, { text: '{"ok":' }, { problem: 'The agent hung up.' }],
    );
    (await world.server.stream(send)).end();
    await expectShown(world, false, { answer: part, alerts: ['The agent hung up.'] });
  });

  it('shows why the server refuses a request', async () => {
    const world = await openConsole();
    await world.press('Send');
    await world.refuse(send, refusal, 400);
    await expectShown(world, false, { alerts: [refusal.error] });
  });
});
