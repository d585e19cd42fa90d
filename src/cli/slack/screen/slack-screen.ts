import type { Output } from '../../output.ts';
import { plainLine } from '../../plain-text.ts';
import type { FakeMessage } from '../fake/workspace.ts';
import type { FakeSlack } from '../fake-slack.ts';
import { paintMessage } from './paint-message.ts';
import { unlessAborted } from './unless-aborted.ts';

interface Shown {
  edits: number;
  reactions: string;
}

/** Draws what is said in a fake Slack, as it is said and changed. */
export class SlackScreen {
  readonly #output: Output;
  readonly #slack: FakeSlack;
  readonly #shown = new Map<FakeMessage, Shown>();

  constructor(output: Output, slack: FakeSlack) {
    this.#output = output;
    this.#slack = slack;
  }

  /** Draws whatever is new until the signal aborts, then resolves; `around` hears before and after each time. */
  async follow(
    signal: AbortSignal,
    around: { before: () => void; after: () => void } | null = null,
  ): Promise<void> {
    while (!signal.aborted) {
      const news = this.#slack.until(() => this.#news());
      await unlessAborted(news, signal).catch(() => undefined);
      if (signal.aborted) return;
      around?.before();
      this.draw();
      around?.after();
    }
  }

  /** Draws whatever is new now. */
  draw(): void {
    for (let message = this.#news(); message !== undefined; message = this.#news()) {
      this.#drawOne(message);
    }
  }

  #drawOne(message: FakeMessage): void {
    const before = this.#shown.get(message);
    const { workspace } = this.#slack;
    this.#shown.set(message, shownOf(message));
    if (before === undefined || before.edits !== message.edits) {
      const isChanged = before !== undefined;
      this.#output.line();
      for (const line of paintMessage(this.#output, message, { workspace, isChanged })) {
        this.#output.line(line);
      }
    }
    if (message.reactions.length > 0 && before?.reactions !== shownOf(message).reactions) {
      const marks = message.reactions.map((name) => `:${name}:`).join(' ');
      const author = workspace.user(message.user)?.realName ?? message.user;
      this.#output.line(
        this.#output.colours.dim(plainLine(`  ${marks} on the message of ${author}`)),
      );
    }
  }

  #news(): FakeMessage | undefined {
    return this.#slack.workspace.messages.find((message) => {
      const shown = this.#shown.get(message);
      const now = shownOf(message);
      return shown?.edits !== now.edits || shown.reactions !== now.reactions;
    });
  }
}

function shownOf({ edits, reactions }: FakeMessage): Shown {
  return { edits, reactions: reactions.join(' ') };
}
