import { CliError } from '../../../src/cli/cli-error.ts';
import type { Session } from '../../../src/cli/session.ts';
import { Prompter } from '../../../src/cli/try/prompter.ts';
import { FakeSlack, playSlack, SlackScreen } from '../fake-slack.ts';

/** `slack fake`: runs a fake Slack on 127.0.0.1 in the foreground; interactive on a terminal. */
export async function runFake(session: Session, { port = 0 }: { port?: number }): Promise<void> {
  const { output, interruption, stdin } = session;
  const signal = interruption.listen({ isReaderNeeded: false });
  const slack = await startFake(port);
  try {
    announce(session, slack);
    if (stdin.isTTY && output.stdout.isTTY === true && !output.isJson) {
      const prompter = new Prompter(stdin, output.stdout, () => interruption.interrupt());
      try {
        await playSlack({
          terminal: output,
          slack,
          prompter,
          channel: 'refunds',
          user: 'ann',
          signal,
        });
      } finally {
        prompter.close();
      }
    } else {
      await new SlackScreen(output, slack).follow(signal);
    }
  } finally {
    await slack.close();
  }
}

async function startFake(port: number): Promise<FakeSlack> {
  try {
    return await FakeSlack.start({ port });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`the fake Slack cannot listen on port ${port}: ${reason}`, {
      code: 'port_taken',
      hint: 'leave --port out, and a free one is taken',
      cause: error,
    });
  }
}

function announce({ output }: Session, { apiUrl, botToken, appToken }: FakeSlack): void {
  output.note('A Slack for this machine alone, until Ctrl-C; its tokens are valid nowhere else.');
  output.line(`export SLACK_BOT_TOKEN=${botToken}`);
  output.line(`export SLACK_APP_TOKEN=${appToken}`);
  output.line(`# slack-config.yaml: {adapter: slack, settings: {api_url: "${apiUrl}"}}`);
  output.json({ api_url: apiUrl, bot_token: botToken, app_token: appToken });
}
