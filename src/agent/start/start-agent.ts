import { join, resolve } from 'node:path';
import {
  type AuthenticatorOptions,
  configuredVerifiers,
  createAuthenticator,
} from '../../actors/access/access.ts';
import { hearsPeople } from '../../actors/channels/channels.ts';
import { type ConfigProblem, formatProblem } from '../../actors/config/config.ts';
import type { Authenticator } from '../../actors/ports/authentication.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Outbound } from '../../actors/ports/egress.ts';
import type { RateLimits } from '../../actors/ports/rate-limits.ts';
import {
  agentProof,
  challengePattern,
  randomToken,
  removeServeFile,
  sweepRunFolders,
  writeRuntimeToken,
  writeServeFile,
} from '../../actors/process/process.ts';
import { damagedStore, isDamage } from '../../actors/records/records.ts';
import type { Inspector } from '../../actors/telemetry/telemetry.ts';
import type { PolicyReloaded } from '../../http/wire/policy-reload.ts';
import type { CallerReads } from '../../machines/governance/caller-reads.ts';
import { urlOf } from '../../machines/url-of.ts';
import { namedUrl } from '../../named-url.ts';
import { version } from '../../version.ts';
import { keepPolicy } from '../policy/kept-policies.ts';
import { policyText } from '../policy/policy-digest.ts';
import { PolicyReload, type PolicyStanding, type ReloadOutcome } from '../policy/policy-reload.ts';
import { bindsApprover } from '../policy/read-policy.ts';
import { cardBasis } from './card-basis.ts';
import { checkFileAccess } from './check-file-access.ts';
import { type KeptChannels, keepChannels } from './keep-channels.ts';
import { mcpResource } from './mcp-resource.ts';
import { type AgentParts, openParts, type PartsOptions } from './open-parts.ts';
import { openTogether } from './open-together.ts';
import { readStart, type Start } from './read-start.ts';
import { type ServingParts, serveAgent } from './serve-agent.ts';

export { ConfigError } from './read-start.ts';

export interface AgentOptions extends PartsOptions {
  directory: string;
  host: string;
  /** `null` selects 8080, one of the next ten ports, or any free port. */
  port: number | null;
  /** Turns authentication off. Rejected unless the host is a loopback address. */
  noAuth: boolean;
  /** Call limits from the command line. Missing limits come from variables and `service.yaml`. */
  rateLimit?: Partial<RateLimits>;
  /** Prints a line on the daemon's console, for example a held call; lines are dropped when absent. */
  console?: (line: string) => void;
  /** The command-line flags of this start, reused for a restart. */
  flags?: readonly string[];
  /** True if the daemon writes its log to a file of its own, as in the background. */
  isInBackground?: boolean;
  env: NodeJS.ProcessEnv;
  /** Decrypts the agent's secrets file, if there is one. */
  passphrase?: string | null;
  /** The clock of this machine when absent. */
  clock?: Clock;
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

async function openAgent(
  stack: AsyncDisposableStack,
  start: AgentOptions & Start,
): Promise<Omit<Agent, 'stop'>> {
  const { config } = start;
  const parts = await openParts(stack, start);
  const { inspector, audit, policies, system, mcp, card } = parts;
  const announcing = { announce: (_: PolicyStanding): void => undefined };
  const reload = new PolicyReload({
    ...start,
    ...policies,
    sandbox: parts.sandbox,
    record: (event) => audit.record(event),
    announce: (standing) => announcing.announce(standing),
  });
  const reloadPolicy = async () => presentOutcome(await reload.reload());
  const policyFigures = () => reload.figures;
  const serving = await serve(stack, { ...start, reloadPolicy, policyFigures }, parts);
  const { channels, runtime, url, publicUrl } = serving;

  const basis = { ...cardBasis(start, publicUrl), seen: () => reload.lookAgain() };
  const startedWith = { config, skills: start.toolbox.skills, readAt: start.readAt };
  await card.start(basis, startedWith);
  // A task resumed after a restart may call tools of MCP servers.
  await mcp.tried();
  // From here on the server answers requests, with 503 `starting` until recovery has finished.
  await system.start();
  channels.start();
  if (audit.store.damage !== null) throw audit.store.damage;
  announcing.announce = announcer(start, serving, inspector);
  const { sha256, security } = policies.policies.current;
  announcing.announce({ sha256, reload: security.policy.reload });
  keepPolicy(start.directory, sha256, policyText(config, start.toolbox.skills));
  stack.defer(() => system.drain(drainGrace));
  stack.defer(() => channels.stopListening());
  card.watch(basis, startedWith);
  stack.defer(() => reload.stop());
  reload.watch();
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

/** An agent that listens, and the addresses and secrets that it has since then. */
interface Serving {
  port: number;
  url: string;
  publicUrl: string;
  channels: KeptChannels;
  runtime: { token: string; path: string };
  proofKey: string;
}

/** Serves the agent, and then opens its channels, which need its address. */
async function serve(
  stack: AsyncDisposableStack,
  start: AgentOptions & Start & Pick<ServingParts, 'policyFigures' | 'reloadPolicy'>,
  parts: AgentParts,
): Promise<Serving> {
  const { config, host, log } = start;
  const { egress, audit, system, push } = parts;
  const { clock } = audit;
  const runtime = writeRuntimeToken(stateFolder(start));
  // The token can act on behalf of other people, so it is never written to disk.
  const chatToken = hearsPeople(start.channels) ? randomToken() : null;
  const proofKey = randomToken();
  const channels = keepChannels({
    config,
    settings: start.channels,
    clock,
    log,
    console: start.console,
    system,
    store: audit.store,
    egress,
    push,
    shared: audit.shared,
  });
  const { metricsToken } = start;
  const tokens = { runtimeToken: runtime.token, chatToken, metricsToken };
  const { port } = stack.use(
    await serveAgent({
      ...start,
      ...parts,
      clock,
      authenticator: await authenticatorOf(start, egress, {
        ...tokens,
        reads: () => parts.policies.policies.current.policy.callerReads,
      }),
      prove: (challenge, at) =>
        challengePattern.test(challenge) ? agentProof(proofKey, challenge, at) : null,
      channels: () => channels.status(),
    }),
  );
  stack.defer(() => removeServeFile(stateFolder(start), process.pid));
  const url = urlOf(host, port);
  const publicUrl = namedUrl({ host, port, publicUrl: config.server.public_url, log });
  stack.defer(() => channels.stop());
  await channels.open({ publicUrl, surface: { url, token: chatToken } });
  return { port, url, publicUrl, channels, runtime, proofKey };
}

/** Returns a function that writes the file by which other programs find the running agent, with its policy. */
function announcer(
  start: AgentOptions & Start,
  { port, runtime, proofKey }: Serving,
  inspector: Inspector | null,
): (standing: PolicyStanding) => void {
  const serving = {
    pid: process.pid,
    port,
    host: start.host,
    auth_enabled: start.isAuthOn,
    token_path: runtime.path,
    started_at: new Date().toISOString(),
    version,
    proof_key: proofKey,
    ...(inspector === null ? {} : { inspector_port: inspector.listening.port }),
    ...(start.config.store.kind === 'postgres' ? { is_shared: true as const } : {}),
    ...(start.isInBackground === true ? { in_background: true as const } : {}),
    ...(start.flags === undefined ? {} : { flags: [...start.flags] }),
  };
  return ({ sha256, reload, problem, needsRestart }) =>
    writeServeFile(stateFolder(start), {
      ...serving,
      policy_sha256: sha256,
      policy_reload: reload,
      ...(problem === undefined ? {} : { policy_problem: problem }),
      ...(needsRestart === undefined ? {} : { policy_needs_restart: needsRestart }),
    });
}

function presentOutcome(outcome: ReloadOutcome): PolicyReloaded | { problems: string[] } {
  if (outcome.kind === 'refused') return { problems: outcome.problems.map(formatProblem) };
  const { kind: status, sha256, later: restart } = outcome;
  return {
    status,
    policy_sha256: sha256,
    ...(outcome.kind === 'applied' ? { previous_sha256: outcome.previous } : {}),
    restart,
  };
}

function stateFolder({ directory }: Start): string {
  return join(directory, '.service');
}

/**
 * Creates the authenticator from the daemon's own tokens and, if callers must authenticate, the configured providers.
 */
async function authenticatorOf(
  { config, env, log, isAuthOn }: AgentOptions & Start,
  outbound: Outbound,
  {
    reads,
    ...tokens
  }: Pick<AuthenticatorOptions, 'runtimeToken' | 'chatToken' | 'metricsToken'> & {
    reads: () => CallerReads;
  },
): Promise<Authenticator> {
  const { auth } = config;
  return createAuthenticator({
    ...tokens,
    tokens: isAuthOn
      ? await configuredVerifiers(auth.providers, {
          ...{ env, log, outbound, reads, bindsApprover: bindsApprover(config) },
          resource: mcpResource(config)?.url ?? null,
        })
      : [],
    isOptional: !isAuthOn,
  });
}
