import type {
  McpServerJson,
  McpToolJson,
} from '../../../../http/wire/dashboard/mcp-servers-json.ts';
import type { Tone } from '../../components/tone.ts';

/** Returns the state of a server in words, with its tone. */
export function stateWords({ state, error }: McpServerJson): { text: string; tone: Tone } {
  if (state === 'connected') return { text: 'connected', tone: 'allow' };
  if (error?.needs_person === true) return { text: 'needs a person', tone: 'deny' };
  return state === 'connecting'
    ? { text: 'connecting', tone: 'plain' }
    : { text: 'not connected', tone: 'deny' };
}

/** Returns the figures of the calls of a server. */
export function callWords({ calls: { count, failed, median_ms: median } }: McpServerJson): string {
  if (count === 0) return 'no calls yet';
  const calls = `${count} ${count === 1 ? 'call' : 'calls'}, ${failed} failed`;
  return median === null ? calls : `${calls}, median ${median} ms`;
}

const standings: Record<string, { text: string; tone: Tone }> = {
  accepted: { text: 'in use', tone: 'allow' },
  changed: { text: 'withheld: changed', tone: 'hold' },
  new: { text: 'withheld: new', tone: 'hold' },
  gone: { text: 'not offered now', tone: 'plain' },
  left_out: { text: 'left out', tone: 'plain' },
};

/** Returns the standing of a tool in words, with its tone. */
export function standingWords({ standing, why }: McpToolJson): { text: string; tone: Tone } {
  if (standing === 'accepted' && why !== undefined) return { text: 'not in use', tone: 'plain' };
  return standings[standing] ?? { text: standing, tone: 'plain' };
}

/** Returns true for a tool that an operator can accept. */
export function isWithheld({ standing, offered }: McpToolJson): boolean {
  return (standing === 'new' || standing === 'changed') && offered !== null;
}

/** Returns true if two versions differ only in parts that the page does not show. */
export function looksEqual({ accepted, offered }: McpToolJson): boolean {
  return accepted !== null && definitionText(accepted) === definitionText(offered);
}

/** Formats a version of a tool for the comparison of its lines. */
export function definitionText(one: McpToolJson['offered']): string {
  if (one === null) return '';
  return `${one.description}\n\n${JSON.stringify(one.parameters ?? {}, null, 2)}`;
}
