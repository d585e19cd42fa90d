import type { Dispatcher } from 'undici';
import { isTagValue, workflowHeaders } from '../../../machines/workflow.ts';

/** The headers of a request in any of the shapes undici takes. */
export type GivenHeaders = Exclude<Dispatcher.DispatchOptions['headers'], undefined>;

/**
 * Adds the workflow headers of a scope's tags to those of a request, except those that the request already has
 * (docs/contract/correlation.md). What was given is left as it is; the answer is `given` itself when nothing is added.
 */
export function withWorkflowHeaders(
  given: GivenHeaders,
  tags: Readonly<Record<string, string>>,
): GivenHeaders {
  const said = workflowHeaders.map(([header, tag]): [string, string] => [header, tags[tag] ?? '']);
  return withHeaders(
    given,
    said.filter(([, value]) => isTagValue(value)),
  );
}

/** Adds headers to those of a request, except those that it has already; `given` itself when nothing is added. */
export function withHeaders(
  given: GivenHeaders,
  more: readonly (readonly [name: string, value: string])[],
): GivenHeaders {
  const flat = flatHeaders(given);
  const names = new Set(flat.filter((_, index) => index % 2 === 0).map(lowerCase));
  const added = more.filter(([name]) => !names.has(name.toLowerCase())).flat();
  return added.length === 0 ? given : ([...flat, ...added] as string[]);
}

/** The value of a header of a request, by its name in lower case; `null` when it has none. */
export function headerOf(given: GivenHeaders, name: string): string | null {
  const flat = flatHeaders(given);
  for (let index = 0; index < flat.length; index += 2) {
    if (lowerCase(flat[index]) === name) return String(flat[index + 1]);
  }
  return null;
}

/** Names and values in turn, whichever of its shapes undici was given. */
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
