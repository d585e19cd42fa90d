/** Returns a field of something a caller sent, whatever that is; `undefined` when it has no such field. */
export function fieldOf(sent: unknown, name: string): unknown {
  return typeof sent === 'object' && sent !== null ? Reflect.get(sent, name) : undefined;
}
