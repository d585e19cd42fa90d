import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Log } from '../../src/actors/ports/log.ts';
import { writeAgent } from './agent-on-paper.ts';
import { openUnderTest } from './open-under-test.ts';
import { RunningAgent } from './running-agent.ts';
import { ScriptPlans } from './script-plans.ts';
import { sequentialIds } from './sequential-ids.ts';
import { SimulatedTime } from './simulated-time.ts';
import { standInTools } from './stand-in-tools.ts';
import { standInsOf } from './stand-ins.ts';
import type { LogLine, TestAgent, TestAgentOptions, ToolRun } from './test-agent.ts';

const usualStart = Date.UTC(2026, 0, 1, 9);

/**
 * Starts an agent for a test; `await using` stops it and removes its files. Rejects with UnusableAgentError if its
 * configuration does not allow a start, and with RangeError for a stand-in without a matching tool.
 */
export async function startTestAgent(options: TestAgentOptions): Promise<TestAgent> {
  const home = mkdtempSync(join(tmpdir(), 'holdpoint-test-agent-'));
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  try {
    return await startIn(home, options, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

async function startIn(
  home: string,
  options: TestAgentOptions,
  remove: () => void,
): Promise<TestAgent> {
  const { tools = {}, similarity = () => 1, env = {}, now = usualStart } = options;
  const time = new SimulatedTime(now);
  const { clock, every } = time;
  const ids = sequentialIds(clock);
  const plans = new ScriptPlans();
  const runs: ToolRun[] = [];
  const log = logOf(options);
  const { folder, text } = filesOf(join(home, 'agent'), options);
  const open = () =>
    openUnderTest({
      folder,
      text,
      state: join(home, 'state'),
      env,
      clock,
      ids,
      log,
      toolsFor: (known) => standInTools(known, tools, (run) => runs.push(run)),
      standIns: (config) => {
        const { name, script } = config.model;
        const model = plans.model(name, options.script ?? script);
        return standInsOf({ config, model, similarity, every, log });
      },
    });
  return new RunningAgent(await open(), { open, time, ids, plans, runs, remove });
}

/**
 * Returns the agent's folder, which is generated in `paper` if there is none, and the replacement of its
 * `service.yaml`.
 */
function filesOf(
  paper: string,
  { folder, settings, tools = {} }: TestAgentOptions,
): { folder: string; text: string | undefined } {
  if (folder === undefined) {
    writeAgent(paper, settings ?? {}, tools);
    return { folder: paper, text: undefined };
  }
  const directory = resolve(folder);
  if (settings === undefined) return { folder: directory, text: undefined };
  const own: unknown = parse(readFileSync(join(directory, 'service.yaml'), 'utf8'));
  return { folder: directory, text: JSON.stringify({ ...(own as object), ...settings }) };
}

function logOf({ onLog = () => undefined }: TestAgentOptions): Log {
  const at = (level: LogLine['level']) => (fields: object, message: string) =>
    onLog({ level, message, fields });
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
