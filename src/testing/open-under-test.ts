import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatProblem, type ServiceConfig } from '../actors/config/config.ts';
import { createEgress } from '../actors/outbound/outbound.ts';
import type { Clock, Ids, Log, Tool } from '../actors/ports.ts';
import { writeRuntimeToken } from '../actors/process/process.ts';
import type { TaskSystem } from '../actors/tasks/tasks.ts';
import { createSystem, type StandIns } from '../agent/create-system.ts';
import { namedTools } from '../agent/named-tools.ts';
import { type AgentRecords, openRecords } from '../agent/open-records.ts';
import { openTogether } from '../agent/open-together.ts';
import { readAccess } from '../agent/read-access.ts';
import { readAgent } from '../agent/read-agent.ts';
import { keysOfUnaskedModels } from './unasked-models.ts';
import { UnusableAgentError } from './unusable-agent-error.ts';

/** What an agent under test is opened from. */
export interface UnderTestParts {
  /** The agent's folder, which is read alone. */
  folder: string;
  /** What stands for its `service.yaml`; that of the folder when `undefined`. */
  text: string | undefined;
  /** Where it keeps its store and its log. */
  state: string;
  env: Record<string, string>;
  clock: Clock;
  ids: Ids;
  log: Log;
  standIns: (config: ServiceConfig) => StandIns;
  /** What stands for its tools. */
  toolsFor: (tools: ReadonlyMap<string, Tool>) => Map<string, Tool>;
}

/** An agent that works, and whose callers come in past its surface. */
export interface UnderTest {
  system: TaskSystem;
  records: AgentRecords;
  config: ServiceConfig;
  /** True when every caller is known. */
  isAuthOn: boolean;
}

/** Opens an agent without its surface, its channels and its egress. Rejects with UnusableAgentError. */
export function openUnderTest(parts: UnderTestParts): Promise<UnderTest & AsyncDisposable> {
  return openTogether((stack) => openOn(stack, parts));
}

async function openOn(stack: AsyncDisposableStack, parts: UnderTestParts): Promise<UnderTest> {
  const { folder, state, clock, log, text } = parts;
  const env = { ...keysOfUnaskedModels(folder, text), ...parts.env };
  const reading = await readAgent(folder, env, clock, () => null, text);
  const { agent, problems } = reading;
  if (agent === null || problems.length > 0)
    throw new UnusableAgentError(problems.map(formatProblem));
  const config = keptHere(agent.config);
  const { isAuthOn } = readAccess(config, { host: '127.0.0.1', noAuth: false, env, log });
  const tools = parts.toolsFor(withUnseen(agent.toolbox.tools, config));
  const toolbox = { ...agent.toolbox, tools };
  const egress = stack.adopt(closedEgress(), (opened) => opened.close());
  const common = { ...agent, config, toolbox, env, clock, log, directory: state };
  mkdirSync(join(state, '.service'), { recursive: true });
  writeRuntimeToken(join(state, '.service'));
  const recording = { ...common, sandbox: null, keepLog: false, fetch: egress.fetch };
  const records = stack.use(await openRecords(recording));
  const standIns = parts.standIns(config);
  const system = stack.adopt(
    createSystem({
      ...{ ...common, isAuthOn, egress, audit: records, ids: parts.ids, standIns },
      ...{ secretValues: [], inspect: undefined },
    }),
    (opened) => opened.stop(),
  );
  await records.recordStart();
  await system.start();
  stack.defer(() => system.drain(0));
  return { system, records, config, isAuthOn };
}

/** Nothing of the agent's is written to, and nobody else gets a line of its log. */
function keptHere(config: ServiceConfig): ServiceConfig {
  const audit = { ...config.audit, path: '.service/audit.ndjson', sinks: [] };
  return {
    ...config,
    audit,
    store: { ...config.store, kind: 'sqlite', path: '.service/tasks.db' },
  };
}

/** Nothing of an agent under test reaches out; a defect that has something of it try is refused. */
function closedEgress() {
  return createEgress({
    mode: 'deny-all',
    ...{ allowedDomains: [], allowedPrivate: [], allowPrivateIps: false },
    ...{ allowedPrivateCidrs: [], propagateTo: [], endpoints: [] },
    record: () => undefined,
  });
}

/** The tools of MCP servers, which are not asked for, are those that the configuration names. */
function withUnseen(tools: ReadonlyMap<string, Tool>, config: ServiceConfig): Map<string, Tool> {
  const run = (): Promise<never> => Promise.reject(new Error('it is stood in for'));
  const unseen = namedTools(config, { tools: new Map() }, new Map());
  return new Map([
    ...unseen.map((name): [string, Tool] => [
      name,
      { name, description: '', parameters: {}, idempotent: false, run },
    ]),
    ...tools,
  ]);
}
