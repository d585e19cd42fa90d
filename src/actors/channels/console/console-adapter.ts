import type { Clock } from '../../ports/clock.ts';
import { type ChannelAdapter, DeliveryError } from '../channel-adapter.ts';
import { steadyAdapter } from '../steady-adapter.ts';
import { newsLine, requestLines } from './console-lines.ts';

export interface ConsoleOptions {
  /** Writes a line without line breaks to the daemon's console. */
  write: (line: string) => void;
  /** Returns the URL of the agent, which is known once it listens. */
  agentUrl: () => string;
  clock: Clock;
}

/**
 * Creates the adapter for `channel:console:*`. It prints each held call with the commands that decide it, and its
 * outcome on one line (docs/contract/chat.md).
 */
export function createConsoleAdapter({ write, agentUrl, clock }: ConsoleOptions): ChannelAdapter {
  const say = (lines: string[]): void => {
    try {
      for (const line of lines) write(line);
    } catch (cause) {
      throw new DeliveryError('the console cannot be written to; retrying', {
        fault: 'later',
        cause,
      });
    }
  };
  return steadyAdapter({
    name: 'console',
    async deliver({ request, outcome }) {
      const now = clock.now();
      const ended = outcome === null ? null : newsLine({ request, outcome }, 'ended', now);
      say(ended === null ? requestLines(request, agentUrl(), now) : [ended]);
      return {};
    },
    async update(_ref, notice, news) {
      const line = newsLine(notice, news, clock.now());
      if (line !== null) say([line]);
    },
  });
}
