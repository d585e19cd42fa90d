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

  constructor(message: string, { isLasting = false, ...options }: FaultOptions = {}) {
    super(message, options);
    this.isLasting = isLasting;
  }
}

interface FaultOptions extends ErrorOptions {
  isLasting?: boolean;
}

/** Returns what a link is lost by, for whatever was thrown over it. */
export function linkFaultOf(error: unknown): LinkFault {
  if (error instanceof ServerFault) {
    return { message: error.message, lasting: error.isLasting, retryAfter: null };
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
