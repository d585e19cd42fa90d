import { join } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { largestSettingsFile, readRegularFile } from '../../actors/read-regular-file.ts';
import { silentLog } from '../../actors/silent-log.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { resolveInside } from '../../actors/tools/tools.ts';
import { readAgent } from '../../agent/read-agent.ts';
import type { PolicyTestsJson } from '../../http/wire/dashboard/policy-edit-json.ts';
import { messageOf } from '../../machines/message-of.ts';
import { PolicyTableError, type TestRow, tableIn } from './policy-table.ts';
import { testRows } from './test-rows.ts';

const table = 'policy.test.yaml';

/** Maximum number of evaluated rows. */
const mostRows = 1_000;

/**
 * Evaluates an agent's `policy.test.yaml` under the given `service.yaml`, or the one in its folder. `null` if the agent
 * has no such file. Rejects with the reason of the signal.
 */
export async function testPolicy(
  { directory, env }: { directory: string; env: NodeJS.ProcessEnv },
  content: string | undefined,
  signal: AbortSignal,
): Promise<PolicyTestsJson | null> {
  const rows = await readRows(directory);
  if (rows === null) return null;
  if (typeof rows === 'string') return { rows: [], problem: rows };
  const clock = systemClock();
  const { agent, problems } = await readAgent(directory, env, clock, () => null, content);
  if (agent === null || problems.length > 0) {
    return { rows: [], problem: 'service.yaml has problems; fix them first' };
  }
  const results = await testRows(agent, rows, { env, clock, log: silentLog, signal });
  return {
    rows: results.map(({ name, place, differences }) => ({ name, place, differences })),
    problem: null,
  };
}

/** Returns the rows of the table, or the reason why it cannot be used; `null` if there is none. */
async function readRows(directory: string): Promise<TestRow[] | string | null> {
  const found = await resolveInside(directory, join(directory, table));
  if (found.kind === 'missing') return null;
  if (found.kind === 'outside') return `${table} lies outside of the agent's folder`;
  try {
    const text = readRegularFile(found.path, largestSettingsFile).toString('utf8');
    const rows = tableIn(text, table);
    if (rows.length <= mostRows) return rows;
    return `${table} has more than ${mostRows.toLocaleString('en')} rows; run ${commandLine('policy test')}`;
  } catch (error) {
    if (error instanceof PolicyTableError) return error.message;
    return `${table} cannot be read: ${messageOf(error)}`;
  }
}
