import type { z } from 'zod';
import type { RoutedContext } from '../../http/request-state.ts';
import { Problem } from '../../http/wire/problem.ts';

/** Reads the body of a request. Throws a 400 Problem whose error is `wrong`, or made from the first issue. */
export function bodyOf<Shape extends z.ZodType>(
  { request }: RoutedContext,
  shape: Shape,
  wrong: string | ((path: string, message: string) => string),
): z.output<Shape> {
  const body = shape.safeParse(request.body);
  if (body.success) return body.data;
  const { path = [], message = '' } = body.error.issues[0] ?? {};
  const error = typeof wrong === 'string' ? wrong : wrong(path.join('.') || 'the body', message);
  throw new Problem('invalid_body', error.slice(0, 500));
}
