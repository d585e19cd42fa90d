import type { PushTarget } from '../../ports/push.ts';

const longestId = 256;

const longestUrl = 4_096;

const longestSecret = 4_096;

/** Returns the fault of a receiver's settings without any of its values; `null` for a valid receiver. */
export function targetFault({ id, url, token, authentication }: PushTarget): string | null {
  if (id.length > longestId) {
    return `the id of a push notification config is too long; use ${longestId} characters at most`;
  }
  const protocol = url.length > longestUrl ? undefined : URL.parse(url)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') {
    return 'the url of a push notification config must be an http(s) URL';
  }
  const secrets = [token, authentication?.scheme ?? '', authentication?.credentials ?? ''];
  return secrets.every(fitsHeader)
    ? null
    : 'the token and the credentials must be printable ASCII of at most 4,096 characters';
}

function fitsHeader(value: string): boolean {
  return value.length <= longestSecret && /^[\x20-\x7e]*$/.test(value);
}
