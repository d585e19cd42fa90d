import type { Client } from 'pg';

/** Makes a connection whose URL contains no password look it up in the file of `PGPASSFILE`, like `psql`. */
export function useFiledPassword(client: Client): void {
  // The driver also accepts an asynchronous function as password, which its types omit.
  const open = client as unknown as { password: string | null | typeof filedPassword };
  if (open.password === null) open.password = filedPassword;
}

async function filedPassword(connection: object): Promise<string | undefined> {
  const { default: find } = await import('pgpass');
  return new Promise((resolve) => find(connection, resolve));
}
