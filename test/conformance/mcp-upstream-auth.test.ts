import { describe, expect, it, vi } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { readLog } from '../helpers/kept-log.ts';
import { mcpClientAt, textIn } from '../helpers/mcp-client.ts';
import { patient } from '../helpers/patient.ts';
import { startTestAgent, type TestAgent } from '../helpers/test-agent.ts';
import { startTokenIssuer, TokenIssuer } from '../helpers/token-issuer.ts';
import { startToolServer, type ToolServer } from '../helpers/tool-server.ts';

const secret = 'secret-of-the-client';

/** A server that takes the latest token of an issuer only. */
async function protectedServer(issuer: TokenIssuer): Promise<ToolServer> {
  const server = await startToolServer(['find_order']);
  server.instead = ({ headers }, response) => {
    if (headers.authorization === `Bearer ${issuer.latest}`) return false;
    const metadata = server.url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp');
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end();
    return true;
  };
  return server;
}

const settingsOf = (shop: ToolServer, auth: object): ServiceSettings => ({
  gate: {},
  server: { mcp: true },
  mcp: { servers: [{ name: 'shop', url: shop.url, tools: { deny: [] }, auth }] },
});

function startFor(shop: ToolServer, auth: object): Promise<TestAgent> {
  return startTestAgent(settingsOf(shop, auth), { env: { SHOP_SECRET: secret } });
}

const connected = (agent: TestAgent) => {
  const given = () => agent.audit().filter(({ event }) => event === 'mcp_tools');
  return vi.waitFor(() => expect(given()).toHaveLength(1), patient);
};

const warned = (agent: TestAgent): string[] =>
  agent.log.filter(({ level }) => level === 'warn').map(({ message }) => message);

async function found(agent: TestAgent): Promise<string> {
  const client = await mcpClientAt(agent.url);
  return textIn(await client.callTool({ name: 'shop__find_order', arguments: {} }));
}

const credentials = (issuer: TokenIssuer) => ({
  ...{ type: 'client_credentials', client_id: 'desk', client_secret: '${SHOP_SECRET}' },
  ...{ scopes: ['orders'], issuer: issuer.issuer },
});

describe('client credentials', () => {
  it('get a token for the server, which is renewed once when the server refuses it', async () => {
    const issuer = await startTokenIssuer();
    const shop = await protectedServer(issuer);
    const agent = await startFor(shop, credentials(issuer));
    await connected(agent);
    expect(await found(agent)).toBe('find_order {}');
    expect(issuer.asked).toEqual([
      {
        grant_type: 'client_credentials',
        resource: shop.url,
        scope: 'orders',
        client_id: 'desk',
        client_secret: secret,
      },
    ]);
    // The issuer revokes the token, as if another program had asked for one.
    await fetch(`${issuer.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect(await found(agent)).toBe('find_order {}');
    expect(issuer.asked).toHaveLength(3);
    const written = JSON.stringify(agent.log) + readLog(agent.auditPath);
    for (const text of [secret, 'access-1', 'access-2', 'access-3']) {
      expect(written).not.toContain(text);
    }
  });

  it('are used only at the issuer that the server names first', async () => {
    const shop = await startToolServer(['find_order']);
    const issuer = new TokenIssuer(new URL(shop.url).origin);
    issuer.lifetime = 0;
    let named = issuer.issuer;
    shop.instead = (request, response, body) => {
      if (issuer.answer(request, response, body)) return true;
      if (request.url === '/.well-known/oauth-protected-resource/mcp') {
        const scopes_supported = ['orders', 'customers'];
        const servers = { authorization_servers: [named], scopes_supported };
        response.end(JSON.stringify({ resource: shop.url, ...servers }));
        return true;
      }
      if (request.headers.authorization === `Bearer ${issuer.latest}`) return false;
      response.writeHead(401).end();
      return true;
    };
    const { issuer: _, scopes: __, ...auth } = credentials(issuer);
    const agent = await startFor(shop, auth);
    await connected(agent);
    expect(issuer.asked[0]).toMatchObject({ scope: 'orders customers', client_secret: secret });
    named = 'https://other.example';
    expect(await found(agent)).toMatch(/^shop__find_order .*names another issuer than before/);
    expect(shop.ran).toEqual([]);
  });

  it.each([
    ['a metadata service', 'http://169.254.169.254/', 'names an issuer that is not https'],
    ['a link-local address', 'https://169.254.169.254/', 'has an issuer that cannot be asked'],
    ['a program on this machine', 'https://127.0.0.1:8443/', 'has an issuer that cannot be asked'],
    ['no address', 'file:///etc/passwd', 'names an issuer that is not https'],
  ])('reach no issuer that is %s', async (_, named, reason) => {
    const issuer = await startTokenIssuer();
    const shop = await protectedServer(issuer);
    const { instead } = shop;
    shop.instead = (request, response) => {
      if (!request.url?.startsWith('/.well-known/')) return instead(request, response, '');
      response.end(JSON.stringify({ resource: shop.url, authorization_servers: [named] }));
      return true;
    };
    const { issuer: __, ...auth } = credentials(issuer);
    const agent = await startFor(shop, auth);
    await vi.waitFor(() => expect(warned(agent)).not.toEqual([]), patient);
    expect(warned(agent).join('\n')).toContain(`mcp: shop ${reason}`);
  });

  it('survive an issuer with endless answers, and one whose metadata names another', async () => {
    const issuer = await startTokenIssuer();
    issuer.instead = (response) => response.end('x'.repeat(4 * 1024 * 1024));
    const shop = await protectedServer(issuer);
    const agent = await startFor(shop, credentials(issuer));
    await vi.waitFor(() => expect(warned(agent)).not.toEqual([]), patient);
    issuer.instead = null;
    issuer.metadata = { issuer: 'https://other.example' };
    const other = await startFor(shop, credentials(issuer));
    await vi.waitFor(() => expect(warned(other)).not.toEqual([]), patient);
    for (const one of [agent, other]) {
      expect(warned(one)[0]).toMatch(/^mcp: shop got no token from its issuer/);
    }
    expect(issuer.asked).toEqual([]);
  });
});

describe('a sign-in of an operator', () => {
  const redirect = 'http://127.0.0.1:8976/callback';
  const asOperator = (agent: TestAgent) => agent.as(agent.token);
  const post = (agent: TestAgent, path: string, body: object = {}) =>
    asOperator(agent).post(`/mcp-servers/shop/${path}`, body);

  it('gives the agent tokens, which stay after a restart until the sign-out', async () => {
    const issuer = await startTokenIssuer();
    const shop = await protectedServer(issuer);
    const agent = await startFor(shop, { type: 'authorization_code', issuer: issuer.issuer });
    await vi.waitFor(() => expect(warned(agent)).not.toEqual([]), patient);
    expect(warned(agent)).toEqual([
      expect.stringMatching(/^mcp: shop needs a sign-in; run `.*mcp login shop`$/),
    ]);
    const { body } = await post(agent, 'login', { redirect_uri: redirect });
    const asked = new URL(body.url).searchParams;
    expect([asked.get('resource'), asked.get('client_id'), asked.get('redirect_uri')]).toEqual([
      ...[shop.url, 'registered', redirect],
    ]);
    const query = issuer.signIn(body.url);
    expect((await post(agent, 'login/finish', { query })).body).toEqual({
      ...{ server: 'shop', issuer: issuer.issuer },
    });
    await connected(agent);
    expect(await found(agent)).toBe('find_order {}');
    // A redirect counts once.
    expect(await post(agent, 'login/finish', { query })).toMatchObject({ status: 502 });
    await agent.stop();
    const again = await startTestAgent({}, { folder: agent.folder, env: { SHOP_SECRET: secret } });
    await vi.waitFor(async () => {
      const { servers } = (await again.as(again.token).get('/mcp-servers')).body;
      expect(servers[0].state).toBe('connected');
    }, patient);
    expect((await post(again, 'logout')).body).toEqual({ server: 'shop', had_tokens: true });
    await vi.waitFor(() => expect(warned(again).join()).toContain('needs a sign-in'), patient);
    const events = again.audit().map(({ event }) => event);
    expect(events.filter((event) => event.startsWith('mcp_log'))).toEqual([
      ...['mcp_login', 'mcp_logout'],
    ]);
  });

  it.each([
    ['another state', (query: string) => query.replace(/state=[^&]+/, 'state=foreign')],
    ['no state', (query: string) => query.replace(/state=[^&]+/, '')],
    [
      'another issuer',
      (query: string) => query.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fother.example'),
    ],
    ['another code', (query: string) => query.replace(/code=[^&]+/, 'code=guessed')],
  ])('ends without tokens for a redirect with %s', async (_, changed) => {
    const issuer = await startTokenIssuer();
    const shop = await protectedServer(issuer);
    const agent = await startFor(shop, { type: 'authorization_code', issuer: issuer.issuer });
    const { body } = await post(agent, 'login', { redirect_uri: redirect });
    const query = changed(issuer.signIn(body.url));
    const { status, body: answer } = await post(agent, 'login/finish', { query });
    expect([status, answer.error]).toEqual([502, expect.stringMatching(/^shop /)]);
    expect(answer.error).not.toContain('other.example');
    const { servers } = (await asOperator(agent).get('/mcp-servers')).body;
    expect(servers[0]).toMatchObject({ auth: 'authorization_code', calls: { count: 0 } });
    expect(shop.ran).toEqual([]);
  });

  it('needs the operator, and a redirect to this machine', async () => {
    const issuer = await startTokenIssuer();
    const shop = await protectedServer(issuer);
    const agent = await startFor(shop, { type: 'authorization_code', issuer: issuer.issuer });
    for (const path of ['login', 'login/finish', 'logout', 'accept']) {
      expect((await agent.post(`/mcp-servers/shop/${path}`, {})).status).toBe(403);
    }
    expect((await agent.get('/mcp-servers')).status).toBe(403);
    for (const redirect_uri of ['https://evil.example/', 'http://evil.example/', 'x']) {
      expect((await post(agent, 'login', { redirect_uri })).status).toBe(400);
    }
  });
});
