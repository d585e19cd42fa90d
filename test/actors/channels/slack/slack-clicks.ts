import { onTestFinished } from 'vitest';
import { FakeSlack, type FakeSlackOptions } from '../../../../packages/fake-slack/fake-slack.ts';
import {
  blockActions,
  viewSubmission,
} from '../../../../packages/fake-slack/socket-mode/payloads.ts';
import { buttonOf } from '../../../../packages/fake-slack/visitors.ts';
import type { FakeMessage, FakeView } from '../../../../packages/fake-slack/workspace/workspace.ts';
import type { ApprovalAuthority } from '../../../../src/actors/channels/channel-adapter.ts';
import { SlackInteractions } from '../../../../src/actors/channels/slack/decisions/slack-interactions.ts';
import { createSlackClient } from '../../../../src/actors/channels/slack/link/slack-client.ts';
import type {
  SlackEnvelope,
  SlackSelf,
} from '../../../../src/actors/channels/slack/link/slack-envelope.ts';
import { UserDirectory } from '../../../../src/actors/channels/slack/link/user-directory.ts';
import { messageOf } from '../../../../src/actors/channels/slack/messages/message.ts';
import type { Caller, Task } from '../../../../src/machines/domain/task.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { withoutCall } from '../../../helpers/call-fields.ts';
import { vouchedInSlack } from '../../../helpers/slack-agent.ts';
import { parks, playing, toolCalled } from '../../../helpers/system-story.ts';
import { openSystem, type TestSystem } from '../../../helpers/test-system.ts';

/** How a test wants its approvals. */
export interface SlackClicksOptions {
  /** As `security.defer.tools` has it for the one tool. */
  rule?: object;
  slack?: FakeSlackOptions;
  /** Changes what clicks are decided through. */
  approvals?: (approvals: ApprovalAuthority) => ApprovalAuthority;
  self?: (self: SlackSelf) => SlackSelf | null;
}

/** An envelope that was handled, with every acknowledgement it got; `null` for one without an answer. */
export interface Handled {
  acknowledged: (object | null)[];
}

/** A task that waits, and the message about it. */
export interface Asked {
  task: Task;
  message: FakeMessage;
}

/** A task system whose one tool waits for a release in a fake Slack, and the people who click there. */
export class SlackClicks {
  readonly rig: TestSystem;
  readonly slack: FakeSlack;
  readonly interactions: SlackInteractions;
  readonly pay: ReturnType<typeof toolCalled>;
  #envelopes = 0;

  private constructor(
    { rig, slack, pay }: Pick<SlackClicks, 'rig' | 'slack' | 'pay'>,
    options: SlackClicksOptions,
  ) {
    this.rig = rig;
    this.slack = slack;
    this.pay = pay;
    const { store, system, clock, logged } = rig;
    const log = (level: string) => (fields: object, message: string) =>
      void logged.push({ level, fields: { ...fields }, message });
    const noted = { info: log('info'), warn: log('warn'), error: log('error') };
    const web = createSlackClient({
      token: slack.botToken,
      apiUrl: slack.apiUrl,
      fetch: globalThis.fetch,
      log: noted,
    });
    const approvals: ApprovalAuthority = {
      find: (deferralId, adapter) => store.approvals.find(deferralId, adapter),
      decide: (taskId, attempt) => system.decide(taskId, attempt),
    };
    const { appId, teamId, botUserId, botId } = slack.workspace;
    const self: SlackSelf = { appId, teamId, botUserId, botId, scopes: [] };
    this.interactions = new SlackInteractions({
      web,
      people: new UserDirectory({ web, clock, log: noted }),
      approvals: options.approvals?.(approvals) ?? approvals,
      self: () => (options.self === undefined ? self : options.self(self)),
      look: { dashboardUrl: null },
      clock,
      log: noted,
    });
  }

  /** Opens both; closed after the test. */
  static async open(options: SlackClicksOptions = {}): Promise<SlackClicks> {
    const slack = await FakeSlack.start(options.slack);
    onTestFinished(() => slack.close());
    const pay = toolCalled('pay');
    const rule = { to: 'channel:slack:#refunds', ...options.rule };
    const rig = await openSystem({ tools: [pay], deferred: { pay: rule } });
    return new SlackClicks({ rig, slack, pay }, options);
  }

  /** Parks a task and posts what asks for its release, as the adapter does. */
  async ask(channel = 'refunds', context = '5', requester: Caller = rita): Promise<Asked> {
    const asked = await this.askUnkept(channel, context, requester);
    await this.keep(asked.task, asked.message);
    return asked;
  }

  /** Parks a task and posts what asks for its release, and Slack has not answered yet. */
  async askUnkept(channel = 'refunds', context = '5', requester: Caller = rita): Promise<Asked> {
    return this.#askFor({ amount: context }, channel, requester);
  }

  /** Parks a task on a call with these arguments and posts what asks for its release. */
  async askFor(args: JsonObject): Promise<Asked> {
    const asked = await this.#askFor(args, 'refunds', rita);
    await this.keep(asked.task, asked.message);
    return asked;
  }

  async #askFor(args: JsonObject, channel: string, requester: Caller): Promise<Asked> {
    const steps = [{ tool: 'pay', args }, { say: 'done' }];
    const task = await parks(this.rig.system, playing(steps, { requester }));
    return { task, message: await this.post(task, channel) };
  }

  /** Posts a message of a task without keeping where it is. */
  async post({ deferral }: Task, channel: string): Promise<FakeMessage> {
    const { workspace } = this.slack;
    const [row] = await this.rig.store.approvals.find(deferral?.id ?? '', 'slack');
    if (row === undefined) throw new Error('nothing is kept of the deferral');
    const { text, blocks } = messageOf(row.notice, { dashboardUrl: null });
    return workspace.say({
      channel: workspace.channel(channel)?.id ?? '',
      user: workspace.botUserId,
      text,
      blocks: blocks as unknown as JsonObject[],
    });
  }

  /** Keeps where the message of a task is. */
  async keep({ deferral }: Task, { channel, ts }: FakeMessage): Promise<void> {
    const { approvals } = this.rig.store;
    const rows = await approvals.find(deferral?.id ?? '', 'slack');
    const writes = rows.map(({ position, version, notice }) => ({
      position,
      version,
      told: notice,
    }));
    await approvals.keep(writes.map((row) => ({ ...row, ref: { channel, ts }, isClosed: false })));
  }

  /** Makes what Slack says of a click; `changes` are made at the top of it. */
  clickOf(
    message: FakeMessage,
    action: 'Approve' | 'Reject',
    user = 'ann',
    changes: JsonObject = {},
  ): JsonObject {
    const { workspace } = this.slack;
    const button = buttonOf(message, action);
    const channel = workspace.channel(message.channel);
    const who = workspace.user(user);
    if (button === null || channel === undefined || who === undefined) throw new Error('no click');
    return { ...blockActions(workspace, { channel, message, ...button, user: who }), ...changes };
  }

  /** Clicks and resolves once everything that follows has happened. */
  click(message: FakeMessage, action: 'Approve' | 'Reject', user = 'ann'): Promise<Handled> {
    return this.handle(this.clickOf(message, action, user));
  }

  /** Makes what Slack says of a reason that was sent. */
  submissionOf(view: FakeView, reason: string, user = view.user): JsonObject {
    const { workspace } = this.slack;
    const who = workspace.user(user);
    if (who === undefined) throw new Error('nobody submits');
    return viewSubmission(workspace, view, who, { reason });
  }

  /** Sends the reason of a rejection. */
  submit(view: FakeView, reason: string, user = view.user): Promise<Handled> {
    return this.handle(this.submissionOf(view, reason, user));
  }

  /** Has an envelope handled, under an id of its own unless one is given. */
  async handle(body: unknown, more: Partial<SlackEnvelope> = {}): Promise<Handled> {
    this.#envelopes += 1;
    const acknowledged: (object | null)[] = [];
    const ack = (response?: object): Promise<void> => {
      acknowledged.push(response ?? null);
      return Promise.resolve();
    };
    await this.interactions.handle({
      id: `envelope-${this.#envelopes}`,
      type: 'interactive',
      body,
      ack,
      ...more,
    });
    return { acknowledged };
  }

  /** The private messages, by the person's id. */
  get told(): { user: string | null; text: string }[] {
    const { messages } = this.slack.workspace;
    const own = messages.filter(({ onlyFor }) => onlyFor !== null);
    return own.map(({ onlyFor, text }) => ({ user: onlyFor, text }));
  }

  /** The calls of Slack's API, without looking people up. */
  get calls(): string[] {
    return this.slack.calls.map(({ method }) => method).filter((method) => method !== 'users.info');
  }

  /** What the audit log says of the decisions on a task. */
  decisions({ id }: Task): unknown[] {
    const decided = this.rig.events(id).filter(({ event }) => event === 'task_deferred_decision');
    return decided.map(({ fields }) => withoutCall(fields));
  }

  /** What is logged as wrong. */
  get warnings(): string[] {
    const { logged } = this.rig;
    return logged.filter(({ level }) => level !== 'info').map(({ message }) => message);
  }
}

/** Who has the tool called. */
const rita = { provider: 'ops', userId: 'rita', email: 'rita@example.com' };

/** People of the fake Slack, by id. */
export const ann = 'U0ANN00001';
export const bob = 'U0BOB00001';

/** What the audit log says of an approval by Ann at once. */
export const approvedByAnn = {
  tool: 'pay',
  decision: 'approve',
  approver: 'ann@example.com',
  note: '',
  wait_ms: 0,
  ...vouchedInSlack(ann),
};
