import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Daemon, makeAgentFolder, readMetrics, startDaemon } from './daemon.ts';
import { type Figure, seconds } from './figure.ts';
import { Load, measure } from './load.ts';

/** Seconds that progress is counted, and between two words of it. */
const counted = 20;
const progressEvery = 10;

/** Milliseconds without an answer after which no other is waited for. */
const patience = 15_000;

/** Calls that are begun at once. */
const atOnce = 100;

/** Milliseconds between two looks of the daemon at its own event loop, which are part of what it tells. */
const period = 10;

/** Sessions that are begun at most, and the addresses that they are begun from: each may have 100. */
const mostSessions = 4_000;
const addresses = 64;

/** Files that the daemon and this process need in addition to a connection for each call. */
const spareFiles = 2_500;

const progressMark = '"method":"notifications/progress"';
const resultMark = '"result":{';
const longestMark = Math.max(progressMark.length, resultMark.length);

/** Calls over MCP that are held, each on a connection of its own, of which nothing is kept but what was counted. */
class HeldCalls {
  readonly #url: URL;
  readonly #sockets: Socket[] = [];
  progress = 0;
  results = 0;
  cut = 0;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Holds so many calls over so many sessions. */
  async hold({ calls, sessions }: Shape, parked: (count: number) => Promise<void>): Promise<void> {
    const ids: string[] = [];
    for (let from = 0; from < calls; from += atOnce) {
      const count = Math.min(atOnce, calls - from);
      const sockets = Array.from({ length: count }, (_, index) => this.#connect(from + index));
      const greeting = sockets.slice(0, Math.max(0, sessions - from));
      ids.push(...(await Promise.all(greeting.map((socket) => this.#greet(socket)))));
      for (const [index, socket] of sockets.entries()) {
        this.#call(socket, from + index, ids[(from + index) % sessions] ?? '');
      }
      await parked(from);
    }
    await parked(calls);
  }

  /** Resolves with when the last answer came, once all have come or none has for a while. */
  async answered(calls: number): Promise<number> {
    let [results, at] = [this.results, performance.now()];
    while (this.results < calls && performance.now() - at < patience) {
      await pause(20);
      if (this.results > results) [results, at] = [this.results, performance.now()];
    }
    return at;
  }

  close(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('close').destroy();
  }

  #connect(index: number): Socket {
    // Each address has a share of the connections.
    const localAddress = `127.0.0.${2 + (index % addresses)}`;
    const { hostname: host, port } = this.#url;
    const socket = connect({ host, port: Number(port), localAddress });
    socket.on('error', () => undefined);
    socket.once('close', () => void (this.cut += 1));
    this.#sockets.push(socket);
    return socket;
  }

  /** Begins a session, and resolves with its id. */
  #greet(socket: Socket): Promise<string> {
    const clientInfo = { name: 'bench', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    this.#post(socket, { id: 0, method: 'initialize', params });
    return new Promise((resolve, reject) => {
      let text = '';
      const gone = () => reject(new Error(`no session: ${text.slice(0, 300)}`));
      socket.once('close', gone);
      socket.on('data', (data: Buffer) => {
        text += data.toString('latin1');
        if (!text.endsWith('\r\n0\r\n\r\n')) return;
        socket.removeAllListeners('data').removeListener('close', gone);
        const [, id] = /^mcp-session-id: (.+)\r$/im.exec(text) ?? [];
        if (id === undefined) gone();
        else resolve(id);
      });
    });
  }

  #call(socket: Socket, index: number, session: string): void {
    let tail = '';
    socket.on('data', (data: Buffer) => {
      const text = tail + data.toString('latin1');
      this.progress += text.split(progressMark).length - 1;
      this.results += text.split(resultMark).length - 1;
      // What has been counted is not to be counted again.
      const end = Math.max(endOf(text, progressMark), endOf(text, resultMark));
      tail = text.slice(Math.max(end, text.length - longestMark + 1));
    });
    const _meta = { progressToken: index + 1, task_id: `m${index}` };
    const params = { name: 'datetime_now', arguments: {}, _meta };
    this.#post(socket, { id: index + 1, method: 'tools/call', params }, session);
  }

  #post(socket: Socket, message: object, session?: string): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const headers = [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      'Accept: application/json, text/event-stream',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...(session === undefined ? [] : [`Mcp-Session-Id: ${session}`]),
    ];
    socket.write(`${headers.join('\r\n')}\r\n\r\n${body}`);
  }
}

interface Shape {
  calls: number;
  sessions: number;
}

/** What it costs to hold so many calls over MCP, in as many sessions as there may be and in a hundredth as many. */
export async function mcpHeldFigures(calls: number): Promise<Figure[]> {
  const limits = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const files = limits.userLimits?.open_files?.soft ?? 'unlimited';
  if (typeof files === 'number' && files < calls + spareFiles) {
    throw new Error(`${calls} connections need ulimit -n ${calls + spareFiles}; it is ${files}`);
  }
  return [
    ...(await heldOver({ calls, sessions: Math.min(calls, mostSessions) })),
    ...(await heldOver({ calls, sessions: calls / 100 })),
  ];
}

async function heldOver(shape: Shape): Promise<Figure[]> {
  const more = `    max_pending_per_caller: ${shape.calls + 1}\n`;
  const folder = makeAgentFolder({ server: 'mcp: true', more });
  const daemon = await startDaemon(folder.directory);
  const held = new HeldCalls(daemon.url);
  const deciding = new Load(daemon.url, 64);
  try {
    await deciding.echo();
    const before = await daemon.memory();
    const began = performance.now();
    await held.hold(shape, (count) => deferredAtLeast(daemon, count));
    const [holding, cut] = [performance.now() - began, held.cut];
    const after = await daemon.memory();
    // The daemon forgets how late it was whenever it has told.
    await readMetrics(daemon.url);
    const toldBefore = held.progress;
    await pause(counted * 1_000);
    const told = held.progress - toldBefore;
    const lag = await lagOf(daemon);
    const decided = performance.now();
    await measure(64, shape.calls, (index) => deciding.approve(`m${index}`));
    const approving = (await held.answered(shape.calls)) - decided;
    const what = `${many(shape.calls)} MCP calls held in ${many(shape.sessions)} sessions`;
    const figure = (name: string, measured: string) => ({
      what: `${what}: ${name}`,
      measured,
      aim: '',
    });
    const due = (shape.calls * counted) / progressEvery;
    const kept = (name: 'heap' | 'resident') =>
      `${((after[name] - before[name]) / shape.calls / 1_024).toFixed(1)} KB ${name}`;
    return [
      figure('all are held after', `${seconds(holding)}, ${cut} cut off`),
      figure('memory of each', `${kept('heap')}, ${kept('resident')}`),
      figure(`progress in ${counted} s`, `${many(told)} notifications of ${many(due)}`),
      figure('event loop delay meanwhile', lag),
      figure(
        'all are approved and answered after',
        `${seconds(approving)}, ${many(held.results)} answers; event loop delay ${await lagOf(daemon)}`,
      ),
    ];
  } finally {
    held.close();
    await deciding.close();
    await daemon.stop();
    folder.remove();
  }
}

async function lagOf({ url }: Daemon): Promise<string> {
  const value = await readMetrics(url);
  const lag = (share: string) =>
    `${Math.max(0, value(`nodejs_eventloop_lag_${share}_seconds`) * 1_000 - period).toFixed(1)} ms`;
  return `p50 ${lag('p50')}, p99 ${lag('p99')}`;
}

async function deferredAtLeast({ url }: Daemon, count: number): Promise<void> {
  const until = performance.now() + patience;
  // The daemon is not to be kept busy with being asked.
  for (;;) {
    const pending = (await readMetrics(url))('holdpoint_deferrals_pending');
    if (pending >= count) return;
    if (performance.now() > until) throw new Error(`${pending} of ${count} calls wait`);
    await pause(50);
  }
}

function endOf(text: string, mark: string): number {
  const at = text.lastIndexOf(mark);
  return at < 0 ? 0 : at + mark.length;
}

function many(count: number): string {
  return count.toLocaleString('en');
}
