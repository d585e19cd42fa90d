import { isJsonObject } from '../machines/json.ts';
import type { RoutedContext } from './request-state.ts';
import { fieldOf } from './wire/field-of.ts';

/**
 * Lets go of the message that a request sent, once its task has it: the request may be held or streamed for days,
 * and would keep it in memory all the while.
 */
export function forgetMessage(ctx: RoutedContext): void {
  const { body } = ctx.request as { body?: unknown };
  const params = fieldOf(body, 'params');
  for (const holder of [body, fieldOf(body, 'task'), params, fieldOf(params, 'task')]) {
    if (isJsonObject(holder)) delete holder['message'];
  }
  ctx.state.traffic.forget();
}
