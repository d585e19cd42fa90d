import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
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
const malformed = refused(
  'invalid',
  `the token is no GetCallerIdentity URL that is signed for sts.${region}.amazonaws.com and valid now; sign a new one`,
);
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

describe('a signed question', () => {
  it('is put to the token service as it was signed, and nowhere else', async () => {
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

  it('must have signed the audience when there is one', async () => {
    const { service, show } = await asking(named(), { audience: 'urn:agent' });
    const parameters = { 'X-Amz-SignedHeaders': 'host;x-service-audience' };
    expect(await show()).toEqual(malformed);
    expect(service.calls).toEqual([]);
    expect(await show({ parameters })).toEqual(passes);
    expect(service.calls[0]?.headers['x-service-audience']).toBe('urn:agent');
    const none = await asking();
    expect(await none.show({ parameters })).toEqual(malformed);
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

  it.each<[string, Signing]>([
    ['another host', { origin: 'https://sts.evil.io' }],
    ['a host that begins like it', { origin: `https://sts.${region}.amazonaws.com.evil.io` }],
    ['a host that ends like it', { origin: `https://xsts.${region}.amazonaws.com` }],
    ['another region', { origin: 'https://sts.us-east-1.amazonaws.com' }],
    ['no region', { origin: 'https://sts.amazonaws.com' }],
    ['the machine itself', { origin: 'http://127.0.0.1:9' }],
    ['metadata', { origin: 'http://169.254.169.254' }],
    ['plain http', { origin: `http://sts.${region}.amazonaws.com` }],
    ['a user', { origin: `https://a@sts.${region}.amazonaws.com` }],
    ['a user like it', { origin: `https://sts.${region}.amazonaws.com@evil.io` }],
    ['a port', { origin: `https://sts.${region}.amazonaws.com:8443` }],
    ['the usual port', { origin: `https://sts.${region}.amazonaws.com:443` }],
    ['upper case', { origin: `https://STS.${region}.amazonaws.com` }],
    ['a path', { origin: `https://sts.${region}.amazonaws.com/x` }],
    ['a way back', { origin: `https://sts.${region}.amazonaws.com/x/..` }],
    ['a backslash', { origin: `https:\\\\sts.${region}.amazonaws.com` }],
    ['a blank before it', { origin: ` https://sts.${region}.amazonaws.com` }],
    ['a fragment', { tail: '#x' }],
    ['an empty fragment', { tail: '#' }],
    ['a line end', { tail: '\r\nX: y' }],
    ['another parameter', { tail: '&X=y' }],
    ['an empty parameter', { tail: '&=' }],
    ['an action twice', { tail: '&Action=GetCallerIdentity' }],
    ['an action twice, once in disguise', { tail: '&%41ction=AssumeRole' }],
    ['another action', { parameters: { Action: 'AssumeRole' } }],
    ['no action', { parameters: { Action: undefined } }],
    ['another version', { parameters: { Version: '2010-01-01' } }],
    ['another algorithm', with_('Algorithm', 'AWS4-ECDSA-P256-SHA256')],
    ['no signature', with_('Signature', undefined)],
    ['an empty signature', with_('Signature', '')],
    ['no date', with_('Date', undefined)],
    ['a day that there is not', with_('Date', '20269999T000000Z')],
    ['no end', with_('Expires', undefined)],
    ['an end too far', with_('Expires', '901')],
    ['an end at once', with_('Expires', '0')],
    ['an end before', with_('Expires', '-1')],
    ['an end in words', with_('Expires', '9e2')],
    ['another scope', with_('Credential', 'AKIAIOSFODNN7EXAMPLE/20200101/x/sts/aws4_request')],
    ['further headers', with_('SignedHeaders', 'host;x-evil')],
    ['no host', with_('SignedHeaders', 'x-service-audience')],
    ['a session of two lines', with_('Security-Token', 'a\nb')],
    ['a date that is over', { parameters: at(-901) }],
    ['a date to come', { parameters: at(60) }],
  ])('is refused with %s, before anybody is asked', async (_, signing) => {
    const { service, show, log } = await asking();
    expect(await show(signing)).toEqual(malformed);
    expect(service.calls).toEqual([]);
    expect(log).toEqual([]);
  });

  it.each([[-890], [20]])('counts when it is signed %i s from now', async (seconds) => {
    const { show } = await asking();
    expect(await show({ parameters: at(seconds) })).toEqual(passes);
  });

  it.each(['', '!', 'aHR0cA', 'a.b', `${tokenOf(signedUrl()).slice(17)}=`])(
    'is refused when it is written "%.20s"',
    async (text) => {
      const { service, verify } = await asking();
      expect(await verify(`service-cloud-v1.${text}`)).toEqual(malformed);
      expect(service.calls).toEqual([]);
    },
  );

  it('is the only kind of token that is looked at', async () => {
    const { service, verify, judge } = await asking();
    for (const token of ['', 'plain', 'service-cloud-v2.x', signedUrl()]) {
      expect(await verify(token)).toBeNull();
    }
    const iapAssertion = tokenOf(signedUrl());
    expect(await judge({ bearer: null, iapAssertion, orgId: null })).toBeNull();
    expect(service.calls).toEqual([]);
  });

  it('never leads anywhere else, whatever is changed in it', async () => {
    const { service, verify } = await asking();
    const url = signedUrl();
    const change = fc.tuple(fc.nat(url.length - 1), fc.string({ maxLength: 3, unit: 'binary' }));
    await fc.assert(
      fc.asyncProperty(change, async ([index, text]) => {
        await verify(tokenOf(url.slice(0, index) + text + url.slice(index + 1)));
        for (const { method, url: asked, headers } of service.calls.splice(0)) {
          expect(method).toBe('GET');
          expect(asked).toMatch(/^\/\?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-/);
          expect(headers.host).toBe(`sts.${region}.amazonaws.com`);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('the token service', () => {
  it('may answer in XML', async () => {
    const text = xml(`<Arn>${arn}</Arn><UserId>u</UserId><Account>${account}</Account>`);
    const { show } = await asking(says(text));
    expect(await show()).toEqual(passes);
  });

  it.each([400, 401, 403])('says by %i that the signature is wrong', async (status) => {
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
    ['an account that is not that of the name', named(arn, '999999999999')],
    ['a name that is none', named('ann')],
    ['a name with a line end', named(`${arn}\n`)],
    ['XML with two names', says(xml(`<Arn>${arn}</Arn><Arn>x</Arn><Account>${account}</Account>`))],
    [
      'XML with a type',
      says(`<!DOCTYPE x>${xml(`<Arn>${arn}</Arn><Account>${account}</Account>`)}`),
    ],
    ['XML of an error', says(`<ErrorResponse><Arn>${arn}</Arn></ErrorResponse>`)],
    ['more than 64 KiB', says(' '.repeat(65_537))],
    ['a closed connection', dies],
  ])('lets nobody in when it answers with %s', async (_, reply) => {
    const { service, show, log } = await asking(reply);
    expect(await show()).toEqual(unavailable);
    expect(service.calls.length).toBe(1);
    expect(log.length).toBe(1);
    expect(JSON.stringify(log)).not.toMatch(/caca|X-Amz|AKIA/);
  });

  it('has ten seconds', { timeout: 20_000 }, async () => {
    const { show } = await asking(drips);
    const start = performance.now();
    expect(await show()).toEqual(unavailable);
    expect(performance.now() - start).toBeGreaterThan(9_900);
    expect(performance.now() - start).toBeLessThan(12_000);
  });

  it('is asked once about a token, until identity_cache_ttl is over', async () => {
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
    });
  });

  it('is asked every time when nothing is kept, and again after a refusal', async () => {
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

  it('is not believed any longer than the token counts', async () => {
    const { service, verify } = await asking(named(), { identity_cache_ttl: '1h' });
    const token = tokenOf(signedUrl());
    expect(await verify(token)).toEqual(passes);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 901_000 });
    try {
      expect(await verify(token)).toEqual(malformed);
      expect(service.calls.length).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('who may sign in', () => {
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
      'both, one of which fits',
      { allowed_accounts: ['000000000000'], allowed_principals: ['arn:aws:sts::*:*'] },
      foreign,
    ],
  ])('is decided by a list of %s', async (_, settings, verdict) => {
    const { verify } = await asking(named(), settings);
    const token = tokenOf(signedUrl());
    expect(await verify(token)).toEqual(verdict);
    expect(await verify(token)).toEqual(verdict);
  });
});
