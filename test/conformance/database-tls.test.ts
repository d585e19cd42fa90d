import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { cleanUp, holdpoint } from '../cli/holdpoint.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { authorities, databaseCertificates } from '../helpers/database-certificates.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { useCertificate } from '../helpers/server-certificate.ts';
import { deferring, launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let plain: PostgresServer;
let secured: PostgresServer;
const files = mkdtempSync(join(tmpdir(), 'holdpoint-authorities-'));

beforeAll(async () => {
  plain = await PostgresServer.start();
  secured = await PostgresServer.start();
  for (const [name, pem] of Object.entries({ ...authorities, broken: 'no certificate' })) {
    writeFileSync(fileOf(name), pem);
  }
});
afterAll(async () => {
  await cleanUp();
  await plain.remove();
  await secured.remove();
  rmSync(files, { recursive: true });
});

const variable = 'SERVICE_DATABASE_URL';
const fileOf = (name: string): string => join(files, `${name}.pem`);
const trusting = (name: string): string => `sslmode=verify-full&sslrootcert=${fileOf(name)}`;

function addressOf(server: PostgresServer, query: string, database = 'postgres') {
  return { [variable]: `${server.url(database, 'postgres', 's3cret')}?${query}` };
}

/** Why a daemon does not start over a server. */
async function refusalOf(env: Record<string, string>): Promise<string> {
  const folder = new AgentFolder({ store: { kind: 'postgres' } });
  onTestFinished(() => folder.remove());
  return launchAgent({}, { folder, env }).then(
    () => 'it started',
    (error: unknown) => (error as Error).message,
  );
}

const words = {
  unknown: `the database of ${variable} presents a certificate of an unknown authority; add sslrootcert=/path/of/ca.pem with the certificate of that authority to ${variable}`,
  elsewhere: `the certificate of the database of ${variable} names another host than the URL; write the host in ${variable} as the certificate has it, or give the server one for that host`,
  expired: `the certificate of the database of ${variable} is not valid today; renew it at the server, or set the clock of this machine right`,
  unsecured: `the database of ${variable} refuses this user, address and kind of connection; add a line to its pg_hba.conf, or sslmode=verify-full to ${variable} where the server asks for TLS`,
  plain: `the database of ${variable} does not accept TLS, which its URL requires; set ssl = on at the server, or sslmode=disable in ${variable} on a network of your own`,
  missing: `the database of ${variable} cannot be reached, since a file or a socket that its URL names cannot be opened; correct ${variable}, or the permissions of that file`,
};

describe('a daemon whose database is not trusted does not start, and logs the reason:', () => {
  it.each([
    ['another authority', 'here', trusting('another'), words.unknown],
    ['an authority that nobody named', 'here', 'sslmode=verify-full', words.unknown],
    ['an authority that nobody named', 'here', 'sslmode=require', words.unknown],
    ['a CA file without an authority', 'here', trusting('broken'), words.unknown],
    ['a missing CA file', 'here', trusting('gone'), words.missing],
    ['a certificate for another host', 'elsewhere', trusting('ours'), words.elsewhere],
    ['a certificate that has expired', 'expired', trusting('ours'), words.expired],
  ] as const)('%s (%s, %s)', async (_, name, query, sentence) => {
    await useCertificate(secured, databaseCertificates[name]);
    expect(await refusalOf(addressOf(secured, query))).toBe(sentence);
  });

  it('no TLS at the server', async () => {
    expect(await refusalOf(addressOf(plain, 'sslmode=require'))).toBe(words.plain);
  });

  it('TLS that the server requires and the URL does not', async () => {
    const lines = 'host all postgres 127.0.0.1/32 trust\nhostssl all guest 127.0.0.1/32 trust\n';
    writeFileSync(join(secured.folder, 'pg_hba.conf'), lines);
    await secured.query('SELECT pg_reload_conf()');
    expect(await refusalOf({ [variable]: secured.url('postgres', 'guest') })).toBe(words.unsecured);
  });

  it('in one line of the command, which exits with 1', async () => {
    await useCertificate(secured, databaseCertificates.here);
    const folder = new AgentFolder({ store: { kind: 'postgres' } });
    onTestFinished(() => folder.remove());
    const env = addressOf(secured, 'sslmode=require');
    const ended = await holdpoint(['run', '--dir', folder.path, '--port', '0'], { env });
    const said = ended.stderr.split('\n').filter((line) => !line.startsWith('{'));
    expect([ended.code, ended.stdout, said]).toEqual([1, '', [`error: ${words.unknown}`, '']]);
  });
});

describe('a database over TLS', () => {
  async function startSecured(authority: string): Promise<{ agent: TestAgent; database: string }> {
    await useCertificate(secured, databaseCertificates.here);
    const database = await secured.createDatabase();
    const folder = new AgentFolder({ ...deferring(), store: { kind: 'postgres' } });
    const env = addressOf(secured, trusting(authority), database);
    const agent = await launchAgent({}, { folder, env });
    onTestFinished(() => agent.close());
    return { agent, database };
  }

  const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

  const unwritable =
    'the service cannot record events at the moment, so it accepts no work; try again in a moment; its log says what is wrong with the database';

  /** What the log says of the database since a number of lines, each sentence once. */
  const toldOf = ({ log }: TestAgent): unknown[] => [
    ...new Set(
      log.filter(({ level }) => level !== 'info').map(({ fields }) => Object(fields).error),
    ),
  ];

  it.each([
    [
      'has a certificate for another host',
      () => useCertificate(secured, databaseCertificates.elsewhere),
      words.elsewhere,
      () => useCertificate(secured, databaseCertificates.here),
    ],
    [
      'has an unverifiable certificate, as the CA file was removed',
      async () => renameSync(fileOf('moved'), fileOf('away')),
      words.missing,
      async () => renameSync(fileOf('away'), fileOf('moved')),
    ],
  ])('that %s counts as unreachable until it is corrected', async (_, spoil, sentence, fix) => {
    writeFileSync(fileOf('moved'), authorities.ours);
    const { agent, database } = await startSecured('moved');
    const held = agent.send('t1', pay);
    await agent.reached('t1', 'deferred');
    await spoil();
    await secured.cut(database);
    await vi.waitFor(async () => expect((await agent.get('/readyz')).status).toBe(503), patient);
    const refused = await agent.send('t2', pay);
    expect([refused.status, refused.body.error]).toEqual([503, unwritable]);
    const decided = agent.decide('t1', { decision: 'approve', approver: 'ann' });
    await vi.waitFor(() => expect(toldOf(agent)).toContain(sentence), patient);
    await fix();
    await vi.waitFor(async () => expect((await agent.get('/readyz')).status).toBe(200), patient);
    expect([200, 503]).toContain((await decided).status);
    await agent.decide('t1', { decision: 'approve', approver: 'ann' });
    expect(textOf(await held)).toBe('paid');
    expect(agent.folder.paid).toHaveLength(1);
    expect(JSON.stringify(agent.log)).not.toContain('s3cret');
  });
});
