import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../helpers/patient.ts';
import { runs } from '../../../helpers/runs.ts';
import { dies, drips, type Reply, redirects, says, startFakeService } from './fake-service.ts';
import { region, type Signing, signedParameters, signedUrl, tokenOf } from './signed-token.ts';
import { providing } from './verifying.ts';

const account = '123456789012';
const arn = `arn:aws:sts::${account}:assumed-role/deploy/ci-7`;

const named = (Arn = arn, Account = account) =>
  says({
    GetCallerIdentityResponse: {
      GetCallerIdentityResult: { Arn, Account, UserId: 'AROA:ci-7' },
      ResponseMetadata: { RequestId: 'r' },
    },
  });
const xml = (inner: string) =>
  `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <GetCallerIdentityResult>${inner}</GetCallerIdentityResult>
  <ResponseMetadata><RequestId>r</RequestId></ResponseMetadata>
</GetCallerIdentityResponse>`;

const refused = (reason: string, message: string) => ({ kind: 'rejected', reason, message });
const passes = { kind: 'verified', caller: { provider: 'staff', userId: arn, orgId: account } };
const malformed = (fault: string) =>
  refused(
    'invalid',
    `the token is no GetCallerIdentity URL that counts here: ${fault}; sign a new one`,
  );
const noUrl = 'what follows service-cloud-v1. is not a URL in base64url without padding';
const elsewhere = `its URL is not for https://sts.${region}.amazonaws.com`;
const odd = 'its URL has more than https://, the host, / and a query, or is not spelt plainly';
const unknown = 'its URL has a parameter that GetCallerIdentity does not have';
const twice = 'its URL has Action more than once';
const has = (parameter: string) => `${parameter} in its URL is not the value a signer writes`;
const lacks = (parameter: string) => `its URL has no ${parameter}`;
const onlyHost = 'it must sign the header Host and no other (X-Amz-SignedHeaders=host)';
const alsoAudience =
  'it must sign the headers Host and X-Service-Audience (X-Amz-SignedHeaders=host;x-service-audience)';
const unsigned = refused(
  'invalid',
  'the token service does not accept the signature; sign a new token',
);
const unavailable = refused(
  'provider_unavailable',
  'the token service of staff cannot be asked; try again later',
);

async function asking(reply: Reply = named(), settings: object = {}) {
  const service = await startFakeService(reply);
  const sts_url = service.url;
  const provider = providing('cloud_sigv4', { region, sts_url, ...settings });
  const show = (signing: Signing = {}) => provider.verify(tokenOf(signedUrl(signing)));
  return { service, ...provider, show };
}

describe('a signed request for identity', () => {
  it('is sent to the token service as it was signed, and nowhere else', async () => {
    const { service, show } = await asking();
    const session = 'Fwo+Zx/Y=='.repeat(20);
    expect(await show({ parameters: { 'X-Amz-Security-Token': session } })).toStrictEqual(passes);
    const [call] = service.calls;
    const { pathname, searchParams } = new URL(call?.url ?? '', service.url);
    expect(service.calls.length).toBe(1);
    expect(call).toMatchObject({ method: 'GET', body: '' });
    expect(pathname).toBe('/');
    expect(Object.fromEntries(searchParams)).toEqual({
      ...signedParameters(),
      'X-Amz-Date': expect.any(String),
      'X-Amz-Security-Token': session,
    });
    expect(call?.headers).toEqual({
      accept: 'application/json',
      host: `sts.${region}.amazonaws.com`,
      connection: 'close',
    });
  });

  it('may be signed for the endpoint of the operator', async () => {
    const { service, show } = await asking();
    expect(await show({ origin: service.url })).toEqual(passes);
    expect(service.calls[0]?.headers.host).toBe(new URL(service.url).host);
  });

  it('must sign the audience when one is configured', async () => {
    const { service, show } = await asking(named(), { audience: 'urn:agent' });
    const parameters = { 'X-Amz-SignedHeaders': 'host;x-service-audience' };
    expect(await show()).toEqual(malformed(alsoAudience));
    expect(service.calls).toEqual([]);
    expect(await show({ parameters })).toEqual(passes);
    expect(service.calls[0]?.headers['x-service-audience']).toBe('urn:agent');
    const none = await asking();
    expect(await none.show({ parameters })).toEqual(malformed(onlyHost));
  });

  const at = (seconds: number) => {
    const { 'X-Amz-Date': date, 'X-Amz-Credential': credential } = signedParameters(
      Date.now() + seconds * 1_000,
    );
    return { 'X-Amz-Date': date, 'X-Amz-Credential': credential };
  };
  const with_ = (key: string, value: string | undefined): Signing => ({
    parameters: { [`X-Amz-${key}`]: value },
  });

  it.each<[string, Signing, string]>([
    ['another host', { origin: 'https://sts.evil.io' }, elsewhere],
    [
      'a host with the same beginning',
      { origin: `https://sts.${region}.amazonaws.com.evil.io` },
      elsewhere,
    ],
    ['a host with the same end', { origin: `https://xsts.${region}.amazonaws.com` }, elsewhere],
    ['another region', { origin: 'https://sts.us-east-1.amazonaws.com' }, elsewhere],
    ['no region', { origin: 'https://sts.amazonaws.com' }, elsewhere],
    ['this machine', { origin: 'http://127.0.0.1:9' }, elsewhere],
    ['metadata', { origin: 'http://169.254.169.254' }, elsewhere],
    ['plain http', { origin: `http://sts.${region}.amazonaws.com` }, elsewhere],
    ['a user', { origin: `https://a@sts.${region}.amazonaws.com` }, odd],
    ['a similar user', { origin: `https://sts.${region}.amazonaws.com@evil.io` }, odd],
    ['a port', { origin: `https://sts.${region}.amazonaws.com:8443` }, elsewhere],
    ['the default port', { origin: `https://sts.${region}.amazonaws.com:443` }, odd],
    ['upper case', { origin: `https://STS.${region}.amazonaws.com` }, odd],
    ['a path', { origin: `https://sts.${region}.amazonaws.com/x` }, odd],
    ['a relative path', { origin: `https://sts.${region}.amazonaws.com/x/..` }, odd],
    ['a backslash', { origin: `https:\\\\sts.${region}.amazonaws.com` }, odd],
    ['a leading blank', { origin: ` https://sts.${region}.amazonaws.com` }, odd],
    ['a fragment', { tail: '#x' }, odd],
    ['an empty fragment', { tail: '#' }, odd],
    ['a line end', { tail: '\r\nX: y' }, odd],
    ['another parameter', { tail: '&X=y' }, unknown],
    ['an empty parameter', { tail: '&=' }, unknown],
    ['a repeated action', { tail: '&Action=GetCallerIdentity' }, twice],
    ['a repeated action, once percent-encoded', { tail: '&%41ction=AssumeRole' }, twice],
    ['another action', { parameters: { Action: 'AssumeRole' } }, has('Action')],
    ['no action', { parameters: { Action: undefined } }, lacks('Action')],
    ['another version', { parameters: { Version: '2010-01-01' } }, has('Version')],
    ['another algorithm', with_('Algorithm', 'AWS4-ECDSA-P256-SHA256'), has('X-Amz-Algorithm')],
    ['no signature', with_('Signature', undefined), lacks('X-Amz-Signature')],
    ['an empty signature', with_('Signature', ''), has('X-Amz-Signature')],
    ['no date', with_('Date', undefined), lacks('X-Amz-Date')],
    [
      'an impossible day',
      with_('Date', '20269999T000000Z'),
      'X-Amz-Credential and X-Amz-Date in its URL are of different days',
    ],
    ['no end', with_('Expires', undefined), lacks('X-Amz-Expires')],
    ['an expiry too far away', with_('Expires', '901'), 'X-Amz-Expires in its URL is above 900'],
    ['an immediate expiry', with_('Expires', '0'), has('X-Amz-Expires')],
    ['an expiry in the past', with_('Expires', '-1'), has('X-Amz-Expires')],
    ['an expiry in words', with_('Expires', '9e2'), has('X-Amz-Expires')],
    [
      'another scope',
      with_('Credential', 'AKIAIOSFODNN7EXAMPLE/20200101/x/sts/aws4_request'),
      `it is not signed for the region ${region}`,
    ],
    ['further headers', with_('SignedHeaders', 'host;x-evil'), onlyHost],
    ['no host', with_('SignedHeaders', 'x-service-audience'), onlyHost],
    ['a session of two lines', with_('Security-Token', 'a\nb'), has('X-Amz-Security-Token')],
    ['an expired date', { parameters: at(-901) }, 'it has expired'],
    ['a future date', { parameters: at(60) }, 'it is signed for a later time; check the clocks'],
    [
      'another credential day',
      {
        parameters: {
          'X-Amz-Date': '20269999T000000Z',
          'X-Amz-Credential': `AKIAIOSFODNN7EXAMPLE/20269999/${region}/sts/aws4_request`,
        },
      },
      'X-Amz-Date in its URL is not a valid date',
    ],
    ['no credential', with_('Credential', undefined), lacks('X-Amz-Credential')],
    [
      'an audience that is not configured',
      with_('SignedHeaders', 'host;x-service-audience'),
      onlyHost,
    ],
  ])('is refused with %s, before a request is sent', async (_, signing, fault) => {
    const { service, show, log } = await asking();
    expect(await show(signing)).toEqual(malformed(fault));
    expect(service.calls).toEqual([]);
    expect(log).toEqual([]);
  });

  it.each([[-890], [20]])('is accepted when it is signed %i s from now', async (seconds) => {
    const { show } = await asking();
    expect(await show({ parameters: at(seconds) })).toEqual(passes);
  });

  it.each(['', '!', 'aHR0cA', 'a.b', `${tokenOf(signedUrl()).slice(17)}=`])(
    'is refused when it is written "%.20s"',
    async (text) => {
      const { service, verify } = await asking();
      expect(await verify(`service-cloud-v1.${text}`)).toEqual(malformed(noUrl));
      expect(service.calls).toEqual([]);
    },
  );

  const credential = `AKIAIOSFODNN7EXAMPLE/20261122/${region}/sts/aws4_request`;
  it.each<[string, string]>([
    ['Action', 'GetCallerIdentity'],
    ['Version', '2011-06-15'],
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', credential],
    ['X-Amz-Date', '20261122T120000Z'],
    ['X-Amz-Expires', '60'],
    ['X-Amz-Security-Token', 'Fwo+Zx/Y=='],
    ['X-Amz-SignedHeaders', 'host'],
    ['X-Amz-Signature', 'ca'.repeat(32)],
  ])('may have no text before or after the value of %s', async (parameter, value) => {
    const { service, show } = await asking();
    // The number of seconds and the list of headers are of no fixed length.
    const isOpen = ['X-Amz-Expires', 'X-Amz-Security-Token', 'X-Amz-SignedHeaders'].includes(
      parameter,
    );
    const around = [
      `#${value}`,
      `${value}#`,
      `${value}\n`,
      `\n${value}`,
      ` ${value}`,
      `${value} x`,
    ];
    const longer = isOpen ? [] : [`${value}0`, `-${value}`];
    for (const text of [...around, ...longer]) {
      const verdict = await show({ parameters: { [parameter]: text } });
      expect([text, verdict]).toEqual([text, malformed(has(parameter))]);
    }
    expect(service.calls).toEqual([]);
  });

  it('is refused with a message that does not quote it', async () => {
    const { verify } = await asking();
    const url = signedUrl();
    const change = fc.tuple(
      fc.nat(url.length - 1),
      fc.constantFrom('canary', '&canary=1', '%63anary'),
    );
    await fc.assert(
      fc.asyncProperty(change, async ([index, text]) => {
        const verdict = await verify(tokenOf(url.slice(0, index) + text + url.slice(index)));
        expect(JSON.stringify(verdict)).not.toMatch(/canary|AKIA|caca/);
      }),
    );
  });

  it('is the only kind of token that is read', async () => {
    const { service, verify, verdictOn } = await asking();
    for (const token of ['', 'plain', 'service-cloud-v2.x', signedUrl()]) {
      expect(await verify(token)).toBeNull();
    }
    const iapAssertion = tokenOf(signedUrl());
    expect(await verdictOn({ bearer: null, iapAssertion, orgId: null })).toBeNull();
    expect(service.calls).toEqual([]);
  });

  it('leads to no other host after any change', async () => {
    const { service, verify } = await asking();
    const url = signedUrl();
    const piece = fc.oneof(
      fc.string({ maxLength: 3, unit: 'binary' }),
      fc.string({ maxLength: 3, unit: fc.constantFrom(...'abAB01-./:@#?&=%\\') }),
      // One that can still be asked with.
      fc.constantFrom(...'abcdef0123456789'),
    );
    const change = fc.tuple(fc.nat(url.length - 1), piece);
    let asks = 0;
    await fc.assert(
      fc.asyncProperty(change, async ([index, text]) => {
        await verify(tokenOf(url.slice(0, index) + text + url.slice(index + 1)));
        for (const { method, url: asked, headers } of service.calls.splice(0)) {
          expect(method).toBe('GET');
          expect(asked).toMatch(/^\/\?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-/);
          expect(headers.host).toBe(`sts.${region}.amazonaws.com`);
          asks += 1;
        }
      }),
      { numRuns: runs(500) },
    );
    expect(asks).toBeGreaterThan(runs(10));
  });
});

describe('the token service', () => {
  it('may answer in XML', async () => {
    const text = xml(`<Arn>${arn}</Arn><UserId>u</UserId><Account>${account}</Account>`);
    const { show } = await asking(says(text));
    expect(await show()).toEqual(passes);
  });

  it.each([400, 401, 403])('reports a wrong signature by %i', async (status) => {
    const { show, log } = await asking(says({ Error: { Code: 'x' } }, status));
    expect(await show()).toEqual(unsigned);
    expect(log).toEqual([]);
  });

  it.each<[string, Reply]>([
    ['an error', says({}, 500)],
    ['a limit', says({}, 429)],
    ['another success', says({}, 204)],
    ['a redirect', redirects],
    ['no JSON', says('yes')],
    ['nobody', says({ GetCallerIdentityResponse: {} })],
    ['an account other than that of the ARN', named(arn, '999999999999')],
    ['an invalid ARN', named('ann')],
    ['an ARN with a line end', named(`${arn}\n`)],
    ['an ARN after other text', named(`x${arn}`)],
    ['an ARN on its own line', named(`x\n${arn}`)],
    ['an ARN of another partition', named(arn.replace('arn:aws:', 'arn:aws1:'))],
    ['an ARN of another service', named(arn.replace(':sts:', ':s3:'))],
    ['an ARN in a region', named(arn.replace('sts::', 'sts:eu:'))],
    ['an ARN without a user', named(`arn:aws:sts::${account}:`)],
    ['XML with two ARNs', says(xml(`<Arn>${arn}</Arn><Arn>x</Arn><Account>${account}</Account>`))],
    [
      'XML with a type',
      says(`<!DOCTYPE x>${xml(`<Arn>${arn}</Arn><Account>${account}</Account>`)}`),
    ],
    ['XML of an error', says(`<ErrorResponse><Arn>${arn}</Arn></ErrorResponse>`)],
    ['more than 64 KiB', says(' '.repeat(65_537))],
    ['a closed connection', dies],
  ])('refuses the caller when it answers with %s', async (_, reply) => {
    const { service, show, log } = await asking(reply);
    expect(await show()).toEqual(unavailable);
    expect(service.calls.length).toBe(1);
    expect(log.length).toBe(1);
    expect(JSON.stringify(log)).not.toMatch(/caca|X-Amz|AKIA/);
  });

  it('times out after ten seconds', { timeout: 20_000 }, async () => {
    const { show } = await asking(drips);
    const start = performance.now();
    expect(await show()).toEqual(unavailable);
    expect(performance.now() - start).toBeGreaterThan(9_900);
    expect(performance.now() - start).toBeLessThan(12_000);
  });

  it('is called once for a token, until identity_cache_ttl is over', async () => {
    const { service, verify } = await asking();
    const token = tokenOf(signedUrl());
    expect(await Promise.all([verify(token), verify(token)])).toEqual([passes, passes]);
    expect(await verify(token)).toEqual(passes);
    expect(service.calls.length).toBe(1);
    await verify(tokenOf(signedUrl({ parameters: { 'X-Amz-Expires': '800' } })));
    expect(service.calls.length).toBe(2);
    const brief = await asking(named(), { identity_cache_ttl: '20ms' });
    await brief.verify(token);
    await vi.waitUntil(async () => {
      expect(await brief.verify(token)).toEqual(passes);
      return brief.service.calls.length > 1;
    }, patient);
  });

  it('is called every time when the cache is off, and again after a refusal', async () => {
    const { service, verify } = await asking(named(), { identity_cache_ttl: '0s' });
    const token = tokenOf(signedUrl());
    await verify(token);
    await verify(token);
    expect(service.calls.length).toBe(2);
    const other = await asking(says({}, 403));
    expect(await other.verify(token)).toEqual(unsigned);
    other.service.reply = named();
    expect(await other.verify(token)).toEqual(passes);
  });

  it('is not trusted beyond the expiry of the token', async () => {
    const { service, verify } = await asking(named(), { identity_cache_ttl: '1h' });
    const token = tokenOf(signedUrl());
    expect(await verify(token)).toEqual(passes);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 901_000 });
    try {
      expect(await verify(token)).toEqual(malformed('it has expired'));
      expect(service.calls.length).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the allowed principals', () => {
  const foreign = refused('rejected', 'the account of the signer may not sign in here');
  const stranger = refused('rejected', 'the signer may not sign in here');

  it.each<[string, object, object]>([
    ['nothing', {}, passes],
    ['the account', { allowed_accounts: ['000000000000', account] }, passes],
    ['another account', { allowed_accounts: ['000000000000'] }, foreign],
    ['the name', { allowed_principals: [arn] }, passes],
    [
      'a pattern',
      { allowed_principals: ['arn:aws:iam::*:*', 'arn:aws:sts::*:*/deploy/*'] },
      passes,
    ],
    ['another name', { allowed_principals: [`${arn}8`] }, stranger],
    [
      'both, one of which matches',
      { allowed_accounts: ['000000000000'], allowed_principals: ['arn:aws:sts::*:*'] },
      foreign,
    ],
  ])('are a list of %s', async (_, settings, verdict) => {
    const { verify } = await asking(named(), settings);
    const token = tokenOf(signedUrl());
    expect(await verify(token)).toEqual(verdict);
    expect(await verify(token)).toEqual(verdict);
  });
});
