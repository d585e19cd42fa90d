import { isLoopbackUrl } from './loopback.ts';

/** Returns true for an https URL, or an http URL on a loopback host, without credentials, `?` and `#`. */
export function isTrustworthyUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[?#]/.test(text) || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && isLoopbackUrl(url);
}
