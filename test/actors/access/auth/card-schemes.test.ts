import { expect, it } from 'vitest';
import { cardSchemes } from '../../../../src/actors/access/auth/auth.ts';
import { authSchema } from '../../../../src/actors/config/schema-auth.ts';

const tenant = '11111111-2222-3333-4444-555555555555';
const bearer = { type: 'http', scheme: 'bearer' };

it('the card lists a security scheme for each provider, in order and by name', () => {
  const { providers } = authSchema.parse({
    providers: [
      { type: 'static_token', settings: { token: 'canary-token' } },
      { type: 'http_verifier', settings: { url: 'https://canary.example.com/verify' } },
      { type: 'oidc', name: 'staff', settings: { issuer: 'https://x/', audience: 'canary' } },
      { type: 'directory_ad', settings: { tenant_id: tenant, audience: 'canary' } },
      { type: 'cloud_iap', name: 'proxy', settings: { audience: 'canary' } },
      { type: 'cloud_sigv4', settings: { region: 'eu-central-1', audience: 'canary' } },
    ],
  });
  expect(cardSchemes(providers)).toStrictEqual([
    { key: 'static_token', provider: 'static_token', scheme: bearer },
    { key: 'http_verifier', provider: 'http_verifier', scheme: bearer },
    {
      key: 'staff',
      provider: 'oidc',
      scheme: {
        type: 'openIdConnect',
        openIdConnectUrl: 'https://x/.well-known/openid-configuration',
      },
    },
    {
      key: 'directory_ad',
      provider: 'directory_ad',
      scheme: {
        type: 'openIdConnect',
        openIdConnectUrl: `https://login.microsoftonline.com/${tenant}/v2.0/.well-known/openid-configuration`,
      },
    },
    {
      key: 'proxy',
      provider: 'cloud_iap',
      scheme: { type: 'apiKey', in: 'header', name: 'X-Cloud-Iap-Jwt-Assertion' },
    },
    {
      key: 'cloud_sigv4',
      provider: 'cloud_sigv4',
      scheme: { ...bearer, bearerFormat: 'service-cloud-v1' },
    },
  ]);
});

it('the card lists no security scheme for an empty chain', () => {
  expect(cardSchemes([])).toStrictEqual([]);
});
