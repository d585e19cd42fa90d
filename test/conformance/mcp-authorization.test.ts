import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startFrontProxy } from '../helpers/front-proxy.ts';
import { agentResource, knownClient, startIdentityProvider } from '../helpers/identity-provider.ts';
import { mcpClientAt, textIn } from '../helpers/mcp-client.ts';
import { patient } from '../helpers/patient.ts';
import { startTestAgent } from '../helpers/test-agent.ts';
import { startToolServer } from '../helpers/tool-server.ts';

const url = 'https://tools.example.com/desk/mcp';
const metadata = 'https://tools.example.com/desk/.well-known/oauth-protected-resource/mcp';
const paths = [
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-protected-resource',
];

/** Starts an agent of an issuer that people may sign in at. */
async function startDesk(server: object = { public_url: 'https://tools.example.com/desk/' }) {
  const issuer = await startIdentityProvider();
  const settings = { issuer: issuer.issuer, audience: agentResource };
  const agent = await startTestAgent({
    server: { mcp: { scopes: ['tools', 'offline_access'] }, ...server },
    auth: { required: true, providers: [{ type: 'oidc', name: 'staff', settings }] },
  });
  const ask = async (path: string, token?: string) => {
    const authorization: Record<string, string> =
      token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(agent.url + path, {
      method: 'POST',
      headers: { ...authorization, 'content-type': 'application/json' },
      body: '{}',
    });
    const { message }: any = await response.json();
    return [response.status, response.headers.get('www-authenticate'), message];
  };
  return { issuer, agent, ask };
}

describe('the MCP endpoint as a protected resource', () => {
  it('names its issuers to clients, and its metadata in each refusal', async () => {
    const { issuer, agent, ask } = await startDesk();
    for (const path of paths) {
      expect(await (await fetch(agent.url + path)).json()).toEqual({
        resource: url,
        resource_name: 'till',
        authorization_servers: [issuer.issuer],
        scopes_supported: ['tools', 'offline_access'],
        bearer_methods_supported: ['header'],
      });
    }
    const challenge = `Bearer resource_metadata="${metadata}", scope="tools offline_access"`;
    expect(await ask('/mcp')).toEqual([401, challenge, expect.any(String)]);
    expect(await ask('/mcp', await issuer.signIn('ann', 'urn:low', 'urn:other'))).toEqual([
      401,
      `${challenge}, error="invalid_token"`,
      'the token is for another audience; ask for one for this agent',
    ]);
    expect(await ask('/tasks/send')).toEqual([401, 'Bearer', expect.any(String)]);
  });

  it('is found, signed in to and called by the official client, with only the address', async () => {
    let target = '';
    const front = await startFrontProxy({ target: () => target });
    const { issuer, agent } = await startDesk({ public_url: front });
    target = agent.url;
    let opened: URL | undefined;
    let tokens: OAuthTokens | undefined;
    let verifier = '';
    let discovery: OAuthDiscoveryState | undefined;
    const { id, redirect } = knownClient;
    const provider: OAuthClientProvider = {
      redirectUrl: redirect,
      clientMetadata: { redirect_uris: [redirect] },
      clientInformation: () => ({ client_id: id }),
      tokens: () => tokens,
      saveTokens: (given) => void (tokens = given),
      redirectToAuthorization: (url) => void (opened = url),
      saveCodeVerifier: (given) => void (verifier = given),
      codeVerifier: () => verifier,
      saveDiscoveryState: (given) => void (discovery = given),
      discoveryState: () => discovery,
    };
    const transport = () =>
      new StreamableHTTPClientTransport(new URL(`${front}/mcp`), { authProvider: provider });
    const first = transport();
    await expect(new Client({ name: 'x', version: '1' }).connect(first)).rejects.toThrow(
      'Unauthorized',
    );
    expect(opened?.origin).toBe(issuer.issuer);
    expect(opened?.searchParams.get('resource')).toBe(`${front}/mcp`);
    expect(opened?.searchParams.get('scope')).toBe('tools offline_access');
    opened?.searchParams.set('login_hint', 'ann');
    opened?.searchParams.set('acr_values', 'urn:low');
    // The issuer of the test knows this scope alone, and has no page for a consent.
    opened?.searchParams.set('scope', 'openid');
    opened?.searchParams.delete('prompt');
    await first.finishAuth(await issuer.follow(String(opened)), issuer.issuer);
    const client = new Client({ name: 'x', version: '1' });
    await client.connect(transport());
    onTestFinished(() => client.close());
    expect(textIn(await client.callTool({ name: 'echo', arguments: {} }))).toBe('{}');
  });

  it('accepts a token for its address, and one for the configured audience', async () => {
    const { issuer, agent } = await startDesk();
    for (const resource of [url, agentResource]) {
      const token = await issuer.signIn('ann', 'urn:low', resource);
      const client = await mcpClientAt(agent.url, { token });
      expect(textIn(await client.callTool({ name: 'echo', arguments: {} }))).toBe('{}');
    }
  });

  it.each([
    '/tasks/t-1/decisions',
    '/deferrals/decisions',
    '/policy/reload',
    '/delegations',
    '/tasks/send',
  ])('issues no right to decide: a token for its address is refused at %s', async (path) => {
    const { issuer, ask } = await startDesk();
    const token = await issuer.signIn('ann', 'urn:low', url);
    const message = 'the token is for /mcp alone; ask for one for this agent';
    expect(await ask(path, token)).toEqual([401, 'Bearer', message]);
    const whole = await issuer.signIn('ann', 'urn:low', agentResource);
    expect((await ask(path, whole))[0]).not.toBe(401);
  });

  it.each(['https://tools.example.com/desk', `${url}/`, 'https://tools.example.com/mcp'])(
    'refuses a token for %s',
    async (resource) => {
      const { issuer, ask } = await startDesk();
      const token = await issuer.forge({
        ...{ iss: issuer.issuer, sub: 'ann', aud: resource },
        ...{ iat: Date.now() / 1_000, exp: Date.now() / 1_000 + 60 },
      });
      expect((await ask('/mcp', token))[0]).toBe(401);
    },
  );

  it('has no metadata without its own address', async () => {
    const { agent, ask } = await startDesk({});
    for (const path of paths) expect((await fetch(agent.url + path)).status).toBe(404);
    expect(await ask('/mcp')).toEqual([401, 'Bearer', expect.any(String)]);
  });
});

it('no credential of a caller is passed to a server', async () => {
  const shop = await startToolServer(['find_order']);
  const agent = await startTestAgent({
    gate: {},
    server: { mcp: true },
    auth: {
      required: true,
      providers: [{ type: 'static_token', name: 'ann', settings: { token: 'token-of-ann' } }],
    },
    mcp: { servers: [{ name: 'shop', url: shop.url, tools: { deny: [] } }] },
  });
  const given = () => agent.audit().filter(({ event }) => event === 'mcp_tools');
  await vi.waitFor(() => expect(given()).toHaveLength(1), patient);
  const client = await mcpClientAt(agent.url, { token: 'token-of-ann' });
  expect(textIn(await client.callTool({ name: 'shop__find_order' }))).toBe('find_order {}');
  expect(shop.ran).toHaveLength(1);
  const headers = JSON.stringify(shop.seen);
  expect(headers).not.toContain('token-of-ann');
  expect(headers).not.toContain('authorization');
});
