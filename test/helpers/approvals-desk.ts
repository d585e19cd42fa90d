import type { ServiceSettings } from './agent-folder.ts';
import { deferring, reached, startTestAgent, type TestAgent } from './test-agent.ts';
import { startWebIssuer, type WebIssuer, type WebIssuerOptions, webClient } from './web-issuer.ts';
import { WebVisitor } from './web-visitor.ts';

export const origin = 'https://approvals.example.com';
export const token = 'token-of-the-program';
export const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
export const verified = (email: string, more: object = {}) => ({
  email,
  email_verified: true,
  ...more,
});

const people: WebIssuerOptions['people'] = {
  ann: verified('ann@example.com', { name: 'Ann' }),
  bob: verified('bob@example.com'),
  liar: { email: 'ann@example.com', email_verified: false },
};

export const team: WebIssuerOptions['people'] = {
  ann: verified('ann@example.com', { groups: ['finance'] }),
  bob: verified('bob@example.com', { groups: ['finance'] }),
  eve: verified('eve@example.com', { groups: ['sales'] }),
};

export interface Desk {
  agent: TestAgent;
  issuer: WebIssuer;
  visit: () => WebVisitor;
}

/** An agent with an approvals page, behind a proxy with TLS. */
export async function startDesk({
  rule = { approvers: ['ann@example.com'] },
  signIn = {},
  page = {},
  settings = {},
  auth = () => [],
  ...options
}: {
  rule?: object;
  signIn?: object;
  page?: object;
  settings?: ServiceSettings;
  /** Further providers of the agent. */
  auth?: (issuer: WebIssuer) => object[];
} & Partial<WebIssuerOptions> = {}): Promise<Desk> {
  const issuer = await startWebIssuer({
    redirectUri: `${origin}/approvals/callback`,
    signedOutUri: `${origin}/approvals/`,
    people,
    ...options,
  });
  const agent = await startTestAgent(
    {
      ...deferring(rule),
      approvals: {
        public_url: origin,
        sign_in: { issuer: issuer.issuer, client_id: webClient, ...signIn },
        ...page,
      },
      auth: {
        providers: [
          ...auth(issuer),
          {
            type: 'static_token',
            name: 'shop',
            settings: { token, identity: { user_id: 'shop', email: 'shop@example.com' } },
          },
        ],
      },
      ...settings,
    },
    { env: { APPROVALS_SECRET: 'a-secret-of-the-client-that-is-long' } },
  );
  return { agent, issuer, visit: () => new WebVisitor(origin, agent.url) };
}

export async function signedIn(desk: Desk, person = 'ann'): Promise<WebVisitor> {
  desk.issuer.person = person;
  const visitor = desk.visit();
  await visitor.signIn();
  return visitor;
}

/** Sends a task whose call waits; resolves with the id of the call and the answer. */
export async function park(agent: TestAgent, id = 't1') {
  const caller = agent.as(token);
  const answer = caller.send(id, script);
  const body = await reached(caller, id, 'deferred');
  const { id: call, args_sha256 } = body.metadata.deferral;
  const pinned = { deferral_id: call, args_sha256 };
  return { answer, call, pinned };
}
