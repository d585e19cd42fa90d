import { Histogram, type Registry } from 'prom-client';
import { BoundedNames, otherName } from './bounded-names.ts';
import type { Observe } from './measurement.ts';

/** Histogram bounds of durations in seconds, as the semantic conventions prescribe. */
const durations = Array.from({ length: 14 }, (_, power) => Number((0.01 * 2 ** power).toFixed(2)));

/** Histogram bounds of tokens, as the semantic conventions prescribe. */
const tokenCounts = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Maximum number of models with series of their own. */
const mostModels = 50;

/** Maximum number of kinds of failures of tools, and of pairs of a tool and a kind, with series of their own. */
const mostFailures = 20;
const mostPairs = 300;

/**
 * Adds the metrics of models and tools by the semantic conventions of OpenTelemetry for generative AI. `labelOf` returns
 * the label of a tool.
 */
export function addGenAiMetrics(registry: Registry, labelOf: (tool: string) => string): Observe {
  const registers = [registry];
  const model = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'];
  const operations = new Histogram({
    name: 'gen_ai_client_operation_duration_seconds',
    help: 'Duration of calls to models.',
    labelNames: [...model, 'error_type'],
    buckets: durations,
    registers,
  });
  const tokens = new Histogram({
    name: 'gen_ai_client_token_usage',
    help: 'Number of input and output tokens of a call to a model.',
    labelNames: [...model, 'gen_ai_token_type'],
    buckets: tokenCounts,
    registers,
  });
  const tools = new Histogram({
    name: 'gen_ai_execute_tool_duration_seconds',
    help: 'Duration of tool calls, without waits for people.',
    labelNames: ['gen_ai_tool_name', 'error_type'],
    buckets: durations,
    registers,
  });
  const models = new BoundedNames(mostModels);
  const failures = new BoundedNames(mostFailures);
  const pairs = new BoundedNames(mostPairs);
  return (measured) => {
    if (measured.type === 'call') {
      const { error, milliseconds } = measured;
      const tool = labelOf(measured.tool);
      const failed = error === null ? {} : { error_type: failures.of(kindOf(error)) };
      const isOwn = pairs.has(`${failed.error_type ?? ''} ${tool}`);
      const name = isOwn ? tool : otherName;
      tools.observe({ gen_ai_tool_name: name, ...failed }, milliseconds / 1_000);
    } else if (measured.type === 'model') {
      const { provider, error, milliseconds, inputTokens, outputTokens } = measured;
      const labels = {
        gen_ai_operation_name: 'chat',
        gen_ai_provider_name: provider,
        gen_ai_request_model: models.of(measured.model),
      };
      const failed = error === null ? {} : { error_type: error };
      operations.observe({ ...labels, ...failed }, milliseconds / 1_000);
      if (error !== null) return;
      tokens.observe({ ...labels, gen_ai_token_type: 'input' }, inputTokens);
      tokens.observe({ ...labels, gen_ai_token_type: 'output' }, outputTokens);
    }
  };
}

/** A kind such as `exit code 3` is counted without its number. */
function kindOf(error: string): string {
  return error.replace(/ \d+$/, '');
}
