import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { FakeSlack, type FakeSlackOptions } from '../../packages/fake-slack/fake-slack.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { AgentFolder, type ServiceSettings } from './agent-folder.ts';
import { deferring, startInFolder, type TestAgent } from './test-agent.ts';

/** How an agent that asks in Slack is set up. */
export interface SlackAgentOptions {
  /** The rule for `pay`, on top of asking in #refunds. */
  rule?: object;
  defer?: object;
  settings?: ServiceSettings;
  slack?: FakeSlackOptions;
  /** Writes further files of the agent, and what is in Slack, before the start. */
  prepare?: (parts: { folder: AgentFolder; slack: FakeSlack }) => void;
}

/** An agent that asks for releases of `pay` in a Slack on loopback. */
export class SlackAgent {
  readonly slack: FakeSlack;
  readonly folder: AgentFolder;
  #agent: TestAgent | null = null;

  constructor(slack: FakeSlack, folder: AgentFolder) {
    this.slack = slack;
    this.folder = folder;
  }

  get agent(): TestAgent {
    if (this.#agent === null) throw new Error('the agent has not been started');
    return this.#agent;
  }

  /** Starts the agent in its folder, a second time with what the first one left. */
  async start(): Promise<TestAgent> {
    this.#agent = await startInFolder(this.folder, {
      SLACK_BOT_TOKEN: this.slack.botToken,
      SLACK_APP_TOKEN: this.slack.appToken,
    });
    return this.#agent;
  }

  /** What a channel shows, each message in words, oldest first. */
  channel(name = 'refunds'): string[] {
    return this.slack.messages(name).map(wordsOf);
  }

  /** Resolves with the messages of a channel once the last one matches. */
  shows(words: RegExp, name = 'refunds'): Promise<string[]> {
    return this.slack.until(() => {
      const shown = this.channel(name);
      return words.test(shown.at(-1) ?? '') ? shown : undefined;
    });
  }

  /** Resolves once a private message matches. */
  whispers(words: RegExp, name = 'refunds'): Promise<string> {
    return this.slack.until(() =>
      this.slack
        .ephemerals(name)
        .map(wordsOf)
        .find((text) => words.test(text)),
    );
  }
}

/** Starts a Slack and an agent that asks in it; both end with the test. */
export async function startSlackAgent(options: SlackAgentOptions = {}): Promise<SlackAgent> {
  const slack = await FakeSlack.start(options.slack);
  onTestFinished(() => slack.close());
  const rule = { to: 'channel:slack:#refunds', ...options.rule };
  const folder = new AgentFolder({
    ...deferring(rule, options.defer),
    channels: ['slack'],
    ...options.settings,
  });
  onTestFinished(() => folder.remove());
  const config = { adapter: 'slack', settings: { api_url: slack.apiUrl } };
  writeFileSync(join(folder.path, 'slack-config.yaml'), JSON.stringify(config));
  options.prepare?.({ folder, slack });
  const started = new SlackAgent(slack, folder);
  await started.start();
  return started;
}

/** The identity behind a click in the audit log. */
export function vouchedInSlack(user: string): object {
  const user_id = `slack:T0HOLDPNT1/${user}`;
  const chat = { vouched_by: 'chat:slack', method: 'chat', source: 'slack' };
  return { ...chat, provider: 'chat', user_id };
}

/** Everything that a message says, its buttons in brackets. */
export function wordsOf({ text, blocks }: { text: string; blocks: JsonObject[] }): string {
  const said = blocks.flatMap((block) => textsIn(block));
  return (said.length === 0 ? [text] : said).join('\n');
}

function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (value === null || typeof value !== 'object') return [];
  const node = value as { type?: unknown; text?: unknown };
  if (typeof node.text === 'string') return [node.text];
  if (node.type === 'button') return [`[${textsIn(node.text).join('')}]`];
  return Object.values(value).flatMap(textsIn);
}
