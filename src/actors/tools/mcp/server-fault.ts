import type { LinkFault } from '../../../machines/channels/connection-machine.ts';
import { plainLine } from '../../../machines/plain-line.ts';
import { cutToRunes } from '../../../machines/text.ts';

/** The longest text of a server that is repeated in a message of ours, in characters. */
const longestQuote = 300;

/** What is wrong with the way to an MCP server, in words that follow the name of the server. */
export class ServerFault extends Error {
  readonly code = 'mcp_server_failed';
  /** True when only a person can mend it. */
  readonly isLasting: boolean;
  /** True when the server was sent nothing. */
  readonly isUnsent: boolean;
  /** True when the server is well and has forgotten the session. */
  readonly isForgotten: boolean;
  /** Milliseconds for which the server asks to be left alone; `null` when it does not say. */
  readonly retryAfter: number | null;

  constructor(message: string, options: FaultOptions = {}) {
    const { isLasting = false, isUnsent = false, retryAfter = null, ...rest } = options;
    const { isForgotten = false, ...error } = rest;
    super(message, error);
    this.isForgotten = isForgotten;
    this.isLasting = isLasting;
    this.isUnsent = isUnsent;
    this.retryAfter = retryAfter;
  }
}

interface FaultOptions extends ErrorOptions {
  isLasting?: boolean;
  isUnsent?: boolean;
  isForgotten?: boolean;
  retryAfter?: number | null;
}

/** Returns what a link is lost by, for whatever was thrown over it. */
export function linkFaultOf(error: unknown): LinkFault {
  if (error instanceof ServerFault) {
    const { message, isLasting: lasting, retryAfter } = error;
    return { message, lasting, retryAfter };
  }
  return { message: quoteOf(messageOf(error)), lasting: false, retryAfter: null };
}

/** Returns words of a server on one line, cut and safe to show. */
export function quoteOf(text: string): string {
  return cutToRunes(
    plainLine(
      text
        .slice(0, 4 * longestQuote)
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ),
    longestQuote,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
