import { askPrometheus } from './prometheus.mjs';
import { run } from './run.mjs';

await run(async () => {
  const { alerts = [] } = await askPrometheus('alerts');
  const order = (alert) => `${alert.state === 'firing' ? 0 : 1}${alert.activeAt}`;
  const sorted = alerts.toSorted((one, other) => (order(one) < order(other) ? -1 : 1));
  return {
    firing: alerts.filter(({ state }) => state === 'firing').length,
    alerts: sorted.slice(0, 100).map(({ state, activeAt, labels, annotations }) => ({
      ...{ state, since: activeAt, labels, summary: annotations?.summary ?? null },
    })),
    more: Math.max(0, alerts.length - 100),
  };
});
