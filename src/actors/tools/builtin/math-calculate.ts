import type { Tool } from '../../ports/tool.ts';
import { builtinTool } from './builtin-tool.ts';
import type { calculated } from './calculate.ts';
import { runApart } from './run-apart.ts';

const timeout = 5_000;

/** Evaluates an arithmetic expression in decimal rather than binary numbers (docs/contract/models.md). */
export function mathCalculate(): Tool {
  return builtinTool<{ expression: string }>({
    name: 'math_calculate',
    description:
      'Calculates an arithmetic expression in decimal numbers of 34 digits and returns the number.',
    parameters: {
      type: 'object',
      properties: {
        expression: {
          type: 'string',
          minLength: 1,
          maxLength: 1_000,
          description:
            'Such as round(19.99 * 3 * 1.19, 2): + - * / % (remainder) ^ (power), parentheses, pi, e, and abs, ceil, floor, trunc, round(x, digits), sign, sqrt, cbrt, exp, ln, log(x, base), log10, log2, pow, mod, sin, cos, tan, asin, acos, atan (radians), factorial, min, max, sum, mean',
        },
      },
      required: ['expression'],
      additionalProperties: false,
    },
    idempotent: true,
    run: ({ expression }, { signal }) =>
      runApart<typeof calculated>({
        tool: 'math_calculate',
        from: import.meta,
        module: './calculate',
        exported: 'calculated',
        timeout,
        signal,
        input: { expression },
      }),
  });
}
