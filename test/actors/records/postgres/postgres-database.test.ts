import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { PostgresDatabase } from '../../../../src/actors/records/postgres/postgres-database.ts';
import { postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { sharedPostgres } from '../../../helpers/postgres-server.ts';

/** A message of PostgreSQL's protocol. */
function message(kind: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(kind), length, body]);
}

const welcome = message('R', Buffer.alloc(4));
const ready = message('Z', Buffer.from('I'));
const goodbye = message(
  'E',
  Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
);

it('a connection that is closed when it becomes ready closes nothing else', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // All of it is read at once, before a waiting caller gets the connection.
    socket.once('data', () => socket.end(Buffer.concat([welcome, ready, goodbye])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const database = await PostgresDatabase.load({
    url: () => `postgres://agent@127.0.0.1:${port}/agents`,
    ...{ schema: 'holdpoint', pool: 2 },
  });
  const failing = database.transaction(async () => 'done');
  await expect(failing).rejects.toThrow('Client has encountered a connection error');
  await database.close();
});

it('a connection whose prepared statement lost its columns is replaced', async () => {
  const [server, { database: name, execute }] = [await sharedPostgres(), await postgresPlace()];
  await execute('CREATE SCHEMA holdpoint; CREATE TABLE holdpoint.notes (id INTEGER)');
  const database = await PostgresDatabase.load({
    url: () => server.url(name),
    ...{ schema: 'holdpoint', pool: 1 },
  });
  onTestFinished(() => database.close());
  const read = { text: 'SELECT * FROM notes WHERE id > $1', values: [0] };
  const look = () => database.pipelined([], async () => [read]);
  await look();
  await execute('ALTER TABLE holdpoint.notes ADD COLUMN text TEXT');
  await expect(look()).rejects.toMatchObject({ code: '0A000' });
  await expect(look()).resolves.toBeUndefined();
});
