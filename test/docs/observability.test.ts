import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { registeredMetrics } from '../helpers/registered-metrics.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/observability.md'), 'utf8');

/** The rows of the tables of metrics, as `name type labels`. */
function onPage(): string[] {
  const tables = page.matchAll(/^\| Metric \| Type \| Labels \| Value \|\n\|.*\n((?:\|.*\n)+)/gm);
  return [...tables].flatMap(([, rows = '']) =>
    rows
      .trim()
      .split('\n')
      .map((row) => {
        const [, name = '', type = '', labels = ''] = row.split('|').map((cell) => cell.trim());
        return [name, type, labels].join(' ').replaceAll(/[`,]/g, '').trim();
      }),
  );
}

it('the page lists every metric of a daemon, with its type and labels, and no other', async () => {
  const metrics = await registeredMetrics();
  const registered = [...metrics].flatMap(([name, { type, labels }]) =>
    /^(nodejs|process)_/.test(name) ? [] : [[name, type, ...labels].join(' ')],
  );
  expect(onPage().toSorted()).toEqual(registered.toSorted());
  expect(metrics.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
});

/** Units of which Prometheus wants the base, as promtool does. */
const derivedUnits =
  /(milli|micro|nano|kilo|mega|giga)?(minutes|hours|days|weeks|kibibytes|megabytes|milliseconds|microseconds|percent)(_|$)/;

it('the page describes metrics with valid names and types for Prometheus', async () => {
  for (const [name, { type, help, labels }] of await registeredMetrics()) {
    expect(name, name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(help, name).not.toBe('');
    // A library gives the process its names.
    if (!name.startsWith('process_'))
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
    if (type !== 'histogram') expect(name, name).not.toMatch(/_(count|sum|bucket)$/);
    expect(name, name).not.toMatch(derivedUnits);
    expect(name, name).not.toMatch(/_(gauge|counter|histogram|summary)(_|$)/);
    for (const label of labels) expect(label, name).toMatch(/^[a-z][a-z0-9_]*$/);
  }
});
