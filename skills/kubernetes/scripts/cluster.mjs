import { request } from 'node:http';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { variable } from './run.mjs';
import { openTunnel } from './tunnel.mjs';

/** Bytes that an answer may have. */
const longest = 16 * 1024 * 1024;

const patience = 20_000;

/** Asks the API server and answers its JSON; the token goes to a server alone that the authority vouches for. */
export async function askCluster(path, { method = 'GET', type, json } = {}) {
  const base = URL.parse(variable('KUBERNETES_API_URL'));
  if (base?.protocol !== 'https:') throw new Error('KUBERNETES_API_URL is no https address');
  const host = base.hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = await secure(await openTunnel(host, Number(base.port || 443)), host);
  try {
    const { status, text } = await exchange(socket, base, { path, method, type, json });
    const answer = parsed(text);
    if (status < 200 || status > 299) {
      const said = typeof answer?.message === 'string' ? `: ${answer.message.slice(0, 200)}` : '';
      throw new Error(`the cluster answered ${status}${said}`);
    }
    if (answer === null) throw new Error('the cluster did not answer with JSON');
    return answer;
  } finally {
    socket.destroy();
  }
}

function secure(raw, host) {
  return new Promise((resolve, reject) => {
    const ca = process.env.KUBERNETES_CA || undefined;
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ socket: raw, host, ...name, ...(ca === undefined ? {} : { ca }) });
    socket.setTimeout(patience, () => socket.destroy(new Error('no answer within 20 seconds')));
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', ({ code, message }) =>
      reject(new Error(`the certificate of ${host} cannot be verified: ${code ?? message}`)),
    );
  });
}

function exchange(socket, base, { path, method, type, json }) {
  return new Promise((resolve, reject) => {
    const body = json === undefined ? '' : JSON.stringify(json);
    const asking = request({
      ...{ method, path: `${base.pathname.replace(/\/$/, '')}${path}`, timeout: patience },
      createConnection: () => socket,
      headers: {
        ...{ host: base.host, accept: 'application/json', connection: 'close' },
        authorization: `Bearer ${variable('KUBERNETES_TOKEN')}`,
        ...(body === '' ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
      },
    });
    asking.once('response', async (response) => {
      try {
        const chunks = [];
        let size = 0;
        for await (const chunk of response) {
          size += chunk.length;
          if (size > longest) throw new Error('the cluster answered with more than 16 MiB');
          chunks.push(chunk);
        }
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString('utf8') });
      } catch (error) {
        reject(error);
      }
    });
    asking.once('timeout', () => asking.destroy(new Error('the cluster did not answer in time')));
    asking.once('error', ({ message }) => reject(new Error(`the cluster broke off: ${message}`)));
    asking.end(body);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
