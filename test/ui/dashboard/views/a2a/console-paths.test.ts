import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import type { A2aLineJson } from '../../../../../src/http/wire/dashboard/a2a-json.ts';
import { consoleMachine } from '../../../../../src/ui/dashboard/views/a2a/console-machine.ts';
import { hasFocus, openAskedPage } from '../../../../helpers/asked-page.ts';
import { TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { walkShown } from '../../../../helpers/page-walk.ts';

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

const isSending = (snapshot: AnyMachineSnapshot) => snapshot.matches('sending');

const send = 'POST /api/a2a/send';

/** A line of the answer, where the server has come to it. */
function tells(
  line: A2aLineJson,
  isNext: (answer: AnyMachineSnapshot['context']) => boolean,
): Happening<World> {
  return {
    event: { type: 'line.came', line },
    in: (snapshot) =>
      isSending(snapshot) &&
      snapshot.context.end === null &&
      snapshot.context.problem === null &&
      isNext(snapshot.context),
    happen: async ({ server }) => {
      const answer = await server.stream(send);
      answer.write(`${JSON.stringify(line)}\n`);
    },
  };
}

const happenings: Happenings<World> = {
  'a request is sent': {
    event: { type: 'request.sent', request },
    in: (snapshot) => snapshot.matches('resting'),
    happen: ({ press }) => press('Send'),
  },
  'it is sent again': {
    event: { type: 'request.sent', request },
    in: isSending,
    // A form is sent by its fields too.
    happen: ({ page }) => page.getByLabel(/^Path below/).press('Enter'),
  },
  'it is stopped': {
    event: { type: 'request.stopped' },
    in: isSending,
    happen: ({ press }) => press('Stop'),
  },
  'the answer begins': tells(
    { status: 200, headers: { 'content-type': 'application/json' } },
    ({ status }) => status === null,
  ),
  'a part of it comes': tells(
    { text: '{"ok":' },
    ({ status, text }) => status !== null && text === '',
  ),
  'the rest comes': tells({ text: 'true}' }, ({ text }) => text === '{"ok":'),
  'it is whole': tells({ end: { bytes: 11, ms: 7 } }, ({ text }) => text === '{"ok":true}'),
  'it breaks off': tells({ problem: 'The agent hung up.' }, () => true),
  'that was all': {
    event: { type: 'line.last' },
    in: isSending,
    happen: async ({ server }) => (await server.stream(send)).end(),
  },
  'the server refuses it': {
    event: [{ type: 'line.came', line: { problem: refusal.error } }, { type: 'line.last' }],
    in: (snapshot) =>
      isSending(snapshot) && snapshot.context.status === null && snapshot.context.problem === null,
    happen: ({ refuse }) => refuse(send, refusal, 400),
  },
};

/** What the page shows of its chart, and what it waits for. */
async function look({ page, server }: World, snapshot: AnyMachineSnapshot): Promise<void> {
  const { status, text, end, problem } = snapshot.context;
  const isBusy = isSending(snapshot);
  const isLaidOut = !isBusy && text === '{"ok":true}';
  const headers = 'content-type: application/json';
  if (snapshot.context.request !== null) expect(await hasFocus(page)).toBe(true);
  expect([await shownBy(page), server.underWay()]).toEqual([
    {
      buttons: isBusy ? ['(Send)', 'Stop'] : ['Send'],
      says: isBusy
        ? 'Waiting for the answer …'
        : end === null
          ? ''
          : `Status ${status}, 11 bytes in 7 ms`,
      alerts: problem === null ? [] : [problem],
      answer:
        status === null
          ? null
          : `200\n${headers}\n\n${isLaidOut ? '{\n  "ok": true\n}' : text}`.trim(),
    },
    isBusy ? [`${send} ${JSON.stringify(request)}`] : [],
  ]);
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

describe('the shortest paths of the console, in the page', () => {
  walkShown(consoleMachine, happenings, openConsole, look, {
    fingerprint: ({ context: { status, end, problem } }) => [status, end, problem],
  });
});
