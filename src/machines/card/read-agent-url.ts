/** Reads the URL of an agent, which may be that of its card; `null` for none of HTTP, and for one with a password. */
export function readAgentUrl(text: string): URL | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  url.hash = '';
  url.search = '';
  url.pathname = url.pathname
    .replace(/\/\.well-known\/agent(-card)?\.json$/, '')
    .replace(/\/+$/, '');
  return url;
}
