import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SqliteWebRecords } from '../../../../src/actors/records/sqlite/sqlite-web-records.ts';
import type { ServerAuthSettings } from '../../../../src/actors/tools/mcp/auth/auth-settings.ts';
import { ServerAuth } from '../../../../src/actors/tools/mcp/auth/server-auth.ts';
import { TokenVault } from '../../../../src/actors/tools/mcp/auth/token-vault.ts';
import { emptyTables } from '../../../helpers/empty-tables.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { startTokenIssuer } from '../../../helpers/token-issuer.ts';

const redirect = 'http://127.0.0.1:8976/callback';
const url = 'https://shop.example/mcp';

/** Daemons over one store, and the issuer of their server. */
async function daemons() {
  const issuer = await startTokenIssuer();
  const clock = new ManualClock(1_000_000);
  const database = emptyTables();
  const records = new SqliteWebRecords(database);
  let count = 0;
  const open = (
    changed: Partial<ServerAuthSettings & { url: string }> = {},
    changedFetch?: typeof globalThis.fetch,
  ): ServerAuth => {
    count += 1;
    const key = async () => Buffer.alloc(32, 7);
    const vault = new TokenVault({ records, key, clock, owner: `daemon-${count}` });
    const { url: at = url, ...settings } = changed;
    const type = 'authorization_code' as const;
    const auth = { type, scopes: [], issuer: issuer.issuer, ...settings };
    const server = { name: 'shop', url: at, auth, setting: 'mcp.servers.0.auth' };
    const outbound = { fetch: changedFetch ?? globalThis.fetch };
    return new ServerAuth(server, { outbound, vault, clock });
  };
  const first = open();
  await first.finishLogin(issuer.signIn(await first.startLogin(redirect)));
  return { issuer, clock, database, open, first };
}

const refreshed = (asked: Record<string, string>[]) =>
  asked.filter(({ grant_type: type }) => type === 'refresh_token').length;

describe('the tokens of a server', () => {
  it('are renewed before they expire, once for all daemons', async () => {
    const { issuer, clock, open, first } = await daemons();
    const others = [open(), open()];
    expect(await first.token()).toBe('access-1');
    clock.advance(3_600_000 - 60_000);
    let isOver = false;
    const asked = [first, ...others].map((daemon) => daemon.token());
    const all = Promise.all(asked).finally(() => {
      isOver = true;
    });
    // The daemons that wait look again after a pause.
    while (!isOver) {
      clock.advance(1);
      await setImmediate();
    }
    const tokens = await all;
    expect([tokens, refreshed(issuer.asked)]).toEqual([['access-2', 'access-2', 'access-2'], 1]);
  });

  it('are renewed once for all daemons when the server refuses them', async () => {
    const { issuer, open, first } = await daemons();
    const other = open();
    expect(await other.token()).toBe('access-1');
    expect(await first.refused('access-1', null)).toBe('access-2');
    expect(await other.refused('access-1', null)).toBe('access-2');
    expect(refreshed(issuer.asked)).toBe(1);
    expect(first.secrets).toEqual(['access-2', 'refresh-2', 'access-1', 'refresh-1']);
  });

  it('need a person once the issuer refuses the refresh token', async () => {
    const { issuer, first } = await daemons();
    await fetch(`${issuer.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'refresh-1' }),
    });
    await expect(first.refused('access-1', null)).rejects.toThrow('needs a sign-in');
  });

  it('are sent to no other address, and to no other issuer', async () => {
    const { open } = await daemons();
    for (const changed of [
      { url: 'https://other.example/mcp' },
      { issuer: 'https://other.example' },
      { client_id: 'another' },
    ]) {
      await expect(open(changed).token()).rejects.toThrow('needs a sign-in');
    }
  });

  it('stay in use while the store fails, and are not renewed without it', async () => {
    const { issuer, clock, database, first } = await daemons();
    database.exec('DROP TABLE web_records');
    expect(await first.token()).toBe('access-1');
    clock.advance(3_600_000);
    await expect(first.token()).rejects.toMatchObject({
      ...{ message: 'has tokens in a store that does not work now', isUnsent: true },
    });
    expect(refreshed(issuer.asked)).toBe(0);
  });

  it('are encrypted in the store', async () => {
    const { database, first } = await daemons();
    const rows = JSON.stringify(database.prepare('SELECT * FROM web_records').all());
    for (const secret of first.secrets) expect(rows).not.toContain(secret);
  });
});

it('a sign-in is refused at an issuer without PKCE', async () => {
  const { issuer, open } = await daemons();
  issuer.metadata = { code_challenge_methods_supported: ['plain'] };
  await expect(open().startLogin(redirect)).rejects.toThrow('has an issuer without PKCE (S256)');
});

it('a sign-in expires after ten minutes', async () => {
  const { issuer, clock, first } = await daemons();
  const query = issuer.signIn(await first.startLogin(redirect));
  clock.advance(600_000);
  await expect(first.finishLogin(query)).rejects.toThrow('has no such sign-in under way');
});

it("a sign-in is refused at another issuer than the server's first one", async () => {
  const { issuer, open } = await daemons();
  const own = `${issuer.issuer}/mcp`;
  let named = issuer.issuer;
  const asks: typeof globalThis.fetch = async (input, init) => {
    const address = String(input);
    if (address.startsWith('https://other.example')) return new Response(null, { status: 404 });
    return address.includes('oauth-protected-resource')
      ? Response.json({ resource: own, authorization_servers: [named] })
      : fetch(input, init);
  };
  const settings = { issuer: undefined, client_id: 'desk', client_secret: 'sesame-of-desk' };
  const shop = open({ ...settings, url: own }, asks);
  await shop.finishLogin(issuer.signIn(await shop.startLogin(redirect)));
  named = 'https://other.example';
  await expect(shop.startLogin(redirect)).rejects.toThrow('names another issuer than before');
  await shop.logout();
  await expect(shop.startLogin(redirect)).rejects.toThrow('got no token from its issuer');
});

it('every sign-in request has a time limit, so that a server cannot block others', async () => {
  const { issuer, open } = await daemons();
  const asked: [string, boolean][] = [];
  const asks: typeof globalThis.fetch = async (input, init) => {
    asked.push([new URL(String(input)).pathname, init?.signal instanceof AbortSignal]);
    return fetch(input, init);
  };
  const shop = open({ issuer: undefined, url: `${issuer.issuer}/mcp` }, asks);
  await shop.finishLogin(issuer.signIn(await shop.startLogin(redirect)));
  expect(asked).toEqual(expect.arrayContaining([['/register', true]]));
  expect(asked.filter(([, isLimited]) => !isLimited)).toEqual([]);
});

it("a daemon with a slow renewal does not release the next one's lock", async () => {
  const clock = new ManualClock(1_000_000);
  const records = new SqliteWebRecords(emptyTables());
  const vaultOf = (owner: string) =>
    new TokenVault({ records, key: async () => Buffer.alloc(32, 7), clock, owner });
  const steps: string[] = [];
  const begin = (owner: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const over = vaultOf(owner).exclusively('shop', () => {
      steps.push(owner);
      return promise;
    });
    return async () => {
      resolve();
      await over;
    };
  };
  const endSlow = begin('slow');
  await setImmediate();
  clock.advance(60_000);
  const endNext = begin('next');
  await setImmediate();
  await endSlow();
  const endLast = begin('last');
  await setImmediate();
  expect(steps).toEqual(['slow', 'next']);
  await endNext();
  clock.advance(100);
  await setImmediate();
  await endLast();
  expect(steps).toEqual(['slow', 'next', 'last']);
});
