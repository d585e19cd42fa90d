import { join } from 'node:path';
import { readServeFile } from '../process/process.ts';
import { systemClock } from '../system-clock.ts';
import { AgentLine } from './agent-line.ts';
import { connectTo, isOwnProcess } from './own-process.ts';

/** Timeout of the agent's response, in milliseconds. */
const patience = 2_000;

/** Counts the waiting calls of a folder's agent; 0 if it is not running or does not respond. Never rejects. */
export async function countWaiting(directory: string): Promise<number> {
  const served = readServeFile(join(directory, '.service'));
  if (served === null || !(await isOwnProcess(directory, served))) return 0;
  const clock = systemClock();
  const line = new AgentLine(connectTo(directory, served, clock), clock);
  try {
    const { body } = await line.json({ method: 'GET', path: '/deferrals?limit=1', patience });
    const { total } = Object(body) as { total?: unknown };
    return typeof total === 'number' ? total : 0;
  } catch {
    return 0;
  } finally {
    await line.close();
  }
}
