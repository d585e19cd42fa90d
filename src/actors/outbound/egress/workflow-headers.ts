import type { Dispatcher } from 'undici';
import { depthHeader, depthTag, isTagValue, workflowHeaders } from '../../../machines/workflow.ts';

/** The headers of a request in any format that undici accepts. */
export type GivenHeaders = Exclude<Dispatcher.DispatchOptions['headers'], undefined>;

/**
 * Adds the workflow headers of a scope's tags, and the depth plus one if there is one, to a request; existing headers take precedence
 * (docs/contract/correlation.md). The input is not modified; returns `given` itself if nothing is added.
 */
export function withWorkflowHeaders(
  given: GivenHeaders,
  tags: Readonly<Record<string, string>>,
): GivenHeaders {
  const said = workflowHeaders.map(([header, tag]): [string, string] => [header, tags[tag] ?? '']);
  const valid = said.filter(([, value]) => isTagValue(value));
  const { [depthTag]: depth } = tags;
  const next = depth === undefined ? [] : [[depthHeader, String(Number(depth) + 1)] as const];
  return withHeaders(given, [...valid, ...next]);
}

/** Adds headers to a request; existing headers take precedence. Returns `given` itself if nothing is added. */
export function withHeaders(
  given: GivenHeaders,
  more: readonly (readonly [name: string, value: string])[],
): GivenHeaders {
  const flat = flatHeaders(given);
  const names = new Set(flat.filter((_, index) => index % 2 === 0).map(lowerCase));
  const added = more.filter(([name]) => !names.has(name.toLowerCase())).flat();
  return added.length === 0 ? given : ([...flat, ...added] as string[]);
}

/** Returns the value of a request header; `name` must be in lower case. Returns `null` if it is absent. */
export function headerOf(given: GivenHeaders, name: string): string | null {
  const flat = flatHeaders(given);
  for (let index = 0; index < flat.length; index += 2) {
    if (lowerCase(flat[index]) === name) return String(flat[index + 1]);
  }
  return null;
}

/** Converts any of undici's header formats to alternating names and values. */
function flatHeaders(given: GivenHeaders): unknown[] {
  if (given === null) return [];
  if (Array.isArray(given) && !Array.isArray(given[0])) return [...given];
  const pairs: Iterable<readonly unknown[]> =
    Symbol.iterator in given
      ? (given as Iterable<[string, unknown]>)
      : Object.entries(given as object);
  return [...pairs]
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => [name, value]);
}

function lowerCase(name: unknown): string {
  return String(name).toLowerCase();
}
