/** Returns a field of an unknown value; `undefined` without such a field. */
export function fieldOf(sent: unknown, name: string): unknown {
  return typeof sent === 'object' && sent !== null ? Reflect.get(sent, name) : undefined;
}
