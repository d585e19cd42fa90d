import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startDaemon } from './daemon.ts';
import { type Figure, spread } from './figure.ts';
import { paced, percentile } from './load.ts';
import { ModernCalls } from './modern-calls.ts';
import { startProgram } from './program.ts';

const service = (url: string) => `agent_id: bench
gate: {}
mcp: {servers: [{name: till, url: "${url}", tools: {allow: [look]}}]}
server:
  mcp: true
  rate_limit: {read_rps: 1000000, read_burst: 1000000, write_rps: 1000000, write_burst: 1000000}
`;

/** The calls of each round. */
const pace = { callers: 100, jobs: 5, every: 2_000 };

/** Starts a gateway whose calls of the one tool are allowed. */
export async function openGateway(connections = 32) {
  const server = await startProgram('tool-server.ts');
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  writeFileSync(join(directory, 'service.yaml'), service(server.url));
  const daemon = await startDaemon(directory);
  const calls = new ModernCalls(`${daemon.url}/mcp`, connections);
  await until(() => calls.call('till__look', {}).then(isSeen));
  return {
    server: server.url,
    pid: daemon.pid,
    call: async (): Promise<void> => void (await calls.call('till__look', {})),
    async close() {
      await calls.close();
      await daemon.stop();
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What a gateway adds to a call of an MCP server, measured in turns with calls to the server itself. */
export async function gatewayFigures(): Promise<Figure[]> {
  const gateway = await openGateway(pace.callers);
  const direct = new ModernCalls(gateway.server, pace.callers);
  try {
    const times = { gateway: [] as number[], direct: [] as number[] };
    await paced(pace, gateway.call);
    for (let round = 0; round < 3; round += 1) {
      times.direct.push(...(await paced(pace, () => direct.call('look', {}))));
      times.gateway.push(...(await paced(pace, gateway.call)));
    }
    const added = (share: number) =>
      (percentile(times.gateway, share) - percentile(times.direct, share)).toFixed(1);
    const rate = (pace.callers * 1_000) / pace.every;
    const what = `a call of one of ${pace.callers} MCP clients, ${rate} calls/s in all`;
    return [
      { what: `${what}: to the server itself`, measured: spread(times.direct), aim: '' },
      { what: `${what}: through the gateway`, measured: spread(times.gateway), aim: '' },
      {
        what: 'the gateway adds',
        measured: `p50 ${added(0.5)} ms, p99 ${added(0.99)} ms`,
        aim: 'p50 3 ms, p99 15 ms',
      },
    ];
  } finally {
    await direct.close();
    await gateway.close();
  }
}

function isSeen({ content }: { content?: { text?: string }[] }): boolean {
  return content?.[0]?.text === 'seen';
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(50);
}
