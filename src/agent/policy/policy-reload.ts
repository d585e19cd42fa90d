import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { type ConfigProblem, formatProblem } from '../../actors/config/config.ts';
import type { Policies } from '../../actors/governance/governance.ts';
import { InOrder } from '../../actors/in-order.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { AgentPolicies, AgentPolicy } from '../start/create-system.ts';
import { mcpToolsSeen } from '../start/mcp-tools-seen.ts';
import type { DaemonEvent } from '../start/open-records.ts';
import { keepPolicy } from './kept-policies.ts';
import { namedTools } from './named-tools.ts';
import { policyText } from './policy-digest.ts';
import { policyEvent } from './policy-event.ts';
import { type RunningAgent, readPolicy } from './read-policy.ts';

/** The policy in force, and how it differs from the agent's files. */
export interface PolicyStanding {
  sha256: string;
  reload: 'auto' | 'manual';
  /** The first problem of the files, which are not in force; absent for none. */
  problem?: string;
  /** True if the files have settings that apply at the next start only; absent otherwise. */
  needsRestart?: true;
}

/** The policies of a daemon since its start, for the metrics. */
export interface PolicyFigures {
  /** Number of policies that were in force, the current one included. */
  generation: number;
  /** False if the files have a problem, or other rules than those in force. */
  isCurrent: boolean;
  /** True if the files have settings that apply at the next start only. */
  needsRestart: boolean;
}

/** The result of a reload. */
export type ReloadOutcome =
  | { kind: 'applied'; sha256: string; previous: string; later: string[] }
  | { kind: 'unchanged'; sha256: string; later: string[] }
  | { kind: 'refused'; problems: ConfigProblem[] };

export interface PolicyReloadParts extends RunningAgent {
  policies: Policies<AgentPolicy>;
  versionOf: AgentPolicies['versionOf'];
  /** The sandbox level of scripts; `null` if there are no scripts. */
  sandbox: string | null;
  record: (event: DaemonEvent) => Promise<void>;
  /** Publishes the standing to programs that look for the agent. */
  announce: (standing: PolicyStanding) => void;
  clock: Clock;
  log: Log;
}

/**
 * Milliseconds between two looks at the files. Files that change within that time are not read yet, so that no file is
 * read while an editor writes it.
 */
const lookEvery = 500;

/**
 * Puts the policy of changed files into force. Files with a problem change nothing, and the problem is reported once.
 * The audit log has the new policy before a call is ruled by it.
 */
export class PolicyReload {
  readonly #parts: PolicyReloadParts;
  readonly #attempts = new InOrder();
  #timer: unknown = null;
  /** State of the files that was read last, and at the last look. */
  #read = '';
  #seen = '';
  #reported = '';
  /** Files of included policies. */
  #files: readonly string[] = [];
  /** True if the files were reported to differ from what is in force. */
  #isBehind = false;
  #isStopped = false;
  #figures: PolicyFigures = { generation: 1, isCurrent: true, needsRestart: false };

  constructor(parts: PolicyReloadParts) {
    this.#parts = parts;
  }

  /** The policies since the start. */
  get figures(): PolicyFigures {
    return this.#figures;
  }

  /** Watches the files until `stop`. A change since the start of the agent counts. */
  watch(): void {
    const { clock } = this.#parts;
    if (this.#isStopped) return;
    this.#timer = clock.setTimeout(() => {
      void this.#look().finally(() => this.watch());
    }, lookEvery);
  }

  /** Reads the files again at the next look, for changes of files that are not watched here. */
  lookAgain(): void {
    this.#read = '';
  }

  /** Reads the files now and puts their policy into force. Rejects if the audit log cannot record it. */
  reload(): Promise<ReloadOutcome> {
    return this.#attempts.run('policy', () => this.#attempt(true));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#parts.clock.clearTimeout(this.#timer);
    await this.#attempts.over();
  }

  async #look(): Promise<void> {
    const files = ['service.yaml', ...this.#files];
    const state = await stateOf(files.map((file) => join(this.#parts.directory, file)));
    const isStable = state === this.#seen;
    this.#seen = state;
    if (!isStable || state === this.#read || this.#isStopped) return;
    const isAuto = this.#parts.policies.current.security.policy.reload === 'auto';
    this.#read = state;
    try {
      await this.#attempts.run('policy', () => this.#attempt(isAuto));
    } catch (error) {
      this.#read = '';
      this.#parts.log.error({ error }, 'policy: the change could not be recorded; trying again');
    }
  }

  async #attempt(applies: boolean): Promise<ReloadOutcome> {
    const { policies, versionOf, record, log } = this.#parts;
    const { sha256: previous } = policies.current;
    const { problems, policy, fileSha256, later, files } = await readPolicy(this.#parts);
    this.#files = files;
    if (policy === null || problems.length > 0) return this.#refuse(problems);
    const { policySha256: sha256, config, guardrails } = policy;
    if (this.#isStopped || sha256 === previous || !applies) {
      await this.#compare(fileSha256 ?? sha256, { isPending: sha256 !== previous, later });
      return { kind: 'unchanged', sha256: previous, later };
    }
    const next = versionOf(policy);
    const { sandbox, directory, toolbox } = this.#parts;
    const tools = namedTools(config, toolbox, mcpToolsSeen(directory, config));
    const digests = { policySha256: sha256, previousSha256: previous };
    await record(policyEvent(config, guardrails, tools, { ...digests, sandbox }));
    policies.replace(next);
    this.#figures = { ...this.#figures, generation: this.#figures.generation + 1 };
    this.#keep(sha256, policyText(config, toolbox.skills));
    this.#isBehind = false;
    log.info(
      { policy_sha256: sha256, previous_sha256: previous },
      'policy: the changed rules are in force',
    );
    await this.#compare(fileSha256 ?? sha256, { isPending: false, later });
    return { kind: 'applied', sha256, previous, later };
  }

  async #refuse(problems: ConfigProblem[]): Promise<ReloadOutcome> {
    const { log, record } = this.#parts;
    const { sha256, security } = this.#parts.policies.current;
    const texts = problems.map(formatProblem);
    const report = texts.join('\n');
    if (report !== this.#reported) {
      const fields = { policy_sha256: sha256, problems: texts };
      await record({ event: 'policy_refused', fields });
      this.#reported = report;
      this.#isBehind = true;
      for (const text of texts) log.error({}, `policy: ${text}; the rules before it stay in force`);
    }
    const [problem = ''] = texts;
    this.#figures = { ...this.#figures, isCurrent: false };
    this.#announce({ sha256, reload: security.policy.reload, problem });
    return { kind: 'refused', problems };
  }

  /** Reports files that differ from what is in force. */
  async #compare(
    fileSha256: string,
    { isPending, later }: { isPending: boolean; later: string[] },
  ): Promise<void> {
    const { log, record } = this.#parts;
    const { sha256, security } = this.#parts.policies.current;
    const needsRestart = !isPending && fileSha256 !== sha256;
    this.#figures = { ...this.#figures, isCurrent: !isPending, needsRestart };
    this.#announce({
      sha256,
      reload: security.policy.reload,
      ...(needsRestart ? { needsRestart } : {}),
    });
    const report = JSON.stringify([fileSha256, sha256, isPending, later]);
    if (report === this.#reported) return;
    const wasBehind = this.#isBehind;
    this.#isBehind = isPending || later.length > 0;
    if (fileSha256 !== sha256) {
      await record({
        event: 'policy_file_changed',
        fields: { policy_sha256: sha256, file_sha256: fileSha256 },
      });
    }
    this.#reported = report;
    if (isPending) {
      log.warn(
        {},
        `policy: service.yaml has other rules than those in force; ${commandLine('policy reload')} applies them`,
      );
    }
    if (later.length > 0) {
      log.warn({ later }, `policy: ${later.join(', ')} changed; restart the agent to apply it`);
    } else if (wasBehind && !this.#isBehind) {
      log.info({}, 'policy: service.yaml has the rules in force again');
    }
  }

  #keep(sha256: string, text: string): void {
    try {
      keepPolicy(this.#parts.directory, sha256, text);
    } catch (error) {
      this.#parts.log.error({ error }, 'policy: its text could not be kept');
    }
  }

  #announce(standing: PolicyStanding): void {
    try {
      this.#parts.announce(standing);
    } catch (error) {
      this.#parts.log.error({ error }, 'policy: serve.json could not be written');
    }
  }
}

/** Returns a string that differs if a file was written or replaced; links count as their targets. */
async function stateOf(paths: readonly string[]): Promise<string> {
  const states = paths.map(async (path) => {
    const found = await stat(path, { bigint: true }).catch(() => null);
    if (found === null) return 'missing';
    const { ino, size, mtimeNs, ctimeNs } = found;
    return [ino, size, mtimeNs, ctimeNs].join(':');
  });
  return (await Promise.all(states)).join(' ');
}
