import { type Logger, LogLevel } from '@slack/web-api';
import type { Log } from '../../../ports.ts';

/** Longest part that is shown of what Slack says of a call. */
const longest = 300;

const tokens = /\b(?:xox[a-z]|xapp)[\w-]*/gi;

/**
 * The log of Slack's libraries in the log of the daemon. They show whole payloads and headers below
 * warnings, which go nowhere; what fails reaches their caller as an error and is not told twice.
 */
export function slackLog(log: Log): Logger {
  const warn = (...said: unknown[]) => {
    const [first, ...others] = said;
    // With more than one part it is about a request that failed.
    if (typeof first !== 'string' || others.length > 0) return;
    log.warn({ said: withoutTokens(first) }, 'slack: the service has a remark on a call');
  };
  return { ...silentSlackLog, warn, error: warn };
}

/** Takes what Slack's libraries say and shows nothing of it. */
export const silentSlackLog: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};

function withoutTokens(text: string): string {
  return text.replaceAll(tokens, '[redacted]').slice(0, longest);
}
