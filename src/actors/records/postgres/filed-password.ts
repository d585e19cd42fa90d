import type { Client } from 'pg';

/** Has a connection whose URL names no password look for it in the file that `PGPASSFILE` names, as `psql` does. */
export function useFiledPassword(client: Client): void {
  // The driver has a password asked for by a function as well, which its types leave out.
  const open = client as unknown as { password: string | null | typeof filedPassword };
  if (open.password === null) open.password = filedPassword;
}

async function filedPassword(connection: object): Promise<string | undefined> {
  const { default: find } = await import('pgpass');
  return new Promise((resolve) => find(connection, resolve));
}
