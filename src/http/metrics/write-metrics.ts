import { setImmediate as turn } from 'node:timers/promises';
import type { Registry } from 'prom-client';

/** Milliseconds after which other work runs before the next metric is written. */
const longestTurn = 5;

/**
 * Writes the metrics of a registry in their order. Those that are read, by name in `read`, are read together; the others
 * may have thousands of lines, so other work runs between them.
 */
export async function writeMetrics(registry: Registry, read: readonly string[]): Promise<string> {
  const texts = new Map<string, string>();
  await Promise.all(
    read.map(async (name) => texts.set(name, await registry.getSingleMetricAsString(name))),
  );
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  let began = performance.now();
  for (const name of names) {
    if (!texts.has(name)) texts.set(name, await registry.getSingleMetricAsString(name));
    if (performance.now() - began < longestTurn) continue;
    await turn();
    began = performance.now();
  }
  return `${names.map((name) => texts.get(name)).join('\n\n')}\n`;
}
