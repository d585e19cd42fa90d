import { nearestName } from '../nearest-name.ts';
import type { Finding } from './config-problem.ts';
import { configuredAdapters } from './schema-channels.ts';
import type { ServiceConfig } from './service-schema.ts';

/** The adapters that are there without being listed (docs/contract/chat.md). */
export const builtinAdapters = ['console', 'dashboard'];

/** Checks that every adapter of `channels` is one that can be switched on there (docs/contract/chat.md). */
export function checkChannelSettings({ channels }: ServiceConfig): Finding[] {
  return channels.flatMap((channel, index): Finding[] => {
    const message = faultOf(channel);
    return message === null ? [] : [{ path: ['channels', index], message, severity: 'warning' }];
  });
}

function faultOf(channel: string): string | null {
  const known: readonly string[] = configuredAdapters;
  if (known.includes(channel)) return null;
  if (builtinAdapters.includes(channel)) return 'the adapter {value} is always there; remove it';
  const near = nearestName(channel, known);
  const advice = near !== null ? `did you mean ${near}?` : `use one of ${known.join(', ')}`;
  return `there is no adapter {value}; ${advice}`;
}
