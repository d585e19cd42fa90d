/** Reads the selected step from the URL, from 0; `null` follows the task. */
export function stepIn(query: URLSearchParams): number | null {
  const named = query.get('step') ?? '';
  return /^[1-9]\d{0,5}$/.test(named) ? Number(named) - 1 : null;
}

/** Sets the step in a task's URL; `null` removes it. */
export function withStep(hash: string, step: number | null): string {
  const [path = '', search = ''] = hash.split('?', 2);
  const query = new URLSearchParams(search);
  if (step === null) query.delete('step');
  else query.set('step', String(step + 1));
  const written = query.toString();
  return written === '' ? path : `${path}?${written}`;
}
