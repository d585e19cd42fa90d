import type { Clock } from '../../ports.ts';
import { type ChannelAdapter, DeliveryError } from '../channel-adapter.ts';
import { steadyAdapter } from '../steady-adapter.ts';
import { newsLine, requestLines } from './console-lines.ts';

export interface ConsoleOptions {
  /** Puts a line, which has no line break, on the daemon's console. */
  write: (line: string) => void;
  /** Returns the address of the agent, known once it listens. */
  agentUrl: () => string;
  clock: Clock;
}

/**
 * Makes the adapter behind `channel:console:*`: the daemon's console says which call waits, the commands that decide,
 * and in one line what became of it (docs/contract/chat.md).
 */
export function createConsoleAdapter({ write, agentUrl, clock }: ConsoleOptions): ChannelAdapter {
  const say = (lines: string[]): void => {
    try {
      for (const line of lines) write(line);
    } catch (cause) {
      throw new DeliveryError('the console cannot be written to; it is tried again', {
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
