import type { LinkFault } from '../../../machines/channels/connection-machine.ts';
import { messageOf } from '../../../machines/message-of.ts';
import { plainLine } from '../../../machines/plain-line.ts';
import { cutToRunes } from '../../../machines/text.ts';

/** Maximum characters of a server's text quoted in our messages. */
const longestQuote = 300;

/** A fault of the connection to an MCP server, worded to follow the server's name. */
export class ServerFault extends Error {
  readonly code = 'mcp_server_failed';
  /** True if only a person can fix it. */
  readonly isLasting: boolean;
  /** True if nothing was sent to the server. */
  readonly isUnsent: boolean;
  /** True if the server works but has forgotten the session. */
  readonly isForgotten: boolean;
  /** Retry delay that the server asks for, in milliseconds; `null` for none. */
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

/** Converts any error of a connection to the fault of its link. */
export function linkFaultOf(error: unknown): LinkFault {
  if (error instanceof ServerFault) {
    const { message, isLasting: lasting, retryAfter } = error;
    return { message, lasting, retryAfter };
  }
  return { message: quoteOf(messageOf(error)), lasting: false, retryAfter: null };
}

/** Returns a server's text on one line, truncated and safe to display. */
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
