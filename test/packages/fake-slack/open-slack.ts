import { SocketModeClient } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';
import { onTestFinished } from 'vitest';
import { FakeSlack, type FakeSlackOptions } from '../../../packages/fake-slack/fake-slack.ts';
import { silentSlackLog } from '../../../src/actors/channels/slack/link/slack-log.ts';

/** Starts a fake Slack and a client of its Web API that tries nothing twice; it ends with the test. */
export async function openSlack(options?: FakeSlackOptions) {
  const slack = await FakeSlack.start(options);
  onTestFinished(() => slack.close());
  return { slack, web: webClient(slack, slack.botToken) };
}

/** Makes a client of the Web API. */
export function webClient(slack: FakeSlack, token: string): WebClient {
  return new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: silentSlackLog,
    timeout: 5_000,
  });
}

/** The events that an app receives. */
export interface Heard {
  type: string;
  body: any;
  retry_num: number | undefined;
  ack: (answer?: object) => Promise<void>;
}

/** Connects an app as Slack's own library does; `hear` receives every envelope. */
export async function connect(slack: FakeSlack, hear: (heard: Heard) => void = () => undefined) {
  const socket = new SocketModeClient({
    appToken: slack.appToken,
    autoReconnectEnabled: false,
    clientOptions: { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 } },
    logger: silentSlackLog,
    clientPingTimeout: 60_000,
  });
  socket.on('slack_event', hear);
  await socket.start();
  onTestFinished(() => socket.disconnect());
  return socket;
}

/** Answers the code that Slack refused a call with. */
export async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return (error as { data?: { error?: string } }).data?.error ?? error;
  }
  throw new Error('the call went well');
}

/** Two buttons as an approval has them. */
export const buttons = [
  {
    type: 'actions' as const,
    block_id: 'decide',
    elements: ['Approve', 'Reject'].map((text) => ({
      type: 'button' as const,
      action_id: text.toLowerCase(),
      text: { type: 'plain_text' as const, text },
      value: 'd-1',
    })),
  },
];

/** A modal that asks for a reason. */
export const modal = {
  type: 'modal' as const,
  callback_id: 'reason',
  notify_on_close: true,
  title: { type: 'plain_text' as const, text: 'Reject' },
  submit: { type: 'plain_text' as const, text: 'Reject' },
  blocks: [
    {
      type: 'input' as const,
      block_id: 'reason',
      optional: true,
      label: { type: 'plain_text' as const, text: 'Reason' },
      element: { type: 'plain_text_input' as const, action_id: 'text', multiline: true },
    },
  ],
};
