import { isLoopbackUrl } from './loopback.ts';

/** Tells whether a text is an https URL, or http on a loopback host, without credentials, `?` and `#`. */
export function isTrustworthyUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[?#]/.test(text) || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && isLoopbackUrl(url);
}
