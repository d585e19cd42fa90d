import { AgentCard } from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { describe, expect, it } from 'vitest';
import { startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { authorized, officialClient, surfaces } from './official-client.ts';
import { ask, refusedAtDoor, wireSurfaces } from './wire-surfaces.ts';

const canonical = '/.well-known/agent-card.json';
const token = 'a-token-of-some-length';

const guarded = {
  auth: {
    required: true,
    providers: [
      { type: 'static_token', name: 'ops', settings: { token } },
      { type: 'oidc', settings: { issuer: 'https://id.example.com/', audience: 'till' } },
      { type: 'cloud_iap', settings: { audience: '/till' } },
    ],
  },
  card: {
    security_schemes: {
      mesh: { type: 'mutualTLS', description: 'ours' },
      partner: {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: 'https://x.example/token', scopes: {} } },
      },
    },
  },
};

/** What a client of 0.3.0 reads of a card: it skips all else. */
const older = [
  'name',
  'description',
  'url',
  'preferredTransport',
  'additionalInterfaces',
  'version',
  'protocolVersion',
  'defaultInputModes',
  'defaultOutputModes',
  'skills',
  'capabilities',
  'securitySchemes',
  'security',
  'supportsAuthenticatedExtendedCard',
];

/** What an inspector of cards demands of one. */
const demanded = [
  'name',
  'description',
  'url',
  'version',
  'capabilities',
  'defaultInputModes',
  'defaultOutputModes',
  'skills',
];

async function cardOf(agent: TestAgent, version?: string, path = canonical): Promise<any> {
  const headers = version === undefined ? {} : { 'A2A-Version': version };
  return (await agent.as(token).get(path, headers)).body;
}

/** Reads a card as a resolver of today does that knows both generations: 1.0 counts where it is there. */
function resolved({ url, preferredTransport, additionalInterfaces, ...card }: any): any {
  const {
    security,
    supportedInterfaces,
    securityRequirements,
    securitySchemes = {},
    ...more
  } = card;
  const names: Record<string, string> = {
    apiKey: 'apiKeySecurityScheme',
    http: 'httpAuthSecurityScheme',
    oauth2: 'oauth2SecurityScheme',
    openIdConnect: 'openIdConnectSecurityScheme',
    mutualTLS: 'mtlsSecurityScheme',
  };
  const schemes = Object.entries<any>(securitySchemes).map(([key, { type, ...scheme }]) => {
    if (type === undefined) return [key, scheme];
    const { in: location, ...rest } = scheme;
    return [key, { [names[type] ?? '']: location === undefined ? rest : { ...rest, location } }];
  });
  return AgentCard.toJSON(
    AgentCard.fromJSON({
      ...more,
      securitySchemes: Object.fromEntries(schemes),
      securityRequirements:
        securityRequirements ??
        security?.map((one: object) => ({
          schemes: Object.fromEntries(Object.keys(one).map((key) => [key, { list: [] }])),
        })),
      supportedInterfaces: supportedInterfaces ?? [
        { url, protocolBinding: preferredTransport, protocolVersion: more.protocolVersion },
        ...(additionalInterfaces ?? []),
      ],
    }),
  );
}

describe.each([
  ['no one signs in', {}],
  ['callers sign in', guarded],
])('a card requested without a version, where %s', (_, settings) => {
  it('is the 0.3.0 card for clients that know only that', async () => {
    const agent = await startTestAgent({ ...settings, description: 'Handles money' } as object);
    const [hybrid, pure] = [await cardOf(agent), await cardOf(agent, '0.3.0')];
    const known = Object.fromEntries(Object.entries(hybrid).filter(([key]) => older.includes(key)));
    expect({ ...known, capabilities: undefined }).toEqual({ ...pure, capabilities: undefined });
    expect(hybrid.capabilities).toMatchObject(pure.capabilities);
    expect(pure).not.toHaveProperty('supportedInterfaces');
    expect(await cardOf(agent, '0.3')).toEqual(pure);
  });

  it('is the 1.0 card for a resolver that knows both', async () => {
    const agent = await startTestAgent(settings);
    const [hybrid, pure] = [await cardOf(agent), await cardOf(agent, '1.0')];
    expect(resolved(hybrid)).toEqual(AgentCard.toJSON(AgentCard.fromJSON(pure)));
  });

  it('has all fields that an inspector requires', async () => {
    const agent = await startTestAgent(settings);
    const hybrid = await cardOf(agent);
    expect(demanded.filter((field) => !(field in hybrid))).toEqual([]);
    expect(hybrid.url).toMatch(/^https?:\/\//);
  });

  it.each([{}, { legacyCompat: { enabled: true } }])(
    'leads the official client with %j to 1.0',
    async (compat) => {
      const agent = await startTestAgent(settings);
      const fetchImpl: typeof fetch = (address) => fetch(address);
      const client = await new ClientFactory({
        transports: [new JsonRpcTransportFactory(compat), new RestTransportFactory(compat)],
        cardResolver: new DefaultAgentCardResolver({ ...compat, fetchImpl }),
      }).createFromUrl(agent.url);
      expect([client.protocolVersion, client.transport.protocolName]).toEqual(['1.0', 'JSONRPC']);
    },
  );

  it('has its own bytes and ETag, the same on both paths', async () => {
    const agent = await startTestAgent(settings);
    const tags = await Promise.all(
      [{}, { 'A2A-Version': '0.3' }, { 'A2A-Version': '1.0' }].map(async (headers) => {
        const [one, other] = await Promise.all(
          [canonical, '/.well-known/agent.json'].map((path) => agent.get(path, headers)),
        );
        expect(other?.body).toEqual(one?.body);
        expect(other?.headers.get('etag')).toBe(one?.headers.get('etag'));
        expect(one?.headers.get('vary')).toBe('A2A-Version');
        return one?.headers.get('etag');
      }),
    );
    expect(new Set(tags).size).toBe(3);
  });
});

describe('the extended card', () => {
  it('is declared only where callers sign in', async () => {
    const [open, closed] = [await startTestAgent(), await startTestAgent(guarded)];
    for (const version of [undefined, '0.3']) {
      expect((await cardOf(open, version)).supportsAuthenticatedExtendedCard).toBeUndefined();
      expect((await cardOf(closed, version)).supportsAuthenticatedExtendedCard).toBe(true);
    }
    for (const version of [undefined, '1.0']) {
      expect((await cardOf(open, version)).capabilities.extendedAgentCard).toBeUndefined();
      expect((await cardOf(closed, version)).capabilities.extendedAgentCard).toBe(true);
    }
    expect((await cardOf(closed, '0.3')).capabilities).toEqual({
      streaming: true,
      pushNotifications: true,
      stateTransitionHistory: false,
    });
  });

  it.each(wireSurfaces)(
    'is the card over $name, or refused where it is not declared',
    async (surface) => {
      const [open, closed] = [await startTestAgent(), await startTestAgent(guarded)];
      const { status, body } = await ask(open, surface, 'card', {});
      const isCardPath = surface.name === 'HTTP+JSON 0.3.0';
      expect({ status, body }).toEqual(
        isCardPath
          ? { status: 200, body: await cardOf(open) }
          : surface.refusal(-32004, 'the agent has no extended card; its card is public'),
      );
      const shown = await ask(closed.as(token), surface, 'card', {});
      const card = surface.isRpc ? shown.body.result : shown.body;
      expect(shown.status).toBe(200);
      if (surface.version === '1.0') {
        expect(card).toEqual(AgentCard.toJSON(AgentCard.fromJSON(await cardOf(closed, '1.0'))));
      } else {
        const expected = await cardOf(closed, isCardPath ? undefined : '0.3');
        expect(card).toMatchObject(expected);
        expect(Object.keys(card)).toEqual(Object.keys(expected));
      }
    },
  );

  it('requires authentication', async () => {
    const agent = await startTestAgent(guarded);
    const said = { error: 'unauthorized', message: expect.any(String) };
    for (const path of ['/v1/card', '/a2a/extendedAgentCard']) {
      const { status, body } = await agent.get(path);
      expect({ status, body }).toEqual(refusedAtDoor({ isRpc: false }, 401, said));
    }
  });

  it.each(surfaces)(
    'is read by the official client of $version over $transport',
    async (surface) => {
      const agent = await startTestAgent(guarded);
      const client = await officialClient(agent.url, surface, authorized(token));
      const card = await client.transport.getExtendedAgentCard({ tenant: '' });
      expect(card).toMatchObject({ name: 'till', capabilities: { extendedAgentCard: true } });
      expect(Object.keys(card.securitySchemes).toSorted()).toEqual(
        ['ops', 'oidc', 'cloud_iap', 'mesh', 'partner'].toSorted(),
      );
    },
  );
});

describe('GET /v1/card', () => {
  it.each([{}, { 'A2A-Version': '0.3' }, { 'A2A-Version': '1.0' }])(
    'answers like the well-known path for %j',
    async (headers) => {
      const agent = await startTestAgent();
      const [known, card] = [
        await agent.get(canonical, headers),
        await agent.get('/v1/card', headers),
      ];
      expect(card.body).toEqual(known.body);
      expect(card.headers.get('etag')).toBe(known.headers.get('etag'));
      expect(card.headers.get('vary')).toBe('A2A-Version');
    },
  );
});
