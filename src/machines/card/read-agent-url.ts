/** Parses the URL of an agent or of its card; `null` for a URL that is not HTTP or contains a password. */
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
