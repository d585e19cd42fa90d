import type { Writable } from 'node:stream';
import picocolors from 'picocolors';
import type { CliError } from './cli-error.ts';
import { plainText } from './plain-text.ts';

/** A stream that may be a terminal. */
export type TerminalStream = Writable & { isTTY?: boolean };

/** The streams and the format of a command's output. */
export interface OutputOptions {
  stdout: TerminalStream;
  stderr: TerminalStream;
  env: NodeJS.ProcessEnv;
  isJson: boolean;
  isDebug: boolean;
  /** False if the user disabled colours. */
  mayColour: boolean;
}

type Colours = ReturnType<typeof picocolors.createColors>;

/** Writes the output of a command: data on stdout, everything else on stderr (docs/contract/command.md). */
export class Output {
  readonly isJson: boolean;
  readonly isDebug: boolean;
  readonly colours: Colours;
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  readonly #proseColours: Colours;

  constructor(options: OutputOptions) {
    this.stdout = options.stdout;
    this.stderr = options.stderr;
    this.isJson = options.isJson;
    this.isDebug = options.isDebug;
    this.colours = picocolors.createColors(isColoured(options, options.stdout));
    this.#proseColours = picocolors.createColors(isColoured(options, options.stderr));
  }

  /** Writes a line for people to stdout; nothing with --json. */
  line(text = ''): void {
    if (!this.isJson) this.stdout.write(`${text}\n`);
  }

  /** Writes a command's JSON document, or one line of a JSON stream; nothing without --json. */
  json(value: unknown): void {
    if (this.isJson) this.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** Writes text for people to stderr. */
  note(text: string): void {
    this.stderr.write(`${text}\n`);
  }

  /** Writes a warning to stderr, prefixed with `place`, such as `service.yaml:2:1: `. */
  warn(text: string, place = ''): void {
    this.note(`${place}${this.#proseColours.yellow('warning:')} ${text}`);
  }

  /** Writes an error to stderr, and with --json also as a document. */
  failure(error: CliError): void {
    const { code, message, hint, lines, details } = error;
    this.json({ ...details, error: { code, message, hint } });
    for (const line of lines) this.note(line);
    // The message contains folder names, variables and foreign text, which must not control the terminal.
    const sentence = plainText(hint === null ? message : `${message}; ${hint}`);
    this.note(`${this.#proseColours.red('error:')} ${sentence}`);
    if (this.isDebug) this.note(stackOf(error));
  }
}

function isColoured({ env, mayColour }: OutputOptions, stream: TerminalStream): boolean {
  if (!mayColour || (env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

function stackOf(error: CliError): string {
  const cause = error.cause instanceof Error ? error.cause : error;
  return cause.stack ?? cause.message;
}
