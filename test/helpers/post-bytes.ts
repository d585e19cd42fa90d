/** Writes a request that posts JSON as it goes over a connection; `headers` end with a line break each. */
export function postBytes(path: string, body: string, headers = ''): string {
  const accept = 'Accept: application/json, text/event-stream';
  return `POST ${path} HTTP/1.1\r\nHost: a\r\n${accept}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
