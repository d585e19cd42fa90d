import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatProblem, type ServiceConfig } from '../../src/actors/config/config.ts';
import { createEgress } from '../../src/actors/outbound/outbound.ts';
import type { Clock } from '../../src/actors/ports/clock.ts';
import type { Ids } from '../../src/actors/ports/ids.ts';
import type { Log } from '../../src/actors/ports/log.ts';
import type { Tool } from '../../src/actors/ports/tool.ts';
import { writeRuntimeToken } from '../../src/actors/process/process.ts';
import type { TaskSystem } from '../../src/actors/tasks/tasks.ts';
import { namedTools } from '../../src/agent/policy/named-tools.ts';
import { createSystem, type StandIns } from '../../src/agent/start/create-system.ts';
import { type AgentRecords, openRecords } from '../../src/agent/start/open-records.ts';
import { openTogether } from '../../src/agent/start/open-together.ts';
import { readAccess } from '../../src/agent/start/read-access.ts';
import { readAgent } from '../../src/agent/start/read-agent.ts';
import { keysOfUnaskedModels } from './unasked-models.ts';
import { UnusableAgentError } from './unusable-agent-error.ts';

export interface UnderTestParts {
  /** The agent's folder; never written to. */
  folder: string;
  /** Replaces the contents of `service.yaml`; `undefined` uses the file in the folder. */
  text: string | undefined;
  /** Folder for the store and the log. */
  state: string;
  env: Record<string, string>;
  clock: Clock;
  ids: Ids;
  log: Log;
  standIns: (config: ServiceConfig) => StandIns;
  /** Returns the replacements of the tools. */
  toolsFor: (tools: ReadonlyMap<string, Tool>) => Map<string, Tool>;
}

/** A running agent that is called directly instead of over HTTP. */
export interface UnderTest {
  system: TaskSystem;
  records: AgentRecords;
  config: ServiceConfig;
  /** True if every caller is authenticated. */
  isAuthOn: boolean;
}

/** Opens an agent without HTTP server, channels and egress. Rejects with UnusableAgentError. */
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
  const { isAuthOn } = readAccess(config, {
    ...{ host: '127.0.0.1', noAuth: false, env, log },
    skills: agent.toolbox.skills,
  });
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
      ...common,
      isAuthOn,
      egress,
      audit: records,
      ids: parts.ids,
      standIns,
      secretValues: [],
      inspect: undefined,
    }),
    (opened) => opened.stop(),
  );
  await records.recordStart();
  await system.start();
  stack.defer(() => system.drain(0));
  return { system, records, config, isAuthOn };
}

/** The agent's own files are not written to, and no external sink receives its log. */
function keptHere(config: ServiceConfig): ServiceConfig {
  const audit = { ...config.audit, path: '.service/audit.ndjson', sinks: [] };
  return {
    ...config,
    audit,
    store: { ...config.store, kind: 'sqlite', path: '.service/tasks.db' },
  };
}

/** An agent under test makes no outbound requests. An unexpected attempt is rejected. */
function closedEgress() {
  return createEgress({
    mode: 'deny-all',
    allowedDomains: [],
    allowedPrivate: [],
    allowPrivateIps: false,
    allowedPrivateCidrs: [],
    propagateTo: [],
    endpoints: [],
    record: () => undefined,
  });
}

/** MCP servers are not connected; the tools that the configuration names stand in for their tools. */
function withUnseen(tools: ReadonlyMap<string, Tool>, config: ServiceConfig): Map<string, Tool> {
  const run = (): Promise<never> => Promise.reject(new Error('it has a stand-in'));
  const unseen = namedTools(config, { tools: new Map() }, new Map());
  return new Map([
    ...unseen.map((name): [string, Tool] => [
      name,
      { name, description: '', parameters: {}, idempotent: false, run },
    ]),
    ...tools,
  ]);
}
