/** Formats a target for display: `channel:slack:#ops` becomes `#ops (slack)`. */
export function targetWords(target: string): string {
  const [kind, channel, ...name] = target.split(':');
  if (kind !== 'channel' || channel === undefined) return target;
  const place = name.join(':');
  return place === '' || place === '*' ? channel : `${place} (${channel})`;
}
