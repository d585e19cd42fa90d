// @ts-check

/**
 * Runs as the first program inside the sandbox: `PORT SOCKET PROGRAM ARGUMENT…`.
 *
 * Listens on 127.0.0.1:PORT, forwards every connection to the UNIX socket of the egress proxy, and runs the script.
 * Descriptor 3 connects to the daemon: a byte from there asks the script to end, and its exit is reported there as
 * JSON. When this process ends, the kernel ends all other processes in the sandbox. PORT 0 runs the script without
 * egress. Written in JavaScript, since stripping types would be half of the start-up cost of a sandbox.
 */
import { spawn } from 'node:child_process';
import { closeSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, Socket } from 'node:net';
import { setPriority } from 'node:os';

/** The kernel does not limit the processes of root, so this bridge counts them. */
const mostProcesses = 256;

// The code below kills every process that it can, which must never happen outside a sandbox.
if (process.pid !== 2) throw new Error('the bridge runs in a sandbox only');

for (const descriptor of leftOpen()) closeSync(descriptor);

const [port, socketPath, program, ...args] = process.argv.slice(1);
const control = new Socket({ fd: 3 });

const server = createServer((client) => {
  const proxy = connect(String(socketPath));
  client.on('error', () => proxy.destroy()).on('close', () => proxy.destroy());
  proxy.on('error', () => client.destroy()).on('close', () => client.destroy());
  client.pipe(proxy).pipe(client);
});

if (port === '0') start();
else server.listen(Number(port), '127.0.0.1', start);

/**
 * Returns descriptors inherited from the daemon's parent: through an open folder among them, a script could see the
 * machine's files. Node withholds the first sixteen from its children; its own are close-on-exec.
 *
 * @returns {number[]}
 */
function leftOpen() {
  const closedToPrograms = 0o2000000;
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 3 && (flagsOf(descriptor) & closedToPrograms) === 0);
}

/**
 * Returns the flags with which a descriptor was opened; a descriptor closed meanwhile has all flags.
 *
 * @param {number} descriptor
 * @returns {number}
 */
function flagsOf(descriptor) {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
    return Number.parseInt(/^flags:\s+(\d+)/m.exec(text)?.[1] ?? '', 8);
  } catch {
    return -1;
  }
}

function start() {
  const env = port === '0' ? process.env : { ...process.env, NODE_USE_ENV_PROXY: '1' };
  // Its own session gets a fair share of the processor, however many processes the script starts.
  const child = spawn(String(program), args, { stdio: 'inherit', detached: true, env });
  child.on('error', (/** @type {NodeJS.ErrnoException} */ error) =>
    end({ error: error.code ?? 'unknown' }),
  );
  child.on('exit', (code, signal) => end({ code, signal }));
  control.on('data', () => ask(child.pid));
  // The daemon is gone, so there is no purpose in continuing.
  control.on('end', () => process.exit(1)).on('error', () => process.exit(1));
  standBack(child.pid);
  setInterval(bound, 20);
}

/**
 * Sets the lowest priority, so that no script can starve the machine or this bridge.
 *
 * @param {number | undefined} pid
 */
function standBack(pid) {
  try {
    setPriority(pid ?? 0, 5);
    writeFileSync(`/proc/${pid}/autogroup`, '5');
  } catch {
    // Not every kernel groups processes by session.
  }
}

/** Kills all processes if there are too many; the next process id shows when to count. */
function bound() {
  const lastPid = Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
  if (lastPid < mostProcesses || processes() <= mostProcesses) return;
  process.kill(-1, 'SIGKILL');
  end({ error: 'too many processes' });
}

/** @param {number | undefined} pid */
function ask(pid) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGTERM');
  } catch {
    // Already ended, as intended.
  }
}

/** @returns {number} */
function processes() {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length;
}

/** @param {object} how */
function end(how) {
  if (control.writableEnded) return;
  control.end(JSON.stringify(how), () => process.exit(0));
}
