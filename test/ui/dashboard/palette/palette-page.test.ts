import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgive, TestBrowser } from '../../../helpers/browser.ts';
import { anAgent } from '../../../helpers/page-fixtures.ts';
import { readOut } from '../../../helpers/page-walk.ts';
import { type HeldPage, openHeldPage } from '../held-page.ts';
import { eventually } from '../page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const stop = 'POST /api/agents/refunds/stop';

/** A page whose time does not advance, with one agent. */
async function openPage(): Promise<HeldPage> {
  const held = await openHeldPage({
    browser,
    view: '#/health',
    held: [stop],
    arrange: (server) => {
      server.agents = [anAgent()];
      server.routes.set('GET /api/agents/refunds/tasks', () => ({ body: { tasks: [] } }));
    },
    prepare: async ({ clock }) => {
      await clock.install({ time: Date.now() });
      await clock.pauseAt(Date.now() + 1_000);
    },
  });
  forgive(held.complaints, ['409']);
  await held.page.getByRole('navigation').getByRole('link', { name: 'refunds' }).waitFor();
  return held;
}

/** Compares the dialog and the requests of the page. */
const expectDialog = ({ page, asked }: HeldPage, lines: string[], requests: unknown[]) =>
  eventually(async () => {
    const roles = ['dialog', 'combobox', 'button', 'alert'];
    expect(await readOut(page.locator('dialog'), roles)).toEqual(lines);
    expect(asked).toEqual(requests);
  });

const search = [
  'dialog "Go to a page or run a command"',
  'combobox "Go to a page or run a command" [expanded]',
];
const confirmation = [
  ...['dialog "Stop refunds?"', 'button "Copy the command"', 'button "Stop"', 'button "Back"'],
];
const refusal = 'It cannot stop.';

describe('the palette', () => {
  it('sends a confirmed command once, and stays open when it is refused', async () => {
    const held = await openPage();
    const { page, answer } = held;
    const choose = async () => {
      await page.getByRole('combobox').fill('stop refunds');
      await page.keyboard.press('Enter');
    };
    await page.keyboard.press('Control+k');
    await expectDialog(held, search, []);
    await choose();
    await expectDialog(held, confirmation, []);
    await page.getByRole('button', { name: 'Back' }).click();
    await expectDialog(held, search, []);
    await choose();
    await expectDialog(held, confirmation, []);
    await page.keyboard.press('Enter');
    const sent = [stop, {}];
    const sending = confirmation.map((line) =>
      /"(Stop|Back)"/.test(line) ? `${line} [disabled]` : line,
    );
    await expectDialog(held, sending, [sent]);
    await page.keyboard.press('Enter');
    await expectDialog(held, sending, [sent]);
    await answer(stop, { status: 409, body: { error: refusal } });
    const refused = confirmation.toSpliced(1, 0, `alert: ${refusal}`);
    await expectDialog(held, refused, [sent]);
    await page.getByRole('button', { name: 'Back' }).click();
    await choose();
    await expectDialog(held, confirmation, [sent]);
    await page.keyboard.press('Enter');
    await expectDialog(held, sending, [sent, sent]);
    await answer(stop, { status: 202 });
    await expectDialog(held, [], [sent, sent]);
  });

  it('is not closed by the answer to an earlier command', async () => {
    const held = await openPage();
    const { page, answer } = held;
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('stop refunds');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Stop refunds?' }).waitFor();
    await page.keyboard.press('Enter');
    await eventually(() => expect(held.asked).toEqual([[stop, {}]]));
    await page.keyboard.press('Escape');
    await expectDialog(held, [], [[stop, {}]]);
    await page.keyboard.press('Control+k');
    await expectDialog(held, search, [[stop, {}]]);
    const answered = page.waitForResponse(/stop$/);
    await answer(stop, { status: 202 });
    await (await answered).finished();
    await expectDialog(held, search, [[stop, {}]]);
  });
});

/** A key, or milliseconds without one. */
type Pressed = string | number;

describe('the keys of every page', () => {
  const palette = 'Go to a page or run a command';
  /** Whether a letter selects a page is shown by `t`, which leads to the tasks. */
  const rows: [pressed: Pressed[], dialog: string | null, view: string][] = [
    [['t'], null, '#/health'],
    [['Control+g', 't'], null, '#/health'],
    [['?'], 'Keys', '#/health'],
    [['Control+k'], palette, '#/health'],
    [['g', 'z', 't'], null, '#/health'],
    [['g', 'g', 't'], null, '#/health'],
    [['g', 'Control+k', 't'], palette, '#/health'],
    [['g', 1_500, 't'], null, '#/health'],
    [['g', 't', 'd'], null, '#/tasks'],
    [['g', '?', 't'], null, '#/tasks'],
    [['g', 'Shift', 't'], null, '#/tasks'],
    [['g', 1_499, 't'], null, '#/tasks'],
  ];

  it('open a dialog, or a page with a letter soon after g', async () => {
    const { page } = await openPage();
    const shown: typeof rows = [];
    for (const [pressed] of rows) {
      await page.evaluate(`location.hash = '#/health'`);
      await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor();
      let dialog: string | null = null;
      for (const each of pressed) {
        if (typeof each === 'string') await page.keyboard.press(each);
        else await page.clock.runFor(each);
        if (each !== 'Control+k' && each !== '?') continue;
        if (each === '?' && pressed[0] === 'g') continue;
        await page.getByRole('dialog').waitFor();
        dialog =
          (await page.getByRole('dialog', { name: palette }).count()) === 1 ? palette : 'Keys';
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      shown.push([pressed, dialog, new URL(page.url()).hash]);
      // Ends a letter that is still awaited.
      await page.clock.runFor(1_500);
    }
    expect(shown).toEqual(rows);
  });
});
