import type { Task } from '../machines/task/task.ts';
import type { RoutedContext } from './request-state.ts';

/**
 * Says in the headers of an answer what the models of its task took: their tokens, the model that spoke last, and the
 * milliseconds of its turns. Says nothing for a task that asked no model, nor once the answer has begun.
 */
export function tellUsage(ctx: Pick<RoutedContext, 'set' | 'headerSent'>, { usage }: Task): void {
  if (usage === undefined || ctx.headerSent) return;
  ctx.set('X-Service-Tokens-In', String(usage.inputTokens));
  ctx.set('X-Service-Tokens-Out', String(usage.outputTokens));
  ctx.set('X-Service-Model', usage.model.replaceAll(/[^\x20-\x7e]/g, '?'));
  ctx.set('X-Service-Duration-Ms', String(usage.duration));
}
