import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { freePort } from '../../../bench/peers/free-port.ts';
import type { Answer } from '../../helpers/agent-client.ts';
import { axeFindings } from '../../helpers/axe-findings.ts';
import { missingOf } from '../../helpers/browser.ts';
import { deferring, reached, startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { startWebIssuer, type WebIssuer, webClient } from '../../helpers/web-issuer.ts';

const token = 'token-of-the-program';

/** An agent with an approvals page on loopback, at which Ann signs in. */
export async function startDesk({
  host = '127.0.0.1',
  rule = {},
  page = {},
}: {
  /** Name of this machine; browsers offer passkeys on `localhost` only. */
  host?: string;
  rule?: object;
  page?: object;
} = {}): Promise<{ agent: TestAgent; issuer: WebIssuer; url: string }> {
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const issuer = await startWebIssuer({
    redirectUri: `${url}/approvals/callback`,
    hasLogout: false,
    people: { ann: { name: 'Ann', email: 'ann@example.com', email_verified: true } },
  });
  issuer.person = 'ann';
  const settings = { token, identity: { user_id: 'shop' } };
  const agent = await startTestAgent(
    {
      ...deferring({
        approvers: ['ann@example.com'],
        edit: true,
        require_reason: 'reject',
        ...rule,
      }),
      approvals: {
        public_url: url,
        sign_in: { issuer: issuer.issuer, client_id: webClient },
        ...page,
      },
      audit: { sign: true },
      auth: { providers: [{ type: 'static_token', name: 'shop', settings }] },
    },
    { port },
  );
  return { agent, issuer, url };
}

/** Sends a task whose call waits. */
export async function park(
  agent: TestAgent,
  id: string,
  args: object,
): Promise<{ answer: Promise<Answer> }> {
  const answer = agent.as(token).send(id, [{ tool: 'pay', args }, { say: 'paid' }]);
  await agent
    .as(token)
    .get('/tasks')
    .then(() => undefined);
  await reached(agent.as(token), id, 'deferred');
  return { answer };
}

/** Checks that a page is ready for everybody. */
export async function expectUsable(page: Page): Promise<void> {
  expect(await missingOf(page)).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);
}
