import { isJsonObject } from '../machines/json.ts';
import type { RoutedContext } from './request-state.ts';
import { fieldOf } from './wire/field-of.ts';

/**
 * Removes the message from the request once its task has a copy. A request held or streamed for days would otherwise
 * keep the message in memory.
 */
export function forgetMessage(ctx: RoutedContext): void {
  const { body } = ctx.request as { body?: unknown };
  const params = fieldOf(body, 'params');
  for (const holder of [body, fieldOf(body, 'task'), params, fieldOf(params, 'task')]) {
    if (isJsonObject(holder)) delete holder['message'];
  }
  ctx.state.traffic.forget();
}
