import { openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { agentProof } from '../../../src/actors/agent-proof.ts';

// Replaces the agent of a folder, `run --dir FOLDER`: it answers once the gate there has `go`, else it fails.
const directory = process.argv.at(-1) ?? '';
if (readFileSync(join(directory, 'gate'), 'utf8') !== 'go') {
  process.stderr.write('error: the till is locked\n');
  process.exit(1);
}
const state = join(directory, '.service');
openSync(join(state, 'daemon.lock'), 'w');
const serveFile = join(state, 'serve.json');
const key = 'k'.repeat(43);
const server = createServer(({ url, headers }, response) => {
  const { port } = server.address() as AddressInfo;
  const challenge = String(headers['x-service-challenge'] ?? '');
  response.writeHead(200, { 'x-service-proof': agentProof(key, challenge, port) });
  if (url === '/events') response.write(': \n\n');
  else response.end();
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const served = {
    ...{ pid: process.pid, host: '127.0.0.1', port, auth_enabled: false, token_path: '' },
    ...{ started_at: '2026-07-01T09:00:00Z', version: '0', proof_key: key },
  };
  writeFileSync(serveFile, JSON.stringify(served), { mode: 0o600 });
});
process.once('SIGTERM', () => {
  rmSync(serveFile);
  process.exit();
});
