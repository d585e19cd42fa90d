/** Placeholder for an unfilled port of a chart. Rejects, so the chart fails there instead of continuing. */
export function unfilledPort(): Promise<never> {
  return Promise.reject(new Error('the port is not filled'));
}
