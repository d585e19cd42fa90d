import type { Task } from '../machines/domain/task.ts';
import type { RoutedContext } from './request-state.ts';

/**
 * Sets response headers with a task's model usage: its tokens, the last model, and the milliseconds of its turns. Sets
 * nothing if no model ran or the response has begun.
 */
export function tellUsage(ctx: Pick<RoutedContext, 'set' | 'headerSent'>, { usage }: Task): void {
  if (usage === undefined || ctx.headerSent) return;
  ctx.set('X-Service-Tokens-In', String(usage.inputTokens));
  ctx.set('X-Service-Tokens-Out', String(usage.outputTokens));
  ctx.set('X-Service-Model', usage.model.replaceAll(/[^\x20-\x7e]/g, '?'));
  ctx.set('X-Service-Duration-Ms', String(usage.duration));
}
