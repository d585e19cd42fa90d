import { hash } from 'node:crypto';
import { join, relative } from 'node:path';
import { loadConfig, type ServiceConfig } from '../../actors/config/config.ts';
import {
  type AuditKeys,
  type ChainVerdict,
  type ExportedLine,
  type ExportSummary,
  exportTask,
  loadSharedStore,
  logFilesOf,
  nodeKeyRing,
  openAuditKeys,
  type PublicKeySet,
  prunedAt,
  Receipts,
  type Standing,
  standingBefore,
  type TailedLine,
  type TakeLine,
  type TaskLine,
  tailLines,
  verdictSentence,
  verifyFiles,
} from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { readSkills } from '../../actors/tools/tools.ts';
import { scanFolders } from '../../actors/workspace/workspace.ts';
import { keptPolicy } from '../../agent/policy/kept-policies.ts';
import { policyText } from '../../agent/policy/policy-digest.ts';
import { builtBundlePage, PageBuildError } from '../../agent/start/built-page.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../machines/json.ts';
import { messageOf } from '../../machines/message-of.ts';
import type { TimeRange } from '../../machines/time-range.ts';
import { agentDirectory } from '../agent-directory.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { rangeOf } from '../option-values.ts';
import { plainLine } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { openNewFile } from './audit-export.ts';
import { withGivenSecrets } from './audit-path.ts';
import { type AuditSource, auditSourceOf, withLog } from './audit-source.ts';
import { type BundledAgent, type BundledReceipt, bundleFiles } from './bundle-files.ts';

export interface AuditBundleOptions {
  output: string;
  dir: string;
  agent?: string[];
  task?: string;
  from?: string;
  to?: string;
}

/** Selects the lines of a bundle. */
interface Selection extends TimeRange {
  task: string | null;
}

/**
 * `audit bundle`: writes the evidence of all agents of a workspace to one ZIP file, with a page that verifies it offline
 * (docs/audit-log.md). A broken log is bundled with its verdict, and the command then ends with exit code 6.
 */
export async function auditBundle(session: Session, options: AuditBundleOptions): Promise<void> {
  const { output, interruption } = session;
  const signal = interruption.listen();
  const { task = null, from, to } = options;
  const selection: Selection = { task, ...rangeOf({ from, to }) };
  const folders = await foldersOf(options, session);
  const agents: BundledAgent[] = [];
  const stop = showProgress(output, 'reading the logs');
  try {
    for (const { directory, agentId } of folders) {
      signal.throwIfAborted();
      const agent = await readEvidence(session, { directory, agentId }, { ...selection, signal });
      if (agent === null) output.warn(plainLine(`${agentId} has no log yet`));
      else agents.push(agent);
    }
  } finally {
    stop();
  }
  const events = agents.reduce((sum, { runs }) => sum + countOf(runs), 0);
  if (events === 0) throw nothing();
  const iso = (time: number | undefined) =>
    time === undefined ? null : new Date(time).toISOString();
  const scope = {
    createdAt: new Date(systemClock().now()).toISOString(),
    ...{ from: iso(selection.from), to: iso(selection.to), taskId: task },
  };
  await writeZip(options.output, bundleFiles(scope, agents, await page()));
  const ids = agents.map(({ agentId }) => agentId);
  output.line(plainLine(`${events} events of ${ids.join(', ')} written to ${options.output}`));
  output.json({ agents: ids, events, file: options.output });
  const broken = agents.find(({ verdict }) => !verdict.ok);
  if (broken !== undefined) throw brokenLog(broken);
}

/** Returns the page that verifies a bundle. */
async function page(): Promise<string> {
  try {
    return await builtBundlePage();
  } catch (error) {
    if (!(error instanceof PageBuildError)) throw error;
    throw new CliError(error.message, { code: error.code, hint: error.hint, cause: error });
  }
}

interface AgentFolder {
  directory: string;
  agentId: string;
}

async function foldersOf(
  { dir, agent: wanted }: AuditBundleOptions,
  { env }: Session,
): Promise<AgentFolder[]> {
  const workspace = agentDirectory(dir);
  const found = (await scanFolders(workspace)).map((directory) => {
    const loaded = loadConfig(directory, env);
    const name = relative(workspace, directory);
    return { directory, agentId: loaded.ok ? loaded.config.agent_id : name === '' ? '.' : name };
  });
  const missing = (wanted ?? []).filter((id) => !found.some(({ agentId }) => agentId === id));
  if (missing.length > 0 || found.length === 0) {
    const which = missing.length > 0 ? `no agent ${missing.join(', ')}` : 'no agent';
    throw new CliError(plainLine(`there is ${which} in ${workspace}`), {
      code: 'not_found',
      exitCode: exitCodes.notFound,
      hint: 'name the folder of an agent, or one with agents in it, with --dir',
    });
  }
  return wanted === undefined ? found : found.filter(({ agentId }) => wanted.includes(agentId));
}

async function readEvidence(
  session: Session,
  { directory, agentId }: AgentFolder,
  { signal, ...selection }: Selection & { signal: AbortSignal },
): Promise<BundledAgent | null> {
  const source = await auditSourceOf(directory, session);
  const settings = await settingsOf(session, { directory, agentId });
  const { signer, published: keys } = keysOf(session, settings);
  const evidence = { agentId, keys };
  const checked = keys.keys.length === 0 ? {} : { keys };
  return withReading(source, async (log) => {
    const pruned = await log.pruned();
    const before = pruned === null ? {} : { continuedFrom: pruned.head };
    const policies = policiesIn(await log.policies(selection.to), selection.from);
    const lines = new LineRuns(pruned?.count ?? 0);
    const { head, broken } = await log.export({ ...selection, withProof: true }, async (line) => {
      signal.throwIfAborted();
      return lines.add(line);
    });
    const verdict = await log.verify({ ...checked, ...before });
    const { receipts, refusal } = await receiptsFor(lines, { signer, keys, broken });
    const told = verdict.ok && refusal !== null ? refusal : verdictSentence(verdict);
    return {
      ...evidence,
      ...{ log: lines.text, runs: lines.runs, head: lines.head },
      continuedFrom: pruned === null ? null : { line: pruned.count + 1, hash: pruned.head },
      policies: policies.map((text) => `${text}\n`).join(''),
      policyTexts: await policyTextsOf(settings, policies),
      receipts,
      verdict: { ok: verdict.ok && refusal === null, sentence: told, head },
    };
  });
}

/**
 * Returns a receipt of each call that has ended within the bundled lines, and why the first broken one has none. Without a
 * signing key there are none.
 */
async function receiptsFor(
  lines: LineRuns,
  {
    signer,
    keys,
    broken,
  }: Pick<AuditKeys, 'signer'> & { keys: PublicKeySet } & Pick<ExportSummary, 'broken'>,
): Promise<{ receipts: readonly BundledReceipt[]; refusal: string | null }> {
  const receipts = new Receipts({
    ...{ signer, keys: nodeKeyRing(keys), clock: systemClock() },
    async readTask(task, take) {
      for (const line of lines.ofTask(task)) take(line);
      return broken?.number ?? null;
    },
  });
  let refusal: string | null = null;
  const found: BundledReceipt[] = [];
  for (const [task, calls] of lines.calls) {
    for (const call of calls) {
      const answer = await receipts.issue(task, call);
      if (answer.kind === 'broken') refusal ??= `call ${call}: ${answer.reason}`;
      if (answer.kind !== 'issued') continue;
      found.push({ task_id: task, call_id: call, jws: answer.receipt });
    }
  }
  return { receipts: found, refusal };
}

/** The lines of a bundle with their places. */
class LineRuns {
  readonly #removed: number;
  readonly #texts: string[] = [];
  readonly #byTask = new Map<string, TaskLine[]>();
  readonly runs: [first: number, count: number][] = [];
  /** Ids of the calls that the lines name, by task. */
  readonly calls = new Map<string, Set<string>>();
  head: string | null = null;

  /** @param removed number of lines that were removed with the oldest files */
  constructor(removed: number) {
    this.#removed = removed;
  }

  get text(): string {
    return this.#texts.join('');
  }

  add({ number, bytes, sha256 }: ExportedLine): boolean {
    const place = this.#removed + number;
    const run = this.runs.at(-1);
    if (run !== undefined && run[0] + run[1] === place) run[1] += 1;
    else this.runs.push([place, 1]);
    const text = new TextDecoder().decode(bytes);
    this.#texts.push(`${text}\n`);
    this.head = sha256;
    this.#note(text, { sha256, number });
    return true;
  }

  ofTask(task: string): readonly TaskLine[] {
    return this.#byTask.get(task) ?? [];
  }

  #note(text: string, place: Omit<TaskLine, 'bytes'>): void {
    const line = parseJson(text);
    if (!isJsonObject(line) || typeof line['task_id'] !== 'string') return;
    const { task_id: task, fields } = line as { task_id: string; fields?: JsonValue };
    const lines = this.#byTask.get(task) ?? [];
    this.#byTask.set(task, lines);
    lines.push({ ...place, bytes: Buffer.from(text) });
    const call = isJsonObject(fields) ? fields['call_id'] : undefined;
    if (typeof call !== 'string') return;
    this.calls.set(task, (this.calls.get(task) ?? new Set()).add(call));
  }
}

function countOf(runs: BundledAgent['runs']): number {
  return runs.reduce((sum, [, count]) => sum + count, 0);
}

/** Returns the policy in force at the beginning, and the later ones. */
function policiesIn(loaded: readonly TailedLine[], from = -Infinity): string[] {
  const later = loaded.findIndex(({ event }) => Date.parse(event?.ts ?? '') > from);
  const first = later === -1 ? loaded.length - 1 : later - 1;
  return loaded.slice(Math.max(0, first)).map(({ text }) => text);
}

/** A log as a bundle reads it, in files or in a database. */
interface LogReading {
  pruned(): Promise<Standing | null>;
  policies(to: number | undefined): Promise<TailedLine[]>;
  export(exporting: Selection & { withProof: boolean }, take: TakeLine): Promise<ExportSummary>;
  verify(checks: { keys?: PublicKeySet; continuedFrom?: string }): Promise<ChainVerdict>;
}

/** Reads a log; `null` if there is none. */
async function withReading<Result>(
  source: AuditSource,
  read: (log: LogReading) => Promise<Result>,
): Promise<Result | null> {
  const loads = { event: 'policy_loaded', limit: null, clock: systemClock() };
  if ('path' in source) {
    const { path } = source;
    const files = logFilesOf(path);
    if (files.length === 0) return null;
    return read({
      pruned: () => prunedAt(files),
      policies: (to) => Array.fromAsync(tailLines({ path, ...loads, to })),
      export: (exporting, take) => exportTask({ path, ...exporting }, take),
      verify: (checks) => verifyFiles(files, checks),
    });
  }
  const { tailDatabase } = await loadSharedStore();
  return withLog(source.address, async (log) => {
    if (!(await log.isThere())) return null;
    return read({
      pruned: async () => {
        const line = await log.firstLine();
        return line === null ? null : standingBefore(line);
      },
      policies: (to) => Array.fromAsync(tailDatabase(log, { ...loads, to })),
      export: (exporting, take) => log.exportTask(exporting, take),
      verify: (checks) => log.verify(checks),
    });
  });
}

/** An agent with its configuration, as far as it can be read without a prompt for a passphrase. */
interface AgentSettings extends AgentFolder {
  env: NodeJS.ProcessEnv;
  /** `null` if it is invalid. */
  config: ServiceConfig | null;
}

async function settingsOf(session: Session, folder: AgentFolder): Promise<AgentSettings> {
  const env = await withGivenSecrets(session, folder.directory);
  const loaded = loadConfig(folder.directory, env);
  return { ...folder, env, config: loaded.ok ? loaded.config : null };
}

/** Returns an agent's keys; none, with a warning, if they cannot be read without a passphrase. */
function keysOf(session: Session, { directory, agentId, env, config }: AgentSettings): AuditKeys {
  if (config === null) return noKeys;
  try {
    return openAuditKeys(config.audit, { env, folder: join(directory, '.service') });
  } catch (error) {
    const reason = messageOf(error);
    session.output.warn(plainLine(`the bundle has no public keys of ${agentId}: ${reason}`));
    return noKeys;
  }
}

const noKeys: AuditKeys = { signer: null, published: { keys: [] } };

/** Returns the texts of the bundled policies by their SHA-256, as far as they are kept or in the agent's files. */
async function policyTextsOf(
  { directory, config }: AgentSettings,
  policies: readonly string[],
): Promise<Map<string, string>> {
  if (config === null) return new Map();
  const { skills } = await readSkills(directory, { mainPath: config.skills.path });
  const text = policyText(config, skills);
  const sha256 = hash('sha256', text, 'hex');
  const wasInForce = policies.some((line) => line.includes(`"policy_sha256":"${sha256}"`));
  const digests = policies.flatMap(
    (line) => /"policy_sha256":"([0-9a-f]{64})"/.exec(line)?.[1] ?? [],
  );
  const kept = digests.flatMap((each): [string, string][] => {
    const found = keptPolicy(directory, each);
    return found === null ? [] : [[each, found.text]];
  });
  return new Map([...(wasInForce ? [[sha256, text] as const] : []), ...kept]);
}

async function writeZip(target: string, files: ReadonlyMap<string, string>): Promise<void> {
  const { default: Zip } = await import('jszip');
  const zip = new Zip();
  for (const [path, text] of files) zip.file(path, text, { createFolders: false });
  const sink = await openNewFile(target);
  try {
    await sink.write(await zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' }));
    await sink.close();
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

function nothing(): CliError {
  return new CliError('the logs hold no such event', {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: 'check the range and the task, and name another folder with --dir',
  });
}

function brokenLog({ agentId, verdict }: BundledAgent): CliError {
  return new CliError(plainLine(`the log of ${agentId} is broken: ${verdict.sentence}`), {
    code: 'audit_broken',
    exitCode: exitCodes.auditBroken,
    hint: 'the bundle has this verdict',
  });
}
