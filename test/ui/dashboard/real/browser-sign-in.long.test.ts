import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDashboard } from '../../../helpers/dashboard-process.ts';
import { faultsOf, narrow, twoLooks } from '../../../helpers/faults-of.ts';
import { clientId, type SignInServer, startSignInServer } from '../../../helpers/sign-in-server.ts';
import { eventually } from '../page-browser.ts';
import { focused, Shared } from './real-page.ts';

const shared = new Shared();

beforeAll(async () => {
  await shared.open();
});
afterAll(() => shared.close());

interface View {
  scheme?: 'light' | 'dark';
  width?: number;
}

/** Opens the wizard at the model of a provider that a browser signs in to. */
async function openModel(name: string, view: View = {}) {
  const server = await startSignInServer();
  server.asks = true;
  const dashboard = await startDashboard(shared.workspace, {
    env: {
      SERVICE_OAUTH_CLIENT_ID: clientId,
      SERVICE_OAUTH_ISSUER: server.issuer,
      SERVICE_OAUTH_AUTHORIZATION_URL: `${server.issuer}/auth`,
      SERVICE_OAUTH_TOKEN_URL: `${server.issuer}/token`,
      SERVICE_OAUTH_SCOPE: 'openid',
    },
  });
  const { page } = await shared.browser.page(view);
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(`${dashboard.url}/#/new`);
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('radio', { name: 'OpenAI', exact: true }).check();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('combobox', { name: 'Model' }).fill('gpt-5');
  return { server, page };
}

/** Presses a button that leads to the provider, and returns the provider's tab. */
async function opened(page: Page, button: string): Promise<Page> {
  const tab = page.context().waitForEvent('page');
  await page.getByRole('button', { name: button }).click();
  const provider = await tab;
  await provider.getByRole('link', { name: 'Allow' }).waitFor();
  return provider;
}

function status(page: Page, text: string): Promise<void> {
  return page.getByRole('status').getByText(text).waitFor();
}

async function signIn(page: Page, button: string): Promise<string> {
  const provider = await opened(page, button);
  const address = new URL(provider.url());
  expect(await provider.evaluate('[window.opener, document.referrer]')).toEqual([null, '']);
  await provider.getByRole('link', { name: 'Allow' }).click();
  await provider.getByText('You are signed in').waitFor();
  const session = new URL(provider.url()).searchParams.get('state') ?? '';
  await provider.close();
  await status(page, 'Signed in');
  expect(address.pathname).toContain('/person/');
  expect(session.length).toBeGreaterThan(20);
  return session;
}

/** Everything that the browser keeps of the page, or shows of it. */
function keptBy(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { document, history, localStorage, location, sessionStorage } = globalThis as any;
    const kept = [{ ...localStorage }, { ...sessionStorage }, history.state, location.href];
    return document.documentElement.outerHTML + JSON.stringify(kept);
  });
}

function tokenCalls({ asked }: SignInServer): string[] {
  return asked.filter((path) => path === '/token');
}

it('an agent is created with a sign-in whose token the page never receives', async () => {
  const { server, page } = await openModel('signed');
  await page.getByRole('radio', { name: 'Sign in with the browser' }).check();
  await page.getByRole('textbox', { name: 'Organization ID' }).fill('org-1');
  const session = await signIn(page, 'Sign in to OpenAI');
  expect(tokenCalls(server)).toEqual(['/token']);
  expect(await keptBy(page)).not.toContain(session);
  await page.locator('[data-step=review] a').click();
  await page.getByRole('region', { name: 'service.yaml' }).getByText('org-1').waitFor();
  await page.getByText('a browser sign-in, work on this page only').waitFor();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Agent created' }).waitFor();
  const file = join(shared.workspace, 'signed', '.service', '.env');
  const { OPENAI_API_KEY: token = '' } = parseEnv(readFileSync(file, 'utf8'));
  expect(token.length).toBeGreaterThan(20);
  const kept = await keptBy(page);
  expect([kept.includes(token), kept.includes(session)]).toEqual([false, false]);
});

it('a refused consent is shown, and the next attempt signs in', async () => {
  const { page, server } = await openModel('refused');
  await page.getByRole('radio', { name: 'Sign in with the browser' }).check();
  await page.getByRole('button', { name: 'Next' }).click();
  const unsigned = page.getByRole('alert').getByText('sign in with the browser, or choose API key');
  await unsigned.waitFor();
  const provider = await opened(page, 'Sign in to OpenAI');
  await provider.getByRole('link', { name: 'Refuse' }).click();
  await provider.getByText('You are not signed in').waitFor();
  await provider.close();
  await page.getByRole('alert').getByText('the provider was not allowed to sign you in').waitFor();
  expect(tokenCalls(server)).toEqual([]);
  await signIn(page, 'Retry');
  await page.getByRole('button', { name: 'Next' }).click();
  await eventually(() => expect(new URL(page.url()).hash).toBe('#/new/channels'));
});

it('a sign-in can be canceled, opened again and dropped, and replaced by a key', async () => {
  const { page, server } = await openModel('keyed');
  const browser = page.getByRole('radio', { name: 'Sign in with the browser' });
  await browser.check();
  const left = await opened(page, 'Sign in to OpenAI');
  await page.getByRole('button', { name: 'Cancel sign-in' }).click();
  await eventually(async () => expect(await focused(page)).toContain('The token stays'));
  await left.getByRole('link', { name: 'Allow' }).click();
  await left.getByText('This sign-in was canceled').waitFor();
  await left.close();
  expect(await page.getByRole('button', { name: 'Sign in to OpenAI' }).isVisible()).toBe(true);
  await page.context().clearCookies();
  const closed = await opened(page, 'Sign in to OpenAI');
  await closed.close();
  await signIn(page, 'Reopen tab');
  await page.getByRole('button', { name: 'Discard sign-in' }).click();
  await page.getByRole('radio', { name: 'API key' }).check();
  await page.getByRole('textbox', { name: 'API key' }).fill('sk-typed');
  await page.locator('[data-step=review] a').click();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Agent created' }).waitFor();
  const file = join(shared.workspace, 'keyed', '.service', '.env');
  expect(parseEnv(readFileSync(file, 'utf8'))).toEqual({ OPENAI_API_KEY: 'sk-typed' });
  // What was called off was never asked for.
  expect(tokenCalls(server)).toEqual(['/token']);
});

it('the sign-in has no axe finding, wide and narrow', async () => {
  const { page } = await openModel('axe', narrow);
  const look = async (how: string): Promise<void> => {
    expect({ how, faults: await faultsOf(page, twoLooks) }).toEqual({ how, faults: [] });
  };
  await look('keyed');
  await page.getByRole('radio', { name: 'Sign in with the browser' }).check();
  await look('offered');
  const provider = await opened(page, 'Sign in to OpenAI');
  await look('pending');
  await provider.getByRole('link', { name: 'Refuse' }).click();
  await page.getByRole('alert').getByText('was not allowed').waitFor();
  await look('failed');
  await signIn(page, 'Retry');
  await look('done');
});
