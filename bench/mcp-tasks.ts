import { setTimeout as rest } from 'node:timers/promises';
import { makeAgentFolder, readMetrics, startDaemon } from './daemon.ts';
import { type Figure, mebibytes, seconds } from './figure.ts';
import { Load, measure, percentile } from './load.ts';
import { ModernCalls } from './modern-calls.ts';

/** Callers at once. */
const atOnce = 64;

/** Milliseconds between two requests for the state of a task, as a daemon recommends for calls that wait for long. */
const pollEvery = 10_000;

/** What it costs to hold so many calls of clients that accept tasks, and when they have the result of an approval. */
export async function mcpTaskFigures(calls: number): Promise<Figure[]> {
  const limits = 'mcp: true';
  const more = `    max_pending_per_caller: ${calls + 1}\n`;
  const folder = makeAgentFolder({ server: limits, more });
  const daemon = await startDaemon(folder.directory);
  const client = new ModernCalls(`${daemon.url}/mcp`, atOnce);
  const deciding = new Load(daemon.url, atOnce);
  try {
    await deciding.echo();
    const ids: string[] = [];
    const began = performance.now();
    await measure(atOnce, calls, async (index) => {
      const { taskId, status } = await client.call('datetime_now', {}, `m${index}`);
      if (taskId === undefined) throw new Error(`call ${index} is ${status}, and no task`);
      ids[index] = taskId;
    });
    const parked = performance.now() - began;
    const pending = (await readMetrics(daemon.url))('holdpoint_deferrals_pending');
    const { resident } = await daemon.memory();
    const approvedAt: number[] = [];
    const waits: number[] = [];
    const answers = new Map<string, number>();
    const polling = ids.map((id, index) => poll(client, id, index, answers));
    const decided = performance.now();
    await measure(atOnce, calls, async (index) => {
      await deciding.approve(ids[index] ?? '');
      approvedAt[index] = performance.now();
    });
    const deciding10k = performance.now() - decided;
    await Promise.all(polling);
    for (const [index, id] of ids.entries()) {
      waits.push((answers.get(id) ?? Number.NaN) - (approvedAt[index] ?? 0));
    }
    const what = `${calls.toLocaleString('en')} MCP calls held as tasks`;
    const after = await daemon.memory();
    return [
      { what: `${what}: all are held after`, measured: seconds(parked), aim: '30 s' },
      { what: `${what}: counted as waiting`, measured: String(pending), aim: String(calls) },
      { what: `${what}: resident then`, measured: mebibytes(resident), aim: '500 MiB' },
      { what: `${what}: all are approved after`, measured: seconds(deciding10k), aim: '' },
      {
        what: `${what}: from an approval to its result at the client, asked for each 10 s`,
        measured: `p50 ${seconds(percentile(waits, 0.5))}, max ${seconds(Math.max(...waits))}; ${answers.size} results`,
        aim: `10 s; ${calls}`,
      },
      { what: `${what}: resident at the end`, measured: mebibytes(after.resident), aim: '500 MiB' },
    ];
  } finally {
    await Promise.all([client.close(), deciding.close()]);
    await daemon.stop();
    folder.remove();
  }
}

/** Requests the state of a task until it has ended; the requests of all tasks are spread evenly. */
async function poll(
  client: ModernCalls,
  id: string,
  index: number,
  answers: Map<string, number>,
): Promise<void> {
  await rest((index * 7_919) % pollEvery);
  for (;;) {
    const asked = performance.now();
    const { status } = await client.task(id);
    if (status === 'completed') return void answers.set(id, performance.now());
    await rest(Math.max(0, pollEvery - (performance.now() - asked)));
  }
}
