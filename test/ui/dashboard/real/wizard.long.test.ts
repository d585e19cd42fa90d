import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { authOffers } from '../../../../src/machines/wizard/offers.ts';
import { holdpointHere } from '../../../cli/command-here.ts';
import { forgive } from '../../../helpers/browser.ts';
import { type DashboardProcess, startDashboard } from '../../../helpers/dashboard-process.ts';
import { evilTexts } from '../../../helpers/evil-texts.ts';
import { everyLook, faultsOf, narrow, wideLooks } from '../../../helpers/faults-of.ts';
import { walkWizard } from '../../../helpers/wizard-walk.ts';
import { eventually, overflowOf } from '../page-browser.ts';
import { focused, Shared, tabTo } from './real-page.ts';

const shared = new Shared();
let dashboard: DashboardProcess;

beforeAll(async () => {
  dashboard = await shared.open({ OPENAI_API_KEY: 'sk-of-the-environment' });
});
afterAll(() => shared.close());

async function open(step = '', view: Parameters<typeof shared.browser.page>[0] = {}) {
  const opened = await shared.browser.page(view);
  // Who leaves with something typed is asked.
  opened.page.on('dialog', (dialog) => void dialog.accept());
  await opened.page.goto(`${dashboard.url}/#/new${step}`);
  await opened.page.getByRole('heading', { name: 'Name' }).waitFor();
  return opened;
}

/** Waiting for the step, by its name in the address and the list of the steps. */
async function at(page: Page, step: string): Promise<void> {
  await eventually(async () => {
    expect(new URL(page.url()).hash).toBe(`#/new/${step}`);
    const current = page.locator('[aria-current=step]').locator('..');
    expect(await current.getAttribute('data-step')).toBe(step);
  });
}

async function next(page: Page, step: string): Promise<void> {
  await page.getByRole('button', { name: 'Next' }).click();
  await at(page, step);
}

async function named(page: Page, name: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
}

function go(page: Page, step: string): Promise<void> {
  return page.locator(`[data-step=${step}] a`).click();
}

function serviceOf(id: string) {
  return parse(readFileSync(join(shared.workspace, id, 'service.yaml'), 'utf8')) as {
    agent_id: string;
    auth?: { providers: object[] };
  };
}

/** Everything that the browser keeps of the page, or shows of it. */
function keptBy(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { document, history, localStorage, location, sessionStorage } = globalThis as any;
    const kept = [{ ...localStorage }, { ...sessionStorage }, history.state, location.href];
    return document.documentElement.outerHTML + JSON.stringify(kept);
  });
}

describe('the wizard', () => {
  it('creates and starts an agent without a mouse', async () => {
    const { page } = await shared.browser.page();
    await page.goto(`${dashboard.url}/#/agents`);
    await page.locator('main h1').waitFor();
    await tabTo(page, 'New agent');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await focused(page)).toBe('Name'));
    await tabTo(page, /^Name ./);
    await page.keyboard.type('Keyboard Desk');
    await page.keyboard.press('Enter');
    const rest = ['provider', 'channels', 'tools', 'skills', 'auth', 'egress', 'security'];
    for (const step of [...rest, 'approvals', 'review']) {
      await at(page, step);
      // The heading of each step has the focus, so that it is read out.
      await eventually(async () => {
        expect(await focused(page)).toBe(await page.locator('main h1').innerText());
      });
      if (step === 'approvals') {
        await tabTo(page, 'datetime_now');
        await page.keyboard.press('Space');
        await tabTo(page, /^How long/);
        await page.keyboard.press('ControlOrMeta+a');
        await page.keyboard.type('9m');
      }
      if (step === 'review') break;
      await tabTo(page, 'Next');
      await page.keyboard.press('Enter');
    }
    await page.getByRole('region', { name: 'service.yaml' }).getByText('timeout: 9m').waitFor();
    await tabTo(page, 'Create');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await focused(page)).toBe('Agent created'));
    await tabTo(page, 'Start');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Restart' }).waitFor({ timeout: 60_000 });
    shared.later(async () => {
      await dashboard.post('/api/agents/keyboard-desk/stop', {});
    });
    expect(serviceOf('keyboard-desk')).toMatchObject({
      agent_id: 'keyboard-desk',
      security: { defer: { tools: { datetime_now: { timeout: '9m' } } } },
    });
    const stopped = await holdpointHere([
      'serve',
      'stop',
      '--dir',
      join(shared.workspace, 'keyboard-desk'),
    ]);
    expect(stopped).toMatchObject({ code: 0 });
  });

  it('creates a gate from its name, like the shown command', async () => {
    const { page } = await open();
    await named(page, 'Coding Agents');
    await next(page, 'provider');
    await page.getByRole('radio', { name: /^No model/ }).check();
    await next(page, 'review');
    const command = 'holdpoint init coding-agents --provider gate';
    await page.getByText(command).first().waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Agent created' }).waitFor();
    const again = join(shared.workspace, '..', 'same-gate');
    shared.later(async () => rmSync(again, { recursive: true, force: true }));
    const words = ['init', 'coding-agents', '--gate', '--dir', again];
    expect(await holdpointHere(words)).toMatchObject({ code: 0 });
    const made = readFileSync(join(shared.workspace, 'coding-agents', 'service.yaml'), 'utf8');
    expect(made).toBe(readFileSync(join(again, 'service.yaml'), 'utf8'));
  });

  it.each(authOffers.map(({ mode }) => mode))(
    'writes the settings of sign-in by %s, like the shown command',
    async (mode) => {
      const { page } = await open();
      const id = `auth-${mode.replace('_', '-').replace('_', '-')}`;
      await named(page, id);
      await go(page, 'auth');
      await at(page, 'auth');
      const offer = authOffers.find((one) => one.mode === mode)!;
      await page.getByRole('radio', { name: offer.label }).check();
      for (const field of offer.fields.filter(({ required }) => required)) {
        await page.getByRole('textbox', { name: field.label }).fill(field.example);
      }
      await go(page, 'review');
      await at(page, 'review');
      const shown = await page.getByRole('region', { name: 'service.yaml' }).innerText();
      const command = await page.locator('main code', { hasText: 'holdpoint init' }).innerText();
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('heading', { name: 'Agent created' }).waitFor();
      const file = join(shared.workspace, id, 'service.yaml');
      const written = readFileSync(file, 'utf8');
      expect(written.trim()).toBe(shown.trim());
      const providers = serviceOf(id).auth?.providers ?? null;
      if (mode === 'none' || mode === 'custom') {
        expect(providers).toBeNull();
        expect(written.includes('# auth:')).toBe(mode === 'custom');
      } else expect(providers).toMatchObject([{ type: mode }]);
      if (!command.includes('--answers')) {
        rmSync(join(shared.workspace, id), { recursive: true });
        const [, ...words] = command.split(' ');
        expect((await holdpointHere(words)).code).toBe(0);
        expect(readFileSync(file, 'utf8')).toBe(written);
      }
    },
  );

  it('keeps typed text between steps, and nothing over a reload', async () => {
    const secrets = ['sk-canary-of-the-key', 'canary passphrase 12', 'canary of the shop'];
    const { page } = await open('/security');
    await at(page, 'name');
    await named(page, 'Back and forth');
    await next(page, 'provider');
    await page.getByRole('radio', { name: 'OpenAI', exact: true }).check();
    await next(page, 'model');
    await page.getByRole('combobox', { name: 'Model' }).fill('gpt-5');
    await page.getByLabel('API key').fill(secrets[0]!);
    await next(page, 'channels');
    expect(await keptBy(page)).not.toContain('canary');
    await page.goBack();
    await at(page, 'model');
    expect(await page.getByLabel('API key').inputValue()).toBe(secrets[0]);
    expect(await page.getByLabel('API key').getAttribute('type')).toBe('password');
    expect(await keptBy(page)).not.toContain('canary');
    await page.goForward();
    await at(page, 'channels');
    await page.getByRole('button', { name: 'Back' }).click();
    await at(page, 'model');
    await go(page, 'security');
    await at(page, 'security');
    await page.getByRole('button', { name: 'Add a variable' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('SHOP_KEY');
    await page.getByLabel('Value').fill(secrets[2]!);
    await page.getByRole('textbox', { name: 'Passphrase' }).fill(secrets[1]!);
    await page.getByRole('textbox', { name: 'Confirm passphrase' }).fill('another');
    await page.getByRole('button', { name: 'Next' }).click();
    const wrong = page.getByRole('textbox', { name: 'Confirm passphrase' });
    await eventually(async () => expect(await wrong.getAttribute('aria-invalid')).toBe('true'));
    expect(await focused(page)).toContain('Confirm passphrase');
    await wrong.fill(secrets[1]!);
    await next(page, 'approvals');
    await next(page, 'review');
    await page.getByText('encrypted with the passphrase').waitFor();
    const review = await keptBy(page);
    for (const secret of ['canary', ...secrets]) expect(review).not.toContain(secret);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Agent created' }).waitFor();
    const made = await keptBy(page);
    for (const secret of ['canary', ...secrets]) expect(made).not.toContain(secret);
    expect(dashboard.printed).not.toContain('canary');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Passphrase').waitFor();
    await page.goBack();
    await at(page, 'name');
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('');
    await named(page, 'gone with a reload');
    await next(page, 'provider');
    await page.reload();
    await at(page, 'name');
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('');
    expect(await keptBy(page)).not.toContain('canary');
  });

  it('asks before typed text is lost, and stays at its step', async () => {
    const { page } = await shared.browser.page();
    await page.goto(`${dashboard.url}/#/new`);
    await at(page, 'name');
    await named(page, 'half done');
    await next(page, 'provider');
    const views = page.getByRole('navigation', { name: 'Views' });
    page.once('dialog', (dialog) => void dialog.dismiss());
    await views.getByRole('link', { name: 'Audit' }).click();
    await at(page, 'provider');
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('half done');
    page.once('dialog', (dialog) => void dialog.accept());
    await views.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  });

  it('treats hostile names as text, and shows errors at the field', async () => {
    const { page } = await open();
    const field = page.getByRole('textbox', { name: 'Name' });
    for (const name of [...evilTexts, '../x', 'x: y', '*a', '!!x', 'x'.repeat(70)]) {
      await field.fill(name.replaceAll('\n', ' '));
      await page.getByRole('button', { name: 'Next' }).click();
      await eventually(async () => {
        expect([name, await field.getAttribute('aria-invalid')]).toEqual([name, 'true']);
      });
      const told = (await field.getAttribute('aria-describedby'))!.split(' ').at(-1)!;
      expect(await page.locator(`#${told}`).innerText()).toContain('at most 64 letters');
    }
    expect(await page.locator('main :is(img, script, iframe, style)').count()).toBe(0);
    expect(readdirSync(shared.workspace).some((name) => name.startsWith('x'))).toBe(false);
  });

  it('leads back to the name when another tab has created that agent', async () => {
    const [one, other] = [await open(), await open()];
    for (const { page } of [one, other]) {
      await named(page, 'Twice');
      await go(page, 'review');
      await at(page, 'review');
      await page.getByRole('heading', { name: 'Files to be created' }).waitFor();
    }
    await one.page.getByRole('button', { name: 'Create' }).click();
    await one.page.getByRole('heading', { name: 'Agent created' }).waitFor();
    await other.page.getByRole('button', { name: 'Create' }).click();
    await at(other.page, 'name');
    const field = other.page.getByRole('textbox', { name: 'Name' });
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.inputValue()).toBe('Twice');
    await other.page.getByText('already there').first().waitFor();
    // The browser notes each refusal.
    forgive(other.complaints, ['400', '409']);
    await named(other.page, 'Twice more');
    await go(other.page, 'review');
    await other.page.getByRole('button', { name: 'Create' }).click();
    await other.page.getByRole('heading', { name: 'Agent created' }).waitFor();
    expect(existsSync(join(shared.workspace, 'twice-more/service.yaml'))).toBe(true);
  });

  it('leads back to the skill whose variable is missing', async () => {
    const { page, complaints } = await open();
    await named(page, 'Mailer');
    await go(page, 'skills');
    await page.getByRole('checkbox', { name: 'email-send' }).check();
    await go(page, 'review');
    await page.getByRole('button', { name: 'Create' }).click();
    await at(page, 'skills');
    const field = page.getByLabel('SMTP_URL');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    forgive(complaints, ['400']);
    expect(existsSync(join(shared.workspace, 'mailer'))).toBe(false);
  });

  it('shows the source of each host, and adds and removes others', async () => {
    const { page } = await open();
    await named(page, 'Hosts');
    await go(page, 'provider');
    await page.getByRole('radio', { name: 'OpenAI', exact: true }).check();
    await next(page, 'model');
    await page.getByRole('combobox', { name: 'Model' }).fill('gpt-5');
    await go(page, 'auth');
    await page.getByRole('radio', { name: 'OIDC (JWT)' }).check();
    await page.getByRole('textbox', { name: 'Issuer' }).fill('https://id.example.com');
    await page.getByRole('textbox', { name: 'Audience' }).fill('hosts');
    await next(page, 'egress');
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('radio', { name: 'HTTP verifier' }).check();
    await page
      .getByRole('textbox', { name: 'Address of the verifier' })
      .fill('https://v.example.com');
    await next(page, 'egress');
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('radio', { name: 'OIDC (JWT)' }).check();
    // What was typed for another way is there again, also after other steps.
    expect(await page.getByRole('textbox', { name: 'Issuer' }).inputValue()).toBe(
      'https://id.example.com',
    );
    await next(page, 'egress');
    const rows = page.getByRole('row');
    await eventually(async () => {
      expect(await rows.allInnerTexts()).toEqual(
        expect.arrayContaining(['id.example.com\tAuth', 'api.openai.com\tModel']),
      );
    });
    const field = page.getByRole('textbox', { name: 'Another host' });
    await field.fill('one.example.com');
    await page.keyboard.press('Enter');
    await page.keyboard.type('10.0.0.1');
    await page.getByRole('button', { name: 'Next' }).click();
    await eventually(async () => expect(await field.getAttribute('aria-invalid')).toBe('true'));
    await page.getByRole('button', { name: 'Remove 10.0.0.1' }).click();
    await field.fill('two.example.com');
    await next(page, 'security');
    await next(page, 'approvals');
    await next(page, 'review');
    const shown = await page.getByRole('region', { name: 'service.yaml' }).innerText();
    expect(parse(shown)).toMatchObject({
      egress: { allowed_domains: ['one.example.com', 'two.example.com'] },
    });
  });

  it('loses nothing while the dashboard is unreachable', async () => {
    const own = await startDashboard(shared.workspace);
    // The browser notes each request without an answer.
    const { page } = await shared.browser.page({ isOwn: false });
    await page.goto(`${own.url}/#/new`);
    await at(page, 'name');
    await named(page, 'Late');
    await go(page, 'review');
    await page.getByRole('heading', { name: 'Files to be created' }).waitFor();
    await own.kill();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('is not responding').first().waitFor();
    await startDashboard(shared.workspace, { port: own.port });
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Agent created' }).waitFor();
  });

  it('has no axe finding at any step, in both themes, wide and narrow', async () => {
    const { page } = await open('', narrow);
    const look = async (step: string): Promise<void> => {
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      const isWrong = step.endsWith('-wrong');
      expect({ step, wider: await overflowOf(page) }).toEqual({ step, wider: null });
      // A complaint looks alike at every step, so one of them is looked at in both themes.
      const wrong = step === 'name-wrong' ? wideLooks : wideLooks.slice(0, 1);
      const faults = await faultsOf(page, isWrong ? wrong : everyLook);
      expect({ step, faults }).toEqual({ step, faults: [] });
      await page.setViewportSize({ width: narrow.width, height: 800 });
    };
    await walkWizard(page, look);
  });
});
