import { askPrometheus } from './prometheus.mjs';
import { run } from './run.mjs';

const mostSeries = 100;
const points = 60;

await run(async ({ query, hours }) => {
  const end = Math.floor(Date.now() / 1000);
  const seconds = Math.round((hours ?? 0) * 3600);
  const step = Math.max(15, Math.ceil(seconds / points));
  const data =
    hours === undefined
      ? await askPrometheus('query', { query, timeout: '15s' })
      : await askPrometheus('query_range', {
          ...{ query, start: String(end - seconds), end: String(end) },
          ...{ step: String(step), timeout: '15s' },
        });
  if (data.resultType === 'scalar' || data.resultType === 'string') {
    return { query, series: [{ labels: {}, value: data.result[1] }], more: 0 };
  }
  const series = data.result.slice(0, mostSeries).map(({ metric, value, values }) => ({
    labels: metric,
    ...(value === undefined
      ? { values: values.map(([time, found]) => [new Date(time * 1000).toISOString(), found]) }
      : { value: value[1] }),
  }));
  return { query, series, more: data.result.length - series.length };
});
