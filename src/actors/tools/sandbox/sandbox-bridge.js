// @ts-check

/**
 * Runs inside the sandbox, as its first program: `PORT SOCKET PROGRAM ARGUMENT…`.
 *
 * It listens on 127.0.0.1:PORT, hands every connection to the UNIX socket of the egress proxy, and runs
 * the script. Descriptor 3 leads to the daemon: a byte from there asks the script to end, and how it
 * ended is said there as JSON. When this process ends, the kernel ends everything else in the sandbox.
 * PORT 0 runs the script without egress. It is JavaScript, since taking types off it would be half of what starting a
 * sandbox costs.
 */
import { spawn } from 'node:child_process';
import { closeSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, Socket } from 'node:net';
import { setPriority } from 'node:os';

/** The kernel does not count the processes of root, so somebody has to. */
const mostProcesses = 256;

// Below, everything that can be killed is; outside a sandbox that would be far too much.
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
 * What whoever started the daemon had open and left to all its children: through a folder among that, a script would
 * see the files of the machine. Node itself keeps the first sixteen from its children; its own are closed by their
 * flags.
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
 * The flags a descriptor was opened with; one that is closed by now has them all.
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
  // A session of its own gets a fair share of the processor, however many processes the script starts.
  const child = spawn(String(program), args, { stdio: 'inherit', detached: true, env });
  child.on('error', (/** @type {NodeJS.ErrnoException} */ error) =>
    end({ error: error.code ?? 'unknown' }),
  );
  child.on('exit', (code, signal) => end({ code, signal }));
  control.on('data', () => ask(child.pid));
  // The daemon is gone, and nobody is left to run for.
  control.on('end', () => process.exit(1)).on('error', () => process.exit(1));
  standBack(child.pid);
  setInterval(bound, 20);
}

/**
 * Lowers the priority below everything else on the machine, so that no script can starve it or us.
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

/** Kills all at once when there are too many; the number the next process gets says when to count. */
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
    // It has ended already, which is what was wanted.
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
