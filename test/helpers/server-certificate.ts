import { join } from 'node:path';
import { giveToServer } from './postgres-programs.ts';
import type { PostgresServer } from './postgres-server.ts';

/** Has a server of the tests take connections over TLS from now on, with a certificate. */
export async function useCertificate(
  server: PostgresServer,
  { cert, key }: { cert: string; key: string },
): Promise<void> {
  giveToServer(join(server.folder, 'server.crt'), cert);
  giveToServer(join(server.folder, 'server.key'), key);
  await server.query('ALTER SYSTEM SET ssl = on');
  await server.query('SELECT pg_reload_conf()');
}
