import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoctorJson } from '../../../../../src/http/wire/dashboard/doctor-json.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { anAgent } from '../../../../helpers/page-fixtures.ts';
import { readOut } from '../../../../helpers/page-walk.ts';
import { type HeldPage, openHeldPage } from '../../held-page.ts';
import { eventually } from '../../page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const routeOf = (agent: string) => `GET /api/agents/${agent}/doctor`;
const told: DoctorJson = { checks: [{ check: 'config', status: 'pass', message: 'It is read.' }] };
const broken = 'The checks have crashed.';

/** A page that can check two agents. */
async function openPage(view: string): Promise<HeldPage> {
  const held = await openHeldPage({
    browser,
    view,
    held: ['desk', 'till'].map(routeOf),
    arrange: (server) => {
      server.agents = ['desk', 'till'].map((id) => anAgent({ id, status: 'stopped' }));
    },
  });
  forgive(held.complaints, ['500']);
  return held;
}

/** Compares the page and its requests. */
const expectAll = ({ page, asked }: HeldPage, lines: string[], requests: unknown[]) =>
  eventually(async () => {
    const roles = ['button', 'status', 'alert', 'text', 'group'];
    const shown = await readOut(page.locator('main'), roles);
    expect(shown.filter((line) => !/^text: \$|^status$|"Copy/.test(line))).toEqual(lines);
    expect(asked).toEqual(requests);
  });

/** Compares the checks of one agent and the requests of the page. */
const expectOne = ({ page, asked }: HeldPage, lines: string[], requests: unknown[]) =>
  eventually(async () => {
    const roles = ['status', 'button', 'paragraph', 'alert', 'listitem'];
    const shown = await readOut(page.getByRole('region', { name: 'Checks' }), roles);
    expect(shown.filter((line) => line !== 'status')).toEqual(lines);
    expect(asked).toEqual(requests);
  });

const about =
  'paragraph: Checks models, identity providers and channels, and verifies the whole log.';

describe('the checks of all agents', () => {
  it('run one at a time, and continue after a failed one', async () => {
    const held = await openPage('#/health');
    const { page, answer } = held;
    const idle = ['button "Check desk"', 'button "Check till"'];
    const busy = idle.map((line) => `${line} [disabled]`);
    const [desk, till] = [[routeOf('desk')], [routeOf('till')]];
    await expectAll(
      held,
      ['button "Check all"', 'text: not checked yet', idle[0]!, 'text: not checked yet', idle[1]!],
      [],
    );
    await page.getByRole('button', { name: 'Check all' }).click();
    await expectAll(
      held,
      [
        ...['button "Stop"', 'status: Checking desk', 'text: Checking …', busy[0]!],
        ...['text: queued', busy[1]!],
      ],
      [desk],
    );
    await answer(routeOf('desk'), { status: 500, body: { error: broken } });
    const failed = ['text: could not be checked', idle[0]!, `alert: ${broken}`];
    await expectAll(
      held,
      [
        ...['button "Stop"', 'status: Checking till', failed[0]!, busy[0]!, failed[2]!],
        ...['text: Checking …', busy[1]!],
      ],
      [desk, till],
    );
    await answer(routeOf('till'), { body: told });
    const passed = ['text: all 1 checks pass', idle[1]!, 'group: 1 check passes'];
    await expectAll(held, ['button "Check all"', ...failed, ...passed], [desk, till]);
  });

  it('stop with the one in progress', async () => {
    const held = await openPage('#/health');
    const { page } = held;
    await page.getByRole('button', { name: 'Check all' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await expectAll(
      held,
      [
        ...['button "Check all"', 'text: not checked yet', 'button "Check desk"'],
        ...['text: not checked yet', 'button "Check till"'],
      ],
      [[routeOf('desk')], [`gives up ${routeOf('desk')}`]],
    );
  });
});

describe('the checks of one agent', () => {
  it('start with its page, stop and run again', async () => {
    const held = await openPage('#/agents/desk/doctor');
    const { page, answer } = held;
    const busy = ['status: Checking …', 'button "Stop"'];
    const desk = [routeOf('desk')];
    const stopped = [desk, [`gives up ${routeOf('desk')}`]];
    await expectOne(held, [...busy, about], [desk]);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expectOne(held, ['button "Run again"', 'paragraph: Not checked yet.'], stopped);
    await page.getByRole('button', { name: 'Run again' }).click();
    await expectOne(held, [...busy, about], [...stopped, desk]);
    await answer(routeOf('desk'), { body: told });
    const passed = 'listitem: pass config It is read.';
    await expectOne(
      held,
      ['status: all 1 checks pass', 'button "Run again"', passed],
      [...stopped, desk],
    );
    await page.getByRole('button', { name: 'Run again' }).click();
    await expectOne(held, [...busy, passed], [...stopped, desk, desk]);
    await answer(routeOf('desk'), { status: 500, body: { error: broken } });
    await expectOne(held, ['button "Run again"', `alert: ${broken}`], [...stopped, desk, desk]);
  });
});
