import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../bench/peers/free-port.ts';
import { breakSentence, logFilesOf, verifyFiles } from '../../src/actors/records/records.ts';
import { claudeCode } from '../../src/http/hooks/claude-code.ts';
import type { HookCall } from '../../src/http/hooks/hook-event.ts';
import { hookKey } from '../../src/http/hooks/hook-key.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { AgentFolder } from '../../test/helpers/agent-folder.ts';
import { type AgentProcess, launchAgentProcess } from '../../test/helpers/agent-process.ts';
import { brokenHolds } from '../../test/helpers/broken-hold.ts';
import { Chance } from '../../test/helpers/chance.ts';
import { commandFile, compileCache } from '../../test/helpers/real-command.ts';
import { readAudit } from '../../test/helpers/test-agent.ts';

export interface HookKillsOptions {
  kills: number;
  /** Every choice is drawn from it; the moments are those of the machine. */
  seed: number;
  tell?: (line: string) => void;
}

type Victim = 'daemon' | 'hook' | 'client';

/** What came of the kills. */
export interface HookKillsResult {
  kills: Record<Victim, number>;
  calls: number;
  approved: number;
  rejected: number;
  ran: number;
  /** Approved calls that a killed program had received, so that they did not run again. */
  receivedByKilled: number;
  /** Questions of the key with the most. */
  mostQuestions: number;
  /** Calls that ran without an approval, or twice. */
  letThrough: number;
  /** Calls without an answer in the end, or whose answer is not that of the log. */
  lost: number;
  broken: string[];
}

/** How a call ended for its program. */
type End = 'ran' | 'denied' | 'received';

const gate = {
  gate: { tools: { Bash: {} } },
  security: {
    defer: {
      enabled: true,
      max_pending_per_caller: 1_000,
      tools: { Bash: { to: 'channel:console:*', timeout: '1h' } },
    },
  },
};

/**
 * Runs real hooks and real programs that use the client against a real gate, and kills each of the three at random
 * moments. A killed hook or program starts again with the same call, as its host does.
 */
export async function runHookKills(options: HookKillsOptions): Promise<HookKillsResult> {
  const folder = new AgentFolder(gate);
  const run = new HookKills(folder, await freePort(), options);
  try {
    return await run.play();
  } finally {
    await run.close();
    folder.remove();
  }
}

class HookKills {
  readonly #folder: AgentFolder;
  readonly #port: number;
  readonly #chance: Chance;
  readonly #options: HookKillsOptions;
  readonly #victims = { hook: new Set<ChildProcess>(), client: new Set<ChildProcess>() };
  readonly #kills: Record<Victim, number> = { daemon: 0, hook: 0, client: 0 };
  readonly #ends = new Map<string, End>();
  readonly #acknowledged: { deferralId: string; decision: string }[] = [];
  readonly #broken: string[] = [];
  readonly #later: (() => Promise<void>)[] = [];
  #daemon: AgentProcess | null = null;
  #isOver = false;
  #calls = 0;

  constructor(folder: AgentFolder, port: number, options: HookKillsOptions) {
    this.#folder = folder;
    this.#port = port;
    this.#options = options;
    this.#chance = new Chance(options.seed);
  }

  async play(): Promise<HookKillsResult> {
    await this.#launch();
    const programs = [
      ...Array.from({ length: 3 }, (_, index) =>
        this.#repeat(() => this.#hookedCall(`s-${index}`)),
      ),
      ...Array.from({ length: 2 }, () => this.#repeat(() => this.#clientCall())),
    ];
    const isDecided = { yet: false };
    const approving = this.#approve(isDecided);
    for (let kill = 1; kill <= this.#options.kills; kill += 1) {
      await wait(40 + this.#chance.below(300));
      await this.#kill(kill);
    }
    this.#isOver = true;
    await Promise.all(programs);
    isDecided.yet = true;
    await approving;
    await this.#daemon?.kill();
    return this.#result();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    for (const child of [...this.#victims.hook, ...this.#victims.client]) child.kill('SIGKILL');
    for (const kill of this.#later) await kill();
  }

  get #trace(): string {
    return join(this.#folder.path, 'ran');
  }

  async #launch(): Promise<void> {
    const later = (kill: () => Promise<void>) => void this.#later.push(kill);
    const flags = ['--port', String(this.#port)];
    this.#daemon = await launchAgentProcess(this.#folder, later, flags);
  }

  async #kill(number: number): Promise<void> {
    const victim = this.#chance.weighed<Victim>({ daemon: 1, hook: 2, client: 2 });
    if (victim === 'daemon') {
      this.#options.tell?.(`${number}: the daemon`);
      this.#kills.daemon += 1;
      const daemon = this.#daemon;
      this.#daemon = null;
      await daemon?.kill();
      await wait(this.#chance.below(400));
      return this.#launch();
    }
    while (this.#victims[victim].size === 0) await wait(5);
    this.#options.tell?.(`${number}: a ${victim}`);
    this.#kills[victim] += 1;
    this.#chance.pick([...this.#victims[victim]]).kill('SIGKILL');
  }

  async #repeat(call: () => Promise<void>): Promise<void> {
    while (!this.#isOver) await call();
  }

  /** A coding agent asks for one call by its hook, runs the call, and reports it by its hook. */
  async #hookedCall(session: string): Promise<void> {
    this.#calls += 1;
    const event = {
      ...{ session_id: session, tool_use_id: `call-${this.#calls}`, tool_name: 'Bash' },
      tool_input: { command: `make ${this.#calls}` },
    };
    const before = { ...event, hook_event_name: 'PreToolUse' };
    const key = hookKey('claude-code', claudeCode.read(before) as HookCall, '');
    for (;;) {
      const { code, stdout } = await this.#hook(before);
      // A killed hook starts again; one that found no gate has blocked the call, and the model makes it again.
      if (code !== 0) continue;
      const { hookSpecificOutput: told } = JSON.parse(stdout) as { hookSpecificOutput: JsonObject };
      if (told['permissionDecision'] !== 'allow') {
        this.#end(key, 'denied');
        return;
      }
      break;
    }
    this.#end(key, 'ran');
    const after = { ...event, hook_event_name: 'PostToolUse', tool_response: 'done' };
    while ((await this.#hook(after)).code !== 0) await wait(50);
  }

  #hook(event: object) {
    const words = [commandFile(), 'hook', 'claude-code', '--dir', this.#folder.path];
    return this.#run('hook', words, JSON.stringify(event));
  }

  /** A program asks for one call by the client, and runs the call. */
  async #clientCall(): Promise<void> {
    this.#calls += 1;
    const key = `client-${this.#calls}`;
    const program = join(import.meta.dirname, 'guarded-client.ts');
    const url = `http://127.0.0.1:${this.#port}`;
    const words = [program, url, key, `make ${this.#calls}`, this.#trace];
    for (;;) {
      const { code } = await this.#run('client', words, '');
      if (code === 0) return this.#end(key, 'ran');
      if (code === 3) return this.#end(key, 'denied');
      if (code === 4) return this.#end(key, 'received');
    }
  }

  #end(key: string, end: End): void {
    if (this.#ends.has(key)) this.#broken.push(`the call ${key} ended twice`);
    this.#ends.set(key, end);
  }

  async #run(kind: 'hook' | 'client', words: string[], input: string) {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...words], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache() },
    });
    this.#victims[kind].add(child);
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stdin.on('error', () => undefined).end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    this.#victims[kind].delete(child);
    return { code, stdout };
  }

  /** Decides what waits, one call after the other. */
  async #approve(isDecided: { yet: boolean }): Promise<void> {
    while (!isDecided.yet) {
      await wait(20 + this.#chance.below(150));
      await this.#decideOne().catch(() => undefined);
    }
  }

  async #decideOne(): Promise<void> {
    const daemon = this.#daemon;
    if (daemon === null) return;
    const answer = await daemon.get('/deferrals');
    const { deferrals: waiting } = answer.body as { deferrals: { id: string; task_id: string }[] };
    if (waiting.length === 0) return;
    const { id, task_id: taskId } = this.#chance.pick(waiting);
    const decision = this.#chance.next() < 0.7 ? 'approve' : 'reject';
    const asked = { decision, approver: 'ann', deferral_id: id };
    const { status } = await daemon.post(`/holds/${taskId}/decisions`, asked);
    if (status === 200) this.#acknowledged.push({ deferralId: id, decision });
  }

  async #result(): Promise<HookKillsResult> {
    const files = logFilesOf(join(this.#folder.path, '.service/audit.ndjson'));
    const verdict = await verifyFiles(files);
    const lines = files.flatMap((file) => readAudit(file));
    const byHold = Map.groupBy(lines, ({ task_id }) => task_id ?? '');
    byHold.delete('');
    const questions = new Map<string, number>();
    const decided = new Map<string, string>();
    const made = new Map<string, string>();
    for (const [, own] of byHold) {
      const key = String(own[0]?.fields?.['key']);
      for (const { event, fields = {} } of own) {
        if (event === 'hold_deferred') questions.set(key, (questions.get(key) ?? 0) + 1);
        if (event !== 'hold_deferred_decision') continue;
        decided.set(key, String(fields['decision']));
        made.set(String(fields['deferral_id']), String(fields['decision']));
      }
    }
    const runs = Map.groupBy(this.#traces(), (key) => key);
    const isLetThrough = (key: string, times: number) =>
      times > 1 || (times === 1 && decided.get(key) !== 'approve');
    const ends = [...this.#ends];
    const ran = ends.filter(([, end]) => end === 'ran').map(([key]) => key);
    const letThrough = [
      ...ran.filter((key) => isLetThrough(key, 1)),
      ...[...runs].filter(([key, { length }]) => isLetThrough(key, length)).map(([key]) => key),
    ];
    const lost = [
      ...ends.filter(
        ([key, end]) => (end === 'denied' ? 'reject' : 'approve') !== decided.get(key),
      ),
      ...this.#acknowledged.filter(({ deferralId, decision }) => made.get(deferralId) !== decision),
    ];
    return {
      kills: this.#kills,
      calls: this.#calls,
      approved: [...decided.values()].filter((one) => one === 'approve').length,
      rejected: [...decided.values()].filter((one) => one === 'reject').length,
      ran: new Set([...ran, ...runs.keys()]).size,
      receivedByKilled: ends.filter(([key, end]) => end === 'received' && !runs.has(key)).length,
      mostQuestions: Math.max(0, ...questions.values()),
      letThrough: letThrough.length,
      lost: lost.length + this.#calls - ends.length,
      broken: [
        ...(verdict.ok ? [] : [breakSentence(verdict)]),
        ...this.#broken,
        ...brokenHolds(byHold, { answers: [], outcomes: [] }),
      ],
    };
  }

  /** The keys of the calls that programs ran, in order. */
  #traces(): string[] {
    try {
      const lines = readFileSync(this.#trace, 'utf8').split('\n').filter(Boolean);
      return lines.map((line) => line.split(' ')[0] ?? '');
    } catch {
      return [];
    }
  }
}
