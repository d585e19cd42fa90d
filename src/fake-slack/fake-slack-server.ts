import { createServer, type Server } from 'node:http';
import type { JsonObject } from '../machines/json.ts';
import { assembleSlack, type FakeSlackOptions, type FakeSlackParts } from './assemble-slack.ts';
import type { Envelope } from './socket-mode/envelope-post.ts';
import type { SocketHub } from './socket-mode/socket-hub.ts';
import { type Click, type Mention, type Submission, Visitors } from './visitors.ts';
import type { Watch } from './watch.ts';
import type { FaultPlan } from './web-api/faults.ts';
import type { FakeCall, WebApi } from './web-api/web-api.ts';
import type { FakeMessage, FakeView, Workspace } from './workspace/workspace.ts';

/** A Slack on loopback to try approvals with: its Web API, Socket Mode, people and faults. */
export class FakeSlack {
  readonly apiUrl: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly workspace: Workspace;
  readonly #server: Server;
  readonly #web: WebApi;
  readonly #hub: SocketHub;
  readonly #watch: Watch;
  readonly #visitors: Visitors;

  private constructor(parts: FakeSlackParts) {
    const { server, web, hub, watch, workspace, tokens, origin } = parts;
    this.apiUrl = `${origin}/api/`;
    this.botToken = tokens.bot;
    this.appToken = tokens.app;
    this.workspace = workspace;
    this.#server = server;
    this.#web = web;
    this.#hub = hub;
    this.#watch = watch;
    this.#visitors = new Visitors(workspace, hub);
  }

  /** Starts to listen on 127.0.0.1. Rejects when the port is taken. */
  static async start(options: FakeSlackOptions = {}): Promise<FakeSlack> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, '127.0.0.1', resolve);
    });
    return new FakeSlack(assembleSlack(server, options));
  }

  /** Every call of the Web API, oldest first, without tokens. */
  get calls(): readonly FakeCall[] {
    return this.#web.calls;
  }

  /** Everything that was sent over the socket, oldest first. */
  get envelopes(): readonly Envelope[] {
    return this.#hub.envelopes;
  }

  /** Every modal, oldest first. */
  get views(): readonly FakeView[] {
    return this.workspace.views;
  }

  /** The number of open connections of the app. */
  get connections(): number {
    return this.#hub.connections;
  }

  /** Returns the messages of a channel, by id or name, that everybody sees, oldest first. */
  messages(channel: string): FakeMessage[] {
    return this.#said(channel, (message) => message.onlyFor === null);
  }

  /** Returns the ephemeral messages of a channel, oldest first. */
  ephemerals(channel: string): FakeMessage[] {
    return this.#said(channel, (message) => message.onlyFor !== null);
  }

  /** Resolves with the first call of a method that `matches`, made already or later. */
  called(method: string, matches: (call: FakeCall) => boolean = () => true): Promise<FakeCall> {
    return this.until(() => this.calls.find((call) => call.method === method && matches(call)));
  }

  /** Resolves when the app has so many connections. Rejects with the signal's reason. */
  async connected(count = 1, signal?: AbortSignal): Promise<void> {
    await this.until(() => (this.connections === count ? true : undefined), signal);
  }

  /**
   * Resolves with what `find` finds; looks again after every call, acknowledgement and connection. Rejects with the
   * signal's reason.
   */
  until<T>(find: () => T | undefined, signal?: AbortSignal): Promise<T> {
    return this.#watch.until(find, signal);
  }

  /** Clicks a button; resolves once that was acknowledged. */
  click(click: Click): Promise<Envelope> {
    return this.#visitors.click(click);
  }

  /** Sends a modal; resolves with the answer of the app, `null` when it gave none. */
  submit(view: FakeView, submission: Submission = {}): Promise<JsonObject | null> {
    return this.#visitors.submit(view, submission);
  }

  /** Closes a modal; the app is told when it asked for that. */
  closeView(view: FakeView): Promise<Envelope | null> {
    return this.#visitors.closeView(view);
  }

  /** Mentions the bot in a channel; the text is put after the mention. */
  mention(mention: Mention): Promise<Envelope> {
    return this.#visitors.mention(mention);
  }

  /** Writes to the bot alone. */
  directMessage(message: Omit<Mention, 'channel'>): Promise<Envelope> {
    return this.#visitors.directMessage(message);
  }

  /** Tells the app of any event. */
  events(event: JsonObject): Promise<Envelope> {
    return this.#visitors.events(event);
  }

  /** Plans something that goes wrong with a call. */
  fail(plan: FaultPlan): void {
    this.#web.faults.add(plan);
  }

  /** Drops every planned fault. */
  recover(): void {
    this.#web.faults.clear();
  }

  /** The socket side, for faults of connections. */
  get socket(): SocketHub {
    return this.#hub;
  }

  /** Closes the server, its connections and timers; pending waits stay pending. */
  async close(): Promise<void> {
    this.#watch.end();
    this.#hub.close();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #said(channel: string, isWanted: (message: FakeMessage) => boolean): FakeMessage[] {
    const id = this.workspace.channel(channel)?.id;
    return this.workspace.messages.filter((each) => each.channel === id && isWanted(each));
  }
}
