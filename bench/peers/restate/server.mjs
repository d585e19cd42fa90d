import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { serveServer } from '../serve-runs.ts';

const { directory, server } = JSON.parse(process.argv[2]);
// One that is started again listens where it did, as its services know it by that.
const ingress = server.ingress ?? `127.0.0.1:${await freePort()}`;
const admin = server.admin ?? `127.0.0.1:${await freePort()}`;
const node = server.node ?? `${await freePort()}`;
const program = createRequire(import.meta.url).resolve(
  `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
);
const restate = spawn(program, ['--no-logo'], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    ...process.env,
    RESTATE_BASE_DIR: join(directory, 'restate'),
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: node,
    RESTATE_INGRESS__BIND_ADDRESS: ingress,
    RESTATE_ADMIN__BIND_ADDRESS: admin,
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LOG_FILTER: 'off',
    RESTATE_WORKER__INVOKER__CONCURRENT_INVOCATIONS_LIMIT: '20000',
  },
});
const ended = once(restate, 'exit');
ended.then(() => process.exit());
while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50));
serveServer(restate.pid, { ingress, admin, node }, () => {
  restate.kill('SIGKILL');
  return ended;
});

async function isReady() {
  try {
    return (
      (await fetch(`http://${admin}/health`)).ok &&
      (await fetch(`http://${ingress}/restate/health`)).ok
    );
  } catch {
    return false;
  }
}
