import { join, resolve } from 'node:path';
import { configuredVerifiers, createAuthenticator } from '../actors/access/access.ts';
import { CardPublisher } from '../actors/card/card.ts';
import { hearsPeople } from '../actors/channels/channels.ts';
import type { ConfigProblem } from '../actors/config/config.ts';
import { PushNotifications } from '../actors/outbound/outbound.ts';
import type { Authenticator, EgressRecord, Log, Outbound, RateLimits } from '../actors/ports.ts';
import {
  agentProof,
  challengePattern,
  randomToken,
  removeServeFile,
  sweepRunFolders,
  writeRuntimeToken,
  writeServeFile,
} from '../actors/process/process.ts';
import { damagedStore, isDamage } from '../actors/records/records.ts';
import type { TaskSystem } from '../actors/tasks/tasks.ts';
import { watchClock } from '../actors/watch-clock.ts';
import { writePush } from '../http/a2a/push-writer.ts';
import { urlOf } from '../machines/url-of.ts';
import { namedUrl } from '../named-url.ts';
import { version } from '../version.ts';
import { cardBasis } from './card-basis.ts';
import { checkFileAccess } from './check-file-access.ts';
import { createSystem } from './create-system.ts';
import { type KeptChannels, keepChannels } from './keep-channels.ts';
import { lockFiles } from './lock-files.ts';
import { openEgress } from './open-egress.ts';
import { openInspector } from './open-inspector.ts';
import { openMcp } from './open-mcp.ts';
import { openRecords } from './open-records.ts';
import { openTogether } from './open-together.ts';
import { readStart, type Start } from './read-start.ts';
import { serveAgent } from './serve-agent.ts';
import { watchPolicy } from './watch-policy.ts';

export { ConfigError } from './read-start.ts';

export interface AgentOptions {
  directory: string;
  host: string;
  /** `null` selects 8080, one of the next ten ports, or any free port. */
  port: number | null;
  /** Turns authentication off. Rejected unless the host is a loopback address. */
  noAuth: boolean;
  /** Port of the inspector's stream; `null` turns the inspector off. */
  inspectPort: number | null;
  /** If true, starts with a store older than its log: the log is kept, and the tasks that it names are ended. */
  keepLog?: boolean;
  /** Call limits from the command line. Missing limits come from variables and `service.yaml`. */
  rateLimit?: Partial<RateLimits>;
  /** Prints a line on the daemon's console, for example a held call; lines are dropped when absent. */
  console?: (line: string) => void;
  /** The command-line flags of this start, reused for a restart. */
  flags?: readonly string[];
  /**
   * If true, applies the agent's egress policy to every fetch in this process. Only for a process dedicated to the
   * agent.
   */
  ownsProcess?: boolean;
  env: NodeJS.ProcessEnv;
  /** Decrypts the agent's secrets file, if there is one. */
  passphrase?: string | null;
  log: Log;
}

/** A running agent that accepts requests. */
export interface Agent {
  id: string;
  url: string;
  /** URL of the inspector's stream. The URL is a secret; `null` if the inspector is off. */
  inspectorUrl: string | null;
  warnings: ConfigProblem[];
  /** The daemon's own token. */
  token: string;
  auditPath: string;
  /**
   * Returns the number of calls waiting for a decision and whether the store is writable. Throws if the store cannot be
   * read.
   */
  health(): Promise<{ deferred: number; isWritable: boolean }>;
  /** Releases held requests, gives running tasks a few seconds to finish, and closes the agent. */
  stop(): Promise<void>;
}

/** Milliseconds that running tasks have to finish when the daemon stops. */
const drainGrace = 5_000;

/**
 * Starts an agent from its folder and returns once it accepts requests. Throws ConfigError, StartError, ListenError,
 * StoreError, SecretsError, ForeignFileError, DirectoryLockedError or FileLockedError.
 */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  // Later steps do not need the passphrase.
  const start = { ...options, passphrase: null, ...(await readStart(options)) };
  const { directory, config, log } = start;
  checkFileAccess(directory, config, log);
  void sweepRunFolders();
  try {
    const agent = await openTogether((stack) => openAgent(stack, start));
    return { ...agent, stop: async () => agent[Symbol.asyncDispose]() };
  } catch (error) {
    throw isDamage(error) ? damagedStore(resolve(directory, config.store.path), error) : error;
  }
}

/**
 * Opens an agent step by step. The stack closes the opened parts in reverse order when a later step fails or the agent
 * stops.
 */
async function openAgent(
  stack: AsyncDisposableStack,
  start: AgentOptions & Start,
): Promise<Omit<Agent, 'stop'>> {
  const { config, directory, host, isAuthOn, log } = start;
  const stateFolder = join(directory, '.service');
  lockFiles(stack, directory, config);
  const inspector = stack.adopt(await openInspector(start), (opened) => opened?.stop());

  // No hop occurs before `system` exists.
  const record = (hop: EgressRecord): void => system.egress.record(hop);
  const admissionUrl = start.admission?.url ?? null;
  const outbound = stack.use(await openEgress({ ...start, admissionUrl, record }));
  const { egress, isolation, deliver: fetch } = outbound;
  if (isolation !== null) start.scripts.open(isolation);
  if (start.ownsProcess === true) stack.defer(egress.guardProcess());
  if (inspector !== null) egress.listensAt(inspector.listening);

  const sandbox = isolation?.sandbox ?? null;
  const keepLog = start.keepLog ?? false;
  const audit = stack.use(await openRecords({ ...start, fetch, sandbox, keepLog }));
  const { clock } = audit;
  const system: TaskSystem = stack.adopt(
    createSystem({ ...start, clock, egress, audit, inspect: inspector?.inspect }),
    (opened) => opened.stop(),
  );
  const push = stack.adopt(
    new PushNotifications({
      rows: audit.store.push,
      find: (id) => system.reads.find(id),
      isShared: audit.shared !== null,
      write: (task, version) => writePush(task, version, start.config.server.a2a_answer),
      egress,
      clock,
      log,
    }),
    (opened) => opened.stop(),
  );
  await audit.recordStart();
  const { record: recordEvent } = audit;
  const mcp = stack.adopt(
    await openMcp({ ...start, clock, egress, record: recordEvent }),
    (opened) => opened.stop(),
  );
  stack.defer(watchClock({ clock: start.clock, record: audit.record, log }));

  const card = stack.adopt(
    new CardPublisher({ clock, record: (event) => audit.record(event) }),
    (published) => published.stop(),
  );
  const runtime = writeRuntimeToken(stateFolder);
  // The token can act on behalf of other people, so it is never written to disk.
  const chatToken = hearsPeople(start.channels) ? randomToken() : null;
  const proofKey = randomToken();
  // The channels need the address, and the metrics read the channels.
  let connected: KeptChannels | null = null;
  const { port } = stack.use(
    await serveAgent({
      ...start,
      clock,
      system,
      push,
      audit,
      egress,
      mcp,
      card,
      authenticator: await authenticatorOf(start, egress, {
        runtimeToken: runtime.token,
        chatToken,
      }),
      prove: (challenge, at) =>
        challengePattern.test(challenge) ? agentProof(proofKey, challenge, at) : null,
      channels: async () => (await connected?.status()) ?? [],
    }),
  );
  stack.defer(() => removeServeFile(stateFolder, process.pid));
  const url = urlOf(host, port);
  const publicUrl = namedUrl({ host, port, publicUrl: config.server.public_url, log });
  const channels = stack.adopt(
    await keepChannels({
      config,
      settings: start.channels,
      clock,
      log,
      console: start.console,
      system,
      store: audit.store,
      egress,
      publicUrl,
      push,
      shared: audit.shared,
      surface: { url, token: chatToken },
    }),
    (opened) => opened.stop(),
  );
  connected = channels;

  const basis = {
    ...cardBasis(start, publicUrl),
    seen: watchPolicy({ inForce: start.policySha256, record: (event) => audit.record(event), log }),
  };
  const startedWith = { config, skills: start.toolbox.skills, readAt: start.readAt };
  await card.start(basis, startedWith);
  // A task resumed after a restart may call tools of MCP servers.
  await mcp.tried();
  // From here on the server answers requests, with 503 `starting` until recovery has finished.
  await system.start();
  channels.start();
  if (audit.store.damage !== null) throw audit.store.damage;
  writeServeFile(stateFolder, {
    pid: process.pid,
    port,
    host,
    auth_enabled: isAuthOn,
    token_path: runtime.path,
    started_at: new Date().toISOString(),
    version,
    policy_sha256: start.policySha256,
    proof_key: proofKey,
    ...(inspector === null ? {} : { inspector_port: inspector.listening.port }),
    ...(config.store.kind === 'postgres' ? { is_shared: true } : {}),
    ...(start.flags === undefined ? {} : { flags: [...start.flags] }),
  });
  stack.defer(() => system.drain(drainGrace));
  stack.defer(() => channels.stopListening());
  card.watch(basis, startedWith);
  return {
    id: config.agent_id,
    url,
    inspectorUrl: inspector?.url ?? null,
    warnings: start.warnings,
    token: runtime.token,
    auditPath: audit.path,
    health: async () => ({
      deferred: (await system.metrics.load()).deferred,
      isWritable: audit.store.isWritable(),
    }),
  };
}

/**
 * Creates the authenticator from the daemon's own tokens and, if callers must authenticate, the configured providers.
 */
async function authenticatorOf(
  { config, env, log, isAuthOn }: AgentOptions & Start,
  outbound: Outbound,
  tokens: { runtimeToken: string; chatToken: string | null },
): Promise<Authenticator> {
  const { auth, security } = config;
  const bindsApprover = security.defer.bind_approver;
  return createAuthenticator({
    ...tokens,
    tokens: isAuthOn
      ? await configuredVerifiers(auth.providers, { env, log, outbound, bindsApprover })
      : [],
    isOptional: !isAuthOn,
  });
}
