import { connect } from 'node:net';

/** What came back over one connection, until the other side closed it. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * Writes bytes to an agent that no client library would send, and reads until it closes. `from` is an
 * address of this machine, such as `127.0.0.2`, that the agent is to see.
 */
export function rawRequest(url: string, request: string, from?: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const target = {
    port: Number(port),
    host: hostname,
    ...(from === undefined ? {} : { localAddress: from }),
  };
  return new Promise((resolve, reject) => {
    const socket = connect(target, () => socket.write(request, 'latin1'));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.once('error', reject);
    socket.once('close', () => resolve(parse(text)));
  });
}

function parse(text: string): RawAnswer {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const [name = '', value = ''] = line.split(/: (.*)/s);
    return [name.toLowerCase(), value];
  });
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers), body };
}
