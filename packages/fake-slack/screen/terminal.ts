import type { Writable } from 'node:stream';

/** Wraps a string in a colour's escape codes, or returns it unchanged. */
type Paint = (text: string) => string;

/** The terminal that shows a fake Slack. */
export interface Terminal {
  stdout: Writable & { isTTY?: boolean };
  colours: Record<'bold' | 'cyan' | 'dim' | 'yellow', Paint>;
  /** Writes a line of data to stdout. */
  line(text?: string): void;
  /** Writes a line of text for people. */
  note(text: string): void;
}

/** Prompts for one line; `null` at the end of input. */
export interface LinePrompt {
  ask(prompt: () => string, signal: AbortSignal): Promise<string | null>;
}
