import {
  CLIENT_CAPABILITIES_META_KEY,
  Client,
  type ElicitResult,
  type Progress,
  ProtocolError,
  ProtocolErrorCode,
  type Transport,
} from '@modelcontextprotocol/client';
import * as z from 'zod';
import { doubledPause } from '../../../machines/back-off.ts';
import type { Question, QuestionAnswer } from '../../../machines/domain/question.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { type OutcomeMark, outcomeMethod, separateMark } from '../../../machines/task/wait-mark.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { type CallAnswer, readAnswer } from './call-answer.ts';
import { type CallResult, callResult } from './call-result.ts';
import { connectionFault } from './connection-fault.ts';
import { answerPatience, listTools } from './list-tools.ts';
import type { OfferedTool } from './offered-tool.ts';
import type { ReadOffer } from './read-offer.ts';
import { readQuestion } from './read-questions.ts';
import { sealedResult, sealResult } from './sealed-result.ts';
import { quoteOf, ServerFault } from './server-fault.ts';
import { type ServerTask, serverTask } from './server-task.ts';

/**
 * A transport to a server; `secrets` are credentials given to the server, which must be redacted from all its output.
 */
export type SessionTransport = Transport & { readonly secrets?: readonly string[] };

/** Transport and listeners of a session. */
export interface SessionPorts {
  /** Name of the server. */
  server: string;
  transport: SessionTransport;
  /** True if people answer the questions of the server. */
  asks: boolean;
  /** True for a server that is known to support no version of MCP from 2026 on. */
  isOfOld: boolean;
  clock: Clock;
  log: Log;
  /** Receives the offered tools, initially and whenever they may have changed. */
  onOffer: (offer: ReadOffer) => void;
  /** Called once with the reason when the session is lost. */
  onLost: (fault: ServerFault) => void;
}

/** Pauses before the tools are listed again, in milliseconds: after a change notification, and without one. */
const relistPause = 5_000;
const relistInterval = 600_000;

/** Timeout of the first request, which some servers of 2025 leave unanswered, in milliseconds. */
const discoveryPatience = 10_000;

const outcomeMark = z.looseObject({ state: z.string(), ran: z.literal(false).nullable() });

/** Asks people a question of the server during a call. */
export type Asker = (question: Question) => Promise<QuestionAnswer>;

/** Listeners of a call, and what belongs to its repetition. */
export interface CallPorts {
  signal: AbortSignal;
  onProgress: (said: Progress) => void;
  ask: Asker;
  /** Answers to the questions of the last attempt (MCP 2026-07-28). */
  answers?: { inputResponses?: JsonObject; requestState?: string };
}

/** The forms of a question that people can answer. */
const elicitation = { form: {}, url: {} };

/** What the agent can do with an answer of MCP 2026-07-28. */
const abilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

const rpcError = z.object({ code: z.number(), message: z.string() });

/** Timeout of the query for a call's outcome, in milliseconds. */
const outcomePatience = 5_000;

/** Maximum of the SDK's timer, in milliseconds: our own deadline applies to calls. */
const never = 2 ** 31 - 1;

/**
 * One session with an MCP server. The SDK implements the protocol; only the server's tool list and call results are
 * used. Its requests are refused, except for questions to people if `asks` is true.
 */
export class McpSession {
  readonly #ports: SessionPorts;
  readonly #client: Client;
  readonly #refused = new Set<string>();
  /** The calls under way. */
  readonly #askers = new Set<Asker>();
  /** Number of questions in this session. */
  #questions = 0;
  #relisting: { timer: unknown; at: number } | null = null;
  #isSubscribed = false;
  /** Number of ended subscriptions. */
  #subscriptions = 0;
  #isLost = false;
  /** True until initialisation has succeeded or failed. */
  #isOpening = true;
  /** The transport's fault during initialisation. */
  #openFault: ServerFault | null = null;
  #endedAtOnce = false;

  constructor(ports: SessionPorts, version: string) {
    this.#ports = ports;
    this.#client = new Client(
      { name: 'holdpoint', version },
      {
        capabilities: ports.asks ? { elicitation } : {},
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: discoveryPatience } },
      },
    );
    this.#listen(ports.transport);
    this.#client.onclose = () => {
      if (!this.#isOpening) this.#lose(new ServerFault('hung up'));
    };
    if (ports.asks) {
      this.#client.setRequestHandler('elicitation/create', (request) => this.#asked(request));
    }
    this.#client.fallbackRequestHandler = (request) => this.#refuse(request.method);
    this.#client.setNotificationHandler('notifications/tools/list_changed', () =>
      this.#relistIn(relistPause),
    );
  }

  /** The version of MCP in the session; empty before it is open. */
  get version(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? '';
  }

  /** True until the session is lost or closed. */
  get isOpen(): boolean {
    return !this.#isLost;
  }

  /** Credentials given to the server during the session. */
  get secrets(): readonly string[] {
    return this.#ports.transport.secrets ?? [];
  }

  /** True if the server supports no version of MCP from 2026 on, or ended at its first request, as some of 2025 do. */
  get isOfOld(): boolean {
    if (this.#openFault === null) return this.#client.getProtocolEra() === 'legacy';
    return this.#ports.isOfOld || this.#endedAtOnce;
  }

  /** True if the server ended before the SDK had determined its version. */
  get endedAtOnce(): boolean {
    return this.#endedAtOnce;
  }

  /** Initialises the session and lists its tools. Rejects with ServerFault. */
  async open(): Promise<void> {
    try {
      const prior = this.#ports.isOfOld ? { prior: { kind: 'legacy' } as const } : {};
      await this.#client.connect(this.#ports.transport, { timeout: answerPatience, ...prior });
      const offer = await listTools(this.#client, this.#ports.server);
      if (this.#openFault !== null) throw this.#openFault;
      this.#ports.onOffer(offer);
    } catch (error) {
      throw this.#openFault ?? connectionFault(error);
    }
    this.#isOpening = false;
    this.#relistIn(relistInterval);
    void this.#subscribe();
  }

  /** Calls a tool; an abort cancels the call at the server. Rejects with the SDK's error. */
  async call(
    { name, parameters, hasTasks }: Pick<OfferedTool, 'name' | 'parameters' | 'hasTasks'>,
    args: JsonObject,
    { signal, onProgress, ask, answers = {} }: CallPorts,
  ): Promise<CallAnswer> {
    this.#askers.add(ask);
    try {
      if (this.#isLost) throw new ServerFault('is not there', { isUnsent: true });
      // Marks identical calls of two tasks as separate, since both come from the same caller.
      const asTask = hasTasks === true && this.#servesTasks;
      const params = {
        ...{ name, arguments: args, ...(asTask ? { task: {} } : {}), ...answers },
        _meta: { [separateMark]: true, ...this.#abilities },
      };
      // The SDK repeats the arguments in HTTP headers as the schema demands.
      const toolDefinition = { name, inputSchema: { ...parameters, type: 'object' as const } };
      const options = { toolDefinition, timeout: never, onprogress: onProgress };
      const asked = stoppedBy(signal, (stop) =>
        this.#client.callTool(params, { ...options, signal: stop }),
      );
      return readAnswer(sealedResult.parse(await asked), { isModern: this.#isModern, asTask });
    } finally {
      this.#askers.delete(ask);
    }
  }

  /**
   * Lists the tools again, and returns the current hash of one; `null` if it is missing. If it differs from the known
   * hash, the agent receives the new list.
   */
  async digestOf(tool: string, known: string): Promise<string | null> {
    const offer = await listTools(this.#client, this.#ports.server);
    const sha256 = offer.tools.find(({ name }) => name === tool)?.sha256 ?? null;
    if (sha256 !== known && !this.#isLost) this.#ports.onOffer(offer);
    return sha256;
  }

  /** Queries the outcome of a call by the task id that the server returned. Rejects with the SDK's error. */
  async outcomeOf(taskId: string): Promise<OutcomeMark> {
    return outcomeMark.parse(
      await this.#ask(outcomeMethod, { task_id: taskId }, { timeout: outcomePatience }),
    );
  }

  #ask(
    method: string,
    params: JsonObject,
    options: { timeout: number; signal?: AbortSignal },
  ): Promise<unknown> {
    const request = { method, params: { ...params, _meta: this.#abilities } };
    return this.#client.request(request, sealedResult, options);
  }

  get #isModern(): boolean {
    return this.#client.getProtocolEra() === 'modern';
  }

  /** True if a server of MCP 2025-11-25 continues calls as tasks on request. */
  get #servesTasks(): boolean {
    return this.#client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;
  }

  /** Abilities stated with each request of MCP 2026-07-28; earlier versions state them once. */
  get #abilities(): JsonObject {
    const stated = this.#ports.asks ? { ...abilities, elicitation } : abilities;
    return this.#isModern ? { [CLIENT_CAPABILITIES_META_KEY]: stated } : {};
  }

  /** A question of MCP 2025-11-25 does not name its call, so it is asked only while a single call is under way. */
  async #asked(request: unknown): Promise<ElicitResult> {
    const [ask, ...others] = this.#askers;
    const question = readQuestion(this.#ports.server, request);
    if (ask === undefined || others.length > 0 || question === null) return { action: 'cancel' };
    this.#questions += 1;
    return (await ask({ ...question, key: `request:${this.#questions}` })) as ElicitResult;
  }

  /** Queries the state of a task. Rejects with the SDK's error. */
  async taskState(taskId: string): Promise<ServerTask> {
    return serverTask.parse(await this.#ask('tasks/get', { taskId }, { timeout: answerPatience }));
  }

  /** Sends the answers to the questions of a task, by their keys. Rejects with the SDK's error. */
  async updateTask(taskId: string, inputResponses: JsonObject): Promise<void> {
    await this.#ask('tasks/update', { taskId, inputResponses }, { timeout: answerPatience });
  }

  /** True if the questions of a task are part of its state; otherwise the server sends them once its result is requested. */
  get hasQuestionsInState(): boolean {
    return this.#isModern;
  }

  /**
   * Returns the result of a task, which has ended or asks. Rejects with the SDK's error, such as the one with which the
   * call ended.
   */
  async taskResult(
    taskId: string,
    { said, status }: ServerTask,
    { ask, signal }: Pick<CallPorts, 'ask' | 'signal'>,
  ): Promise<CallResult> {
    if (!this.#isModern) {
      this.#askers.add(ask);
      const timeout = status === 'input_required' ? never : answerPatience;
      const asked = stoppedBy(signal, (stop) =>
        this.#ask('tasks/result', { taskId }, { timeout, signal: stop }),
      );
      return callResult.parse(await asked.finally(() => this.#askers.delete(ask)));
    }
    if (said.status === 'completed') return callResult.parse(said['result']);
    const { data: error } = rpcError.safeParse(said['error']);
    const { code = ProtocolErrorCode.InternalError, message = 'its task failed' } = error ?? {};
    throw ProtocolError.fromError(code, message);
  }

  /** Cancels a task. Never rejects. */
  async cancelTask(taskId: string): Promise<void> {
    await this.#ask('tasks/cancel', { taskId }, { timeout: outcomePatience }).catch(
      () => undefined,
    );
  }

  /** Checks soon whether the server is still available, after an unexpected answer. */
  doubt(): void {
    this.#relistIn(relistPause);
  }

  /** Ends the session after a call found the server gone. */
  lose(error: unknown): void {
    this.#lose(connectionFault(error));
  }

  /** Ends the session; running calls fail. Never rejects. */
  async close(): Promise<void> {
    this.#isLost = true;
    this.#ports.clock.clearTimeout(this.#relisting?.timer);
    await this.#client.close().catch(() => undefined);
    // The SDK drops its transport once it reports being closed, and then does not close its process.
    await this.#ports.transport.close().catch(() => undefined);
  }

  /** The SDK calls these before its own listeners, and from the start of its first request on. */
  #listen(transport: SessionTransport): void {
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      onmessage?.(message, extra);
      if (this.#client.getProtocolEra() !== undefined) sealResult(message);
    };
    transport.onerror = (error) => {
      if (error instanceof ServerFault) this.#lose(error);
    };
  }

  #lose(fault: ServerFault): void {
    if (this.#isLost) return;
    if (this.#isOpening) {
      if (this.#openFault !== null) return;
      this.#openFault = fault;
      this.#endedAtOnce = this.#client.transport === undefined;
      return;
    }
    this.#isLost = true;
    this.#ports.clock.clearTimeout(this.#relisting?.timer);
    this.#ports.onLost(fault);
  }

  /** Limits listing to a fixed rate, even if a server reports changes constantly. */
  #relistIn(milliseconds: number): void {
    const { clock } = this.#ports;
    const at = clock.now() + milliseconds;
    if (this.#isLost || (this.#relisting !== null && this.#relisting.at <= at)) return;
    clock.clearTimeout(this.#relisting?.timer);
    this.#relisting = { at, timer: clock.setTimeout(() => void this.#relist(), milliseconds) };
  }

  async #relist(): Promise<void> {
    try {
      const offer = await listTools(this.#client, this.#ports.server);
      if (this.#isLost) return;
      this.#ports.onOffer(offer);
      this.#relisting = null;
      this.#relistIn(relistInterval);
      void this.#subscribe();
    } catch (error) {
      this.#lose(connectionFault(error));
    }
  }

  /**
   * Subscribes to changes of the tools, which servers of 2026 announce only then. Renews a lost subscription with the
   * next list. Never rejects.
   */
  async #subscribe(): Promise<void> {
    const isAnnounced = this.#client.getServerCapabilities()?.tools?.listChanged === true;
    if (this.#isSubscribed || !isAnnounced || !this.#isModern) return;
    this.#isSubscribed = true;
    const filter = { toolsListChanged: true };
    const ended = this.#client.listen(filter, { timeout: answerPatience });
    await ended.then(({ closed }) => closed).catch(() => undefined);
    this.#isSubscribed = false;
    this.#subscriptions += 1;
    this.#relistIn(doubledPause(this.#subscriptions + 2, relistInterval));
  }

  async #refuse(method: string): Promise<never> {
    const asked = quoteOf(method);
    if (this.#refused.size < 10 && !this.#refused.has(asked)) {
      this.#refused.add(asked);
      this.#ports.log.warn(
        { server: this.#ports.server },
        `mcp: ${this.#ports.server} asked the agent for ${asked}, which is refused`,
      );
    }
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'this client accepts no requests');
  }
}

/**
 * Cancels a request at the server when a signal aborts. The SDK would listen to the signal itself for its whole life,
 * and cancel requests that have long ended.
 */
async function stoppedBy<Answer>(
  signal: AbortSignal,
  ask: (stop: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const stop = new AbortController();
  const abort = () => stop.abort('the call was called off');
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await ask(stop.signal);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
