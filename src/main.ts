import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import type { InspectionEvent, Observer } from 'xstate';
import { Admission } from './actors/admission/admission.ts';
import { createAgentCapture } from './actors/agent/agent-capture.ts';
import { createGovernance } from './actors/agent/agent-governance.ts';
import { readAgent } from './actors/agent/read-agent.ts';
import { createAuthenticator } from './actors/auth/authenticator.ts';
import { configuredVerifiers } from './actors/auth/configured-verifiers.ts';
import { CardPublisher } from './actors/card/card.ts';
import { type Channels, type ChannelsReading, hearsPeople } from './actors/channels/channels.ts';
import { systemClock } from './actors/clock.ts';
import type { Problem, ServiceConfig } from './actors/config/config.ts';
import type { Egress } from './actors/egress/egress.ts';
import type { Guardrails } from './actors/guardrails/guardrails.ts';
import { randomIds } from './actors/ids.ts';
import { scriptedModel } from './actors/llm/scripted-model.ts';
import type {
  AuditEvent,
  Authenticator,
  CardSource,
  Clock,
  EgressRecord,
  Ids,
  Log,
  RateLimits,
} from './actors/ports.ts';
import { agentProof, challengePattern } from './actors/process/agent-proof.ts';
import { sweepRunFolders } from './actors/process/run-folder.ts';
import {
  keptInspectorToken,
  randomToken,
  removeServeFile,
  writeRuntimeToken,
  writeServeFile,
} from './actors/process/serve-file.ts';
import { PushNotifications } from './actors/push/push-notifications.ts';
import { lockDirectory } from './actors/storage/directory-lock.ts';
import { lockFile } from './actors/storage/file-lock.ts';
import { damagedStore, isDamage } from './actors/storage/store-error.ts';
import { TaskSystem } from './actors/system.ts';
import { ScriptGate, type Toolbox } from './actors/tools/tools.ts';
import { watchClock } from './actors/watch-clock.ts';
import { cardBasis } from './card-basis.ts';
import { checkMachine } from './check-machine.ts';
import { connectChannels } from './connect-channels.ts';
import { writePush } from './http/a2a/push-writer.ts';
import { createApp } from './http/app.ts';
import { AuthLog } from './http/auth-log.ts';
import { listen } from './http/listen.ts';
import { namedUrl, urlOf } from './named-url.ts';
import { type OpenLog, openLog } from './open-log.ts';
import { openWayOut } from './open-way-out.ts';
import { type Door, readDoor } from './read-door.ts';
import { takeBack } from './take-back.ts';
import { version } from './version.ts';

/** How an agent is started. */
export interface AgentOptions {
  /** The agent's folder. */
  directory: string;
  host: string;
  /** `null` takes 8080 or one of the ten ports after it. */
  port: number | null;
  /** Switches authentication off; refused unless the host is a loopback address. */
  noAuth: boolean;
  /** Port of the inspector's page and stream; `null` leaves it off. */
  inspectPort: number | null;
  /** True goes on with a store that is older than its log: the log is kept, and the tasks it names are ended. */
  keepLog?: boolean;
  /** Limits of calls named on the command line; the others come from variables and `service.yaml`. */
  rateLimit?: Partial<RateLimits>;
  /** Puts a line on the console of the daemon, such as what waits for a release; nobody reads it when absent. */
  console?: (line: string) => void;
  /** True puts every fetch of this process under the agent's egress policy, for a process that is the agent's alone. */
  ownsProcess?: boolean;
  env: NodeJS.ProcessEnv;
  log: Log;
}

/** An agent that runs and answers. */
export interface Agent {
  id: string;
  url: string;
  /** The page on which the live system can be watched, a secret; `null` while the inspector is off. */
  inspectorUrl: string | null;
  warnings: Problem[];
  /** The daemon's own token. */
  token: string;
  auditPath: string;
  /** How many calls wait for a decision, and whether the store takes what happens. Throws when it cannot be read. */
  health(): { deferred: number; isWritable: boolean };
  /** Lets held requests go, gives tasks at work some seconds to end, and closes everything. */
  stop(): Promise<void>;
}

/** The agent cannot be started as it is configured; each problem says where and what to do. */
export class ConfigError extends Error {
  readonly code = 'config_invalid';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`${problems.length} problem${problems.length === 1 ? '' : 's'} in the configuration`);
    this.problems = problems;
  }
}

const defaultPort = 8080;

/** Milliseconds that tasks at work are given to end when the daemon stops. */
const drainGrace = 5_000;

/**
 * Starts an agent from its folder and returns once it answers. Throws ConfigError, StartError,
 * ListenError, StoreError, ForeignFileError, DirectoryLockedError or FileLockedError.
 */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const directory = resolve(options.directory);
  const clock = systemClock();
  const scripts = new ScriptGate();
  const readAt = Date.now();
  const { problems, warnings, agent } = await readAgent(directory, options.env, clock, () =>
    scripts.isolation(),
  );
  if (agent === null || problems.length > 0) throw new ConfigError(problems);
  const door = readDoor(agent.config, options);
  checkMachine(directory, agent.config, options.log);
  void sweepRunFolders();
  const lock = lockDirectory(join(directory, '.service'));
  const undo: (() => unknown)[] = [() => lock.release()];
  try {
    for (const file of lockFiles(directory, agent.config)) undo.push(() => file.release());
    return await assemble(
      { ...options, directory },
      { ...agent, warnings, clock, door, undo, scripts, readAt },
    );
  } catch (error) {
    // Why it could not start says more than what could not be taken back.
    await takeBack(undo).catch(() => undefined);
    throw isDamage(error)
      ? damagedStore(resolve(directory, agent.config.store.path), error)
      : error;
  }
}

/** Keeps every other daemon off the files of this one, in whatever folder it is and by whatever path. */
function* lockFiles(directory: string, { agent_id, store, audit }: ServiceConfig) {
  const holder = `agent ${agent_id} in ${directory}`;
  for (const [key, path] of [
    ['store.path', store.path],
    ['audit.path', audit.path],
  ] as const) {
    const hint = `stop it first, or set ${key} to another file`;
    yield lockFile(resolve(directory, path), holder, hint);
  }
}

interface Parts {
  config: ServiceConfig;
  toolbox: Toolbox;
  guardrails: Guardrails | null;
  warnings: Problem[];
  clock: Clock;
  door: Door;
  channels: ChannelsReading;
  writable: readonly string[];
  scripts: ScriptGate;
  /** Epoch milliseconds of the wall clock at which reading the agent's files began. */
  readAt: number;
  /** What to take back, in reverse order, when a later step fails or the agent stops. */
  undo: (() => unknown)[];
}

async function assemble(options: AgentOptions, parts: Parts): Promise<Agent> {
  const { config, undo, warnings } = parts;
  const { isAuthOn } = parts.door;
  const ids = randomIds();
  const inspector = await inspectorOn(options);
  undo.push(() => inspector?.stop());
  const opened = await openSystem(options, parts, ids, inspector?.inspect);
  const { system, audit, egress } = opened;
  if (inspector !== null) egress.listensAt(inspector.listening);
  const stateFolder = join(options.directory, '.service');
  const runtime = writeRuntimeToken(stateFolder);
  // It may speak for others, so it is in memory alone.
  const chatToken = hearsPeople(parts.channels) ? randomToken() : null;
  const authenticator = createAuthenticator({
    runtimeToken: runtime.token,
    chatToken,
    tokens: isAuthOn
      ? configuredVerifiers(config.auth.providers, {
          env: options.env,
          log: options.log,
          outbound: egress,
          bindsApprover: config.security.defer.bind_approver,
        })
      : [],
    isOptional: !isAuthOn,
  });
  const card = new CardPublisher({
    clock: parts.clock,
    record: (event) => audit.record(event),
  });
  undo.push(() => card.stop());
  const proofKey = randomToken();
  const prove = (challenge: string, at: number): string | null =>
    challengePattern.test(challenge) ? agentProof(proofKey, challenge, at) : null;
  const answering: Answering = { authenticator, ids, card, prove, channels: null };
  const port = await serve(options, parts, opened, answering);
  const url = urlOf(options.host, port);
  const { log } = options;
  const publicUrl = namedUrl({ ...options, port, publicUrl: config.server.public_url });
  const basis = cardBasis(options, parts, publicUrl);
  const startedWith = { config, skills: parts.toolbox.skills, readAt: parts.readAt };
  const channels = await connectChannels({
    ...{ config, settings: parts.channels, clock: parts.clock, undo },
    ...{ system, store: audit.store, egress },
    surface: { url, token: chatToken },
    publicUrl,
    console: options.console,
    log,
  });
  answering.channels = channels;
  await card.start(basis, startedWith);
  // It answers from here on, and says that it is starting until what a restart interrupted is dealt with.
  await system.start();
  opened.push.start();
  channels.start();
  if (audit.store.damage !== null) throw audit.store.damage;
  writeServeFile(stateFolder, {
    pid: process.pid,
    port,
    host: options.host,
    auth_enabled: isAuthOn,
    token_path: runtime.path,
    started_at: new Date().toISOString(),
    version,
    proof_key: proofKey,
  });
  undo.push(
    () => removeServeFile(stateFolder, process.pid),
    () => channels.stop(),
    () => system.drain(drainGrace),
    () => channels.stopListening(),
  );
  card.watch(basis, startedWith);
  return {
    id: config.agent_id,
    url,
    inspectorUrl: inspector?.url ?? null,
    warnings,
    token: runtime.token,
    auditPath: audit.path,
    health: () => ({ deferred: system.load().deferred, isWritable: audit.store.isWritable() }),
    stop: () => takeBack(undo),
  };
}

interface Opened {
  system: TaskSystem;
  audit: OpenLog;
  egress: Egress;
  push: PushNotifications;
}

async function openSystem(
  { directory, env, log, ownsProcess = false, keepLog = false }: AgentOptions,
  parts: Parts,
  ids: Ids,
  inspect: Observer<InspectionEvent> | undefined,
): Promise<Opened> {
  const { config, toolbox, clock, undo } = parts;
  const outside = { ...parts, directory, env, log };
  const admissionUrl = parts.door.admission?.url ?? null;
  // Nothing goes out before there is a system to hear of it.
  const record = (hop: EgressRecord): void => system.noteEgress(hop);
  const { isAuthOn } = parts.door;
  const way = await openWayOut({ ...outside, admissionUrl, isAuthOn, record });
  const { egress, isolation, deliver } = way;
  if (isolation !== null) parts.scripts.open(isolation);
  if (ownsProcess) undo.push(egress.guardProcess());
  const sandbox = isolation?.sandbox ?? null;
  const audit = await openLog({ ...outside, fetch: deliver, sandbox, keepLog });
  const { tools, skills } = toolbox;
  const system: TaskSystem = new TaskSystem({
    store: audit.store,
    model: scriptedModel(config.model.name, config.model.script),
    ...createGovernance({ ...outside, isAuthOn: parts.door.isAuthOn, tools, outbound: egress }),
    tools,
    clock,
    ids,
    log,
    egress,
    envelope: audit.entity,
    capture: createAgentCapture({ config, skills, directory, env }),
    restAfter: 3_000,
    release: version,
    onRestart: config.security.defer.on_restart,
    retention: config.store.retention,
    ...(inspect === undefined ? {} : { inspect }),
  });
  undo.push(() => system.stop());
  const push = new PushNotifications({
    rows: audit.store.push,
    find: (id) => system.find(id),
    write: writePush,
    egress,
    clock,
    log,
  });
  system.onChanged((task) => push.changed(task));
  undo.push(() => push.stop());
  await audit.recordStart();
  undo.push(watchClock({ clock, record: audit.record, log }));
  return { system, audit, egress, push };
}

/** What answers requests beside the tasks. */
interface Answering {
  authenticator: Authenticator;
  ids: Ids;
  card: CardSource;
  /** Answers a challenge that came in at a port. */
  prove: (challenge: string, port: number) => string | null;
  /** `null` until the agent knows its address. */
  channels: Channels | null;
}

async function serve(
  { host, port, log }: AgentOptions,
  { config, clock, door: { limits, admission: settings }, undo }: Parts,
  { system, push, audit, egress: outbound }: Opened,
  answering: Answering,
): Promise<number> {
  const { store, keys, sinks, entity } = audit;
  const { agent_id: agentId } = config;
  const admission = settings && new Admission({ settings, agentId, clock, log, outbound });
  undo.push(() => admission?.stop());
  const { authenticator, ids, card, prove } = answering;
  const record = (event: AuditEvent): Promise<void> => store.record([event]);
  const authLog = new AuthLog({ clock, record });
  // After the last request, and while the log can still be written.
  undo.push(() => authLog.flush());
  const app = createApp({
    system,
    push,
    authenticator,
    authLog,
    ids,
    card,
    prove,
    clock,
    log,
    onDisconnect: config.security.defer.on_stream_disconnect,
    limits,
    origins: config.server.cors_origins,
    publicUrl: config.server.public_url,
    writeTimeout: config.server.write_timeout,
    holdHeartbeat: config.server.hold_heartbeat,
    taskAccess: config.server.task_access,
    a2aHold: config.server.a2a_hold,
    admission,
    record,
    entity,
    auditKeys: keys.published,
    auditLag: () => store.unsynced,
    auditSinks: () => sinks.stats(),
    channels: () => answering.channels?.status() ?? [],
  });
  const server = await listen(app, {
    host,
    port: port ?? defaultPort,
    isFixed: port !== null,
    ids,
    trustedProxies: limits.trustedProxies,
  });
  undo.push(() => closeServer(server));
  const listening = server.address() as AddressInfo;
  outbound.listensAt(listening);
  return listening.port;
}

/** Loads the inspector only when it is asked for. */
async function inspectorOn({ inspectPort, log, directory }: AgentOptions) {
  if (inspectPort === null) return null;
  const [{ startInspector }, { readInspectorPage }] = await Promise.all([
    import('./actors/telemetry/inspector.ts'),
    import('./inspector-page.ts'),
  ]);
  const token = keptInspectorToken(join(directory, '.service'));
  return startInspector({ port: inspectPort, token, page: readInspectorPage(), log });
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  server.closeIdleConnections();
  const cutOff = setTimeout(() => server.closeAllConnections(), 1_000);
  await closed;
  clearTimeout(cutOff);
}
