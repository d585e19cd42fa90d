import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';

/** Finds a port of loopback where nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns the port that a file names, and writes a free one to it at first. */
export async function keptPort(file: string): Promise<number> {
  const port = existsSync(file) ? Number(readFileSync(file, 'utf8')) : await freePort();
  writeFileSync(file, String(port));
  return port;
}
