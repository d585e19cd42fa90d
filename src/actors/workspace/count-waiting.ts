import { join } from 'node:path';
import { readServeFile } from '../process/process.ts';
import { AgentLine } from './agent-line.ts';
import { connectTo, isOwnProcess } from './own-process.ts';

/** Milliseconds that the agent may take to answer. */
const patience = 2_000;

/** Counts the calls that wait in the agent of a folder; 0 when none runs, or when it does not answer. Never rejects. */
export async function countWaiting(directory: string): Promise<number> {
  const served = readServeFile(join(directory, '.service'));
  if (served === null || !(await isOwnProcess(directory, served))) return 0;
  const line = new AgentLine(connectTo(directory, served));
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
