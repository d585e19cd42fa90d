import { createServer, type Server } from 'node:http';
import type { JsonObject } from '../../src/machines/json.ts';
import { assembleSlack, type FakeSlackOptions, type FakeSlackParts } from './assemble-slack.ts';
import type { Envelope } from './socket-mode/envelope-post.ts';
import type { SocketHub } from './socket-mode/socket-hub.ts';
import { type Click, type Mention, type Submission, Visitors } from './visitors.ts';
import type { Watch } from './watch.ts';
import type { FaultPlan } from './web-api/faults.ts';
import type { FakeCall, WebApi } from './web-api/web-api.ts';
import type { FakeMessage, FakeView, Workspace } from './workspace/workspace.ts';

/** A fake Slack on loopback for trying out approvals: Web API, Socket Mode, users and faults. */
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

  /** Starts listening on 127.0.0.1. Rejects if the port is taken. */
  static async start(options: FakeSlackOptions = {}): Promise<FakeSlack> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, '127.0.0.1', resolve);
    });
    return new FakeSlack(assembleSlack(server, options));
  }

  /** Every Web API call, oldest first, without tokens. */
  get calls(): readonly FakeCall[] {
    return this.#web.calls;
  }

  /** Every envelope sent over the socket, oldest first. */
  get envelopes(): readonly Envelope[] {
    return this.#hub.envelopes;
  }

  /** Every modal, oldest first. */
  get views(): readonly FakeView[] {
    return this.workspace.views;
  }

  /** The number of the app's open connections. */
  get connections(): number {
    return this.#hub.connections;
  }

  /** Returns the non-ephemeral messages of a channel, by ID or name, oldest first. */
  messages(channel: string): FakeMessage[] {
    return this.#said(channel, (message) => message.onlyFor === null);
  }

  /** Returns the ephemeral messages of a channel, oldest first. */
  ephemerals(channel: string): FakeMessage[] {
    return this.#said(channel, (message) => message.onlyFor !== null);
  }

  /** Resolves with the first past or future call of a method that `matches`. */
  called(method: string, matches: (call: FakeCall) => boolean = () => true): Promise<FakeCall> {
    return this.until(() => this.calls.find((call) => call.method === method && matches(call)));
  }

  /** Resolves when the app has `count` connections. Rejects with the signal's reason. */
  async connected(count = 1, signal?: AbortSignal): Promise<void> {
    await this.until(() => (this.connections === count ? true : undefined), signal);
  }

  /**
   * Resolves with the result of `find`, which is retried after every call, acknowledgement and connection. Rejects with
   * the signal's reason.
   */
  until<T>(find: () => T | undefined, signal?: AbortSignal): Promise<T> {
    return this.#watch.until(find, signal);
  }

  /** Clicks a button; resolves once the click is acknowledged. */
  click(click: Click): Promise<Envelope> {
    return this.#visitors.click(click);
  }

  /** Submits a modal; resolves with the app's response, `null` if there is none. */
  submit(view: FakeView, submission: Submission = {}): Promise<JsonObject | null> {
    return this.#visitors.submit(view, submission);
  }

  /** Closes a modal. The app is notified if it subscribed to that. */
  closeView(view: FakeView): Promise<Envelope | null> {
    return this.#visitors.closeView(view);
  }

  /** Mentions the bot in a channel, followed by the text. */
  mention(mention: Mention): Promise<Envelope> {
    return this.#visitors.mention(mention);
  }

  /** Sends a direct message to the bot. */
  directMessage(message: Omit<Mention, 'channel'>): Promise<Envelope> {
    return this.#visitors.directMessage(message);
  }

  /** Sends an event to the app. */
  events(event: JsonObject): Promise<Envelope> {
    return this.#visitors.events(event);
  }

  /** Schedules a fault for a call. */
  fail(plan: FaultPlan): void {
    this.#web.faults.add(plan);
  }

  /** Drops all scheduled faults. */
  recover(): void {
    this.#web.faults.clear();
  }

  /** The Socket Mode server, for connection faults. */
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
