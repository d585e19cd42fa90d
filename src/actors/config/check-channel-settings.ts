import { nearestName } from '../nearest-name.ts';
import { type Finding, warningAt } from './config-problem.ts';
import { configuredAdapters } from './schema-channels.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Adapters that are always present (docs/contract/chat.md). */
export const builtinAdapters = ['console', 'dashboard'];

/** Checks that `channels` lists only adapters that can be enabled there (docs/contract/chat.md). */
export function checkChannelSettings({ channels }: ServiceConfig): Finding[] {
  return channels.flatMap((channel, index): Finding[] => {
    const message = faultOf(channel);
    return message === null ? [] : [warningAt(['channels', index], message)];
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
