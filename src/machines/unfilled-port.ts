/** Rejects in the place of a port of a chart that nobody has filled, so that the chart fails there and does not go on. */
export function unfilledPort(): Promise<never> {
  return Promise.reject(new Error('the port is not filled'));
}
