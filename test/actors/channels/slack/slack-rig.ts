import { onTestFinished } from 'vitest';
import { FakeSlack, type FakeSlackOptions } from '../../../../packages/fake-slack/fake-slack.ts';
import type {
  ApprovalAuthority,
  ChannelState,
} from '../../../../src/actors/channels/channel-adapter.ts';
import type { ChatMessage } from '../../../../src/actors/channels/conversation-port.ts';
import {
  createSlackAdapter,
  type SlackAdapter,
  type SlackOptions,
} from '../../../../src/actors/channels/slack/slack-adapter.ts';
import { createEgress, type Egress } from '../../../../src/actors/outbound/egress/egress.ts';
import type { EgressRecord, ScopedOutbound } from '../../../../src/actors/ports/egress.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { asked } from './slack-notices.ts';

/** What a test wants of its Slack. */
export interface SlackRigOptions {
  slack?: FakeSlackOptions;
  settings?: Partial<SlackOptions['settings']>;
  pings?: NonNullable<SlackOptions['pings']>;
  /** False leaves the fake Slack off the list of what may be reached. */
  isListed?: boolean;
  approvals?: Partial<ApprovalAuthority>;
  /** Takes in what people say; everything is taken in without it. */
  takeIn?: (message: ChatMessage) => boolean;
  /** Changes what the Web API answers. */
  answer?: (method: string, answer: object) => object;
  /** Is waited for before a call of the Web API goes out. */
  hold?: (method: string) => Promise<void>;
}

/** An adapter and a fake Slack, with the egress policy between them and a clock that does not advance. */
export interface SlackRig {
  slack: FakeSlack;
  adapter: SlackAdapter;
  clock: ManualClock;
  egress: Egress;
  /** What the egress policy said of each hop. */
  hops: EgressRecord[];
  /** Every line of the log. */
  logged: { level: string; fields: object; message: string }[];
  /** Every reported state, oldest first. */
  states: ChannelState[];
  /** Resolves with the first message to the agent. */
  heard(): Promise<ChatMessage>;
  /** Starts the adapter and waits until a state is reported, `connected` unless given. */
  connect(state?: ChannelState): Promise<void>;
  /** Resolves when a state is reported `count` more times. */
  told(state: ChannelState, count?: number): Promise<void>;
}

/** Opens both; stopped after the test. */
export async function openSlackRig(options: SlackRigOptions = {}): Promise<SlackRig> {
  const slack = await FakeSlack.start(options.slack);
  const logged: SlackRig['logged'] = [];
  const hops: EgressRecord[] = [];
  const speech = Promise.withResolvers<ChatMessage>();
  const clock = new ManualClock(asked);
  const egress = openEgress(slack, hops, options.isListed ?? true);
  const log = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, fields, message });
  const adapter = createSlackAdapter({
    settings: {
      botToken: slack.botToken,
      appToken: slack.appToken,
      apiUrl: slack.apiUrl,
      dashboardUrl: null,
      conversations: true,
      ...options.settings,
    },
    outbound: outboundOf(egress, options),
    approvals: { ...nothingKept, ...options.approvals },
    clock,
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    conversations: {
      async receive(message) {
        speech.resolve(message);
        return options.takeIn?.(message) ?? true;
      },
    },
    random: () => 0.5,
    ...(options.pings === undefined ? {} : { pings: options.pings }),
  });
  const states: ChannelState[] = [];
  const waiting: { state: ChannelState; count: number; resolve: () => void }[] = [];
  const hear = (state: ChannelState) => {
    states.push(state);
    for (const each of waiting) if (each.state === state && --each.count === 0) each.resolve();
  };
  const told = (state: ChannelState, count = 1) =>
    new Promise<void>((resolve) => void waiting.push({ state, count, resolve }));
  onTestFinished(async () => {
    await adapter.stop();
    await slack.close();
    await egress.close();
  });
  const connect = async (state: ChannelState = 'connected') => {
    const reached = told(state);
    adapter.start(hear);
    await reached;
  };
  return {
    slack,
    adapter,
    clock,
    egress,
    hops,
    logged,
    states,
    heard: () => speech.promise,
    connect,
    told,
  };
}

function outboundOf(egress: Egress, { answer, hold }: SlackRigOptions): ScopedOutbound {
  if (answer === undefined && hold === undefined) return egress;
  return {
    dispatcher: egress.dispatcher,
    within: (scope, run) => egress.within(scope, run),
    discovered: (endpoint) => egress.discovered(endpoint),
    fetch: async (input, init) => {
      const method = String(input).split('/').at(-1) ?? '';
      await hold?.(method);
      const response = await egress.fetch(input, init);
      if (answer === undefined) return response;
      return Response.json(answer(method, (await response.json()) as object));
    },
  };
}

const nothingKept: ApprovalAuthority = {
  find: async () => [],
  decide: () => Promise.reject(new Error('nothing waits')),
};

function openEgress(slack: FakeSlack, hops: EgressRecord[], isListed: boolean): Egress {
  const { hostname, port } = new URL(slack.apiUrl);
  const endpoint = { host: hostname, port: Number(port), source: 'channels.slack' };
  return createEgress({
    mode: 'deny-all',
    allowedDomains: [],
    allowPrivateIps: false,
    allowedPrivateCidrs: [],
    propagateTo: [],
    endpoints: isListed ? [endpoint] : [],
    record: (record) => void hops.push(record),
  });
}
