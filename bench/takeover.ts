import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../scripts/crash/cluster.ts';
import type { AgentProcess } from '../test/helpers/agent-process.ts';
import type { Figure } from './figure.ts';
import { percentile } from './load.ts';

/** Daemons that are killed, one after the other. */
const kills = 30;

const script = [{ tool: 'hold', args: { n: 1 } }, { say: 'got {result}' }];

/** From `kill -9` of a daemon with a task at work to the answer of another that has taken the task up. */
export async function takeoverFigures(): Promise<Figure[]> {
  const cluster = await Cluster.start({ store: 'postgres', onRestart: 'resume' });
  const times: number[] = [];
  for (let index = 0; index < kills; index += 1) {
    times.push(await takeover(cluster, index % 3, `t${index}`));
    await cluster.launch(index % 3);
  }
  await cluster.close();
  const [p50, p99] = [0.5, 0.99].map((share) => (percentile(times, share) / 1_000).toFixed(2));
  return [
    {
      what: `a daemon killed until another has taken its task up, ${kills} times`,
      measured: `p50 ${p50} s, p99 ${p99} s`,
      aim: '10 s',
    },
  ];
}

async function takeover(cluster: Cluster, index: number, id: string): Promise<number> {
  const agent = cluster.at(index) as AgentProcess;
  const held = cluster.folders[index]?.held.length ?? 0;
  agent.send(id, script).catch(() => undefined);
  while (cluster.folders[index]?.held.length === held) await pause(5);
  await cluster.kill(index);
  const began = performance.now();
  const [other] = cluster.alive as [AgentProcess];
  while ((await other.get(`/tasks/${id}`)).body.status?.state === 'working') await pause(5);
  return performance.now() - began;
}
