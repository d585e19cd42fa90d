import { request } from 'node:http';
import { connect } from 'node:net';

/** Milliseconds until a connection must be there. */
const patience = 15_000;

/** Opens a connection to a host, through the proxy of the agent where there is one. */
export function openTunnel(host, port) {
  const proxy = process.env.HTTPS_PROXY ?? '';
  const name = host.includes(':') ? `[${host}]` : host;
  const failed = (reason) => new Error(`${name}:${port} could not be reached: ${reason}`);
  return new Promise((resolve, reject) => {
    if (proxy === '') {
      const socket = connect({ host, port, timeout: patience });
      socket.once('connect', () => resolve(socket.setTimeout(0)));
      socket.once('timeout', () => socket.destroy(failed('it did not answer in time')));
      socket.once('error', (error) => reject(failed(error.code ?? error.message)));
      return;
    }
    const { hostname, port: proxyPort, username, password } = new URL(proxy);
    const pass = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    const asking = request({
      ...{ host: hostname, port: proxyPort, method: 'CONNECT', path: `${name}:${port}` },
      headers: { 'proxy-authorization': `Basic ${pass.toString('base64')}` },
      ...{ agent: false, timeout: patience },
    });
    asking.once('connect', ({ statusCode }, socket, head) => {
      if (statusCode === 200) {
        // A server that speaks first may have done so already.
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      } else {
        socket.destroy();
        const hint = statusCode === 403 ? `egress does not list ${name}:${port}` : 'nobody answers';
        reject(failed(hint));
      }
    });
    asking.once('timeout', () => asking.destroy(failed('it did not answer in time')));
    asking.once('error', (error) => reject(error.code === undefined ? error : failed(error.code)));
    asking.end();
  });
}
