import { plainLine } from '../../../src/machines/plain-line.ts';
import type { FakeSlack } from '../fake-slack-server.ts';
import type { FakeMessage } from '../workspace/workspace.ts';
import { paintMessage } from './paint-message.ts';
import type { Terminal } from './terminal.ts';

interface Shown {
  edits: number;
  reactions: string;
}

/** Draws a fake Slack's messages as they are posted and changed. */
export class SlackScreen {
  readonly #terminal: Terminal;
  readonly #slack: FakeSlack;
  readonly #shown = new Map<FakeMessage, Shown>();

  constructor(terminal: Terminal, slack: FakeSlack) {
    this.#terminal = terminal;
    this.#slack = slack;
  }

  /** Draws changes until the signal aborts, then resolves. Calls `around` before and after each drawing. */
  async follow(
    signal: AbortSignal,
    around: { before: () => void; after: () => void } | null = null,
  ): Promise<void> {
    while (!signal.aborted) {
      await this.#slack.until(() => this.#news(), signal).catch(() => undefined);
      if (signal.aborted) return;
      around?.before();
      this.draw();
      around?.after();
    }
  }

  /** Draws the pending changes. */
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
      this.#terminal.line();
      for (const line of paintMessage(this.#terminal, message, { workspace, isChanged })) {
        this.#terminal.line(line);
      }
    }
    if (message.reactions.length > 0 && before?.reactions !== shownOf(message).reactions) {
      const marks = message.reactions.map((name) => `:${name}:`).join(' ');
      const author = workspace.user(message.user)?.realName ?? message.user;
      this.#terminal.line(
        this.#terminal.colours.dim(plainLine(`  ${marks} on the message of ${author}`)),
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
