import type { RoutedContext } from '../../http/request-state.ts';
import { Problem } from '../../http/wire/problem.ts';

/** Reads a parameter of the query; `null` if it is absent or empty. Throws a 400 Problem for a long or repeated one. */
export function queryText(ctx: RoutedContext, name: string): string | null {
  const value = ctx.query[name];
  if (value === undefined || value === '') return null;
  if (typeof value === 'string' && value.length <= 256) return value;
  throw new Problem('invalid_query', `${name} must be one text of at most 256 characters`);
}
