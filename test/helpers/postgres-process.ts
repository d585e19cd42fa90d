// Starts a server, says where, and stays until it is killed.
import { PostgresServer } from './postgres-server.ts';

const server = await PostgresServer.start();
const { pid, folder } = server;
process.stdout.write(`${JSON.stringify({ pid, folder })}\n`);
setInterval(() => undefined, 60_000);
