import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { passkeyFault } from '../../../src/actors/records/log/verify-passkeys.ts';
import { forgive, seeWhole, TestBrowser } from '../../helpers/browser.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { expectUsable, park, startDesk } from './browser-desk.ts';

let browser: TestBrowser;
beforeAll(async () => {
  [browser] = await Promise.all([TestBrowser.launch(['localhost']), buildPage()]);
}, 60_000);
afterAll(() => browser.close());

/** Gives a page an authenticator that always agrees, as the sensor of a phone does. */
async function withAuthenticator(page: Page): Promise<{ cdp: CDPSession; id: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, id };
}

describe('passkeys in a browser', () => {
  it.each(['light', 'dark'] as const)(
    'are added, confirm an approval whose receipt verifies offline, and answer once (%s)',
    async (scheme) => {
      const { agent, url } = await startDesk({
        host: 'localhost',
        rule: { require_passkey: true },
        page: { passkey_delay: '1ms' },
      });
      const { answer } = await park(agent, 't1', { order: 'A-1', amount: 5 });
      const { page, complaints } = await browser.page({ width: 360, height: 640, scheme });
      forgive(complaints, ['401', '403', '404', '409', `asked for ${url}`]);
      const { cdp, id } = await withAuthenticator(page);
      const sent: object[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/decisions')) sent.push(request.postDataJSON());
      });
      await page.goto(`${url}/approvals/`);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByLabel('Name of a new passkey').fill('Phone');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByRole('button', { name: 'Remove the passkey Phone' }).waitFor();
      await expectUsable(page);

      await page.getByRole('list', { name: 'Waiting calls' }).getByRole('link').click();
      await page.getByText('An approval needs your passkey.').waitFor();
      await expectUsable(page);
      const approve = await seeWhole(page);
      await cdp.send('WebAuthn.setResponseOverrideBits', { authenticatorId: id, isBadUV: true });
      await expect
        .poll(
          async () => {
            if (await approve.isEnabled()) await approve.click();
            return page
              .getByText('The passkey did not confirm this decision; try again.')
              .isVisible();
          },
          { timeout: 20_000 },
        )
        .toBe(true);
      expect(agent.folder.paid).toEqual([]);
      await cdp.send('WebAuthn.setResponseOverrideBits', { authenticatorId: id, isBadUV: false });
      await approve.click();
      await page.getByText('Approved.', { exact: true }).waitFor();
      expect((await answer).body.status.state).toBe('completed');

      const [line] = agent.audit('t1').filter(({ event }) => event === 'task_deferred_decision');
      const call = line?.fields?.['call_id'];
      const { body } = await agent.as(agent.token).get(`/tasks/t1/calls/${call}/receipt`);
      const claims = JSON.parse(Buffer.from(body.split('.')[1], 'base64url').toString());
      expect(claims.decisions[0].passkey).toMatchObject({ rp_id: 'localhost', origin: url });
      expect(await passkeyFault(claims)).toBeNull();

      const again = await page.evaluate(async (decision) => {
        const { csrf } = (await (await fetch('./api/session')).json()) as { csrf: string };
        const headers = { 'content-type': 'application/json', 'x-holdpoint-csrf': csrf };
        const body = JSON.stringify(decision);
        const path = './api/tasks/t1/decisions';
        return (await fetch(path, { method: 'POST', headers, body })).status;
      }, sent.at(-1));
      expect([404, 409]).toContain(again);
    },
  );
});
