import type { Writable } from 'node:stream';

/** Wraps a text in the escape codes of a colour, or in nothing. */
type Paint = (text: string) => string;

/** The terminal that shows a fake Slack. */
export interface Terminal {
  stdout: Writable & { isTTY?: boolean };
  colours: Record<'bold' | 'cyan' | 'dim' | 'yellow', Paint>;
  /** Writes a line of data. */
  line(text?: string): void;
  /** Writes a line of prose. */
  note(text: string): void;
}

/** Asks for one line; `null` at the end of the input. */
export interface LinePrompt {
  ask(prompt: () => string, signal: AbortSignal): Promise<string | null>;
}
