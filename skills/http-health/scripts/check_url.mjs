import { request } from 'node:http';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { run } from './run.mjs';
import { openTunnel } from './tunnel.mjs';

const day = 24 * 60 * 60 * 1000;

/** Milliseconds until the first line of the answer must be there. */
const patience = 20_000;

await run(async ({ url: text, method = 'GET', expect_status: expected }) => {
  const url = URL.parse(text);
  if (url === null || url.username !== '') throw new Error('url is not an address without a user');
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const start = performance.now();
  const raw = await openTunnel(host, Number(url.port || (isSecure ? 443 : 80)));
  const socket = isSecure ? await secure(raw, host) : raw;
  const certificate = isSecure ? { certificate: certificateOf(socket) } : {};
  try {
    const { status, location } = await firstLine(socket, url, method);
    const milliseconds = Math.round(performance.now() - start);
    const healthy = expected === undefined ? status >= 200 && status < 400 : status === expected;
    return {
      ...{ url: url.href, healthy, status, milliseconds },
      ...(location === undefined ? {} : { redirects_to: location.slice(0, 2000) }),
      ...certificate,
    };
  } finally {
    socket.destroy();
  }
});

/** A certificate that nobody trusts is what is looked for here, so it does not end the connection. */
function secure(raw, host) {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ socket: raw, host, ...name, rejectUnauthorized: false });
    socket.setTimeout(patience, () => socket.destroy(new Error('no TLS within 20 seconds')));
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', (error) => reject(new Error(`TLS failed: ${error.message}`)));
  });
}

function firstLine(socket, url, method) {
  return new Promise((resolve, reject) => {
    const asking = request({
      ...{ method, path: `${url.pathname}${url.search}`, createConnection: () => socket },
      headers: { host: url.host, 'user-agent': 'holdpoint-http-health', connection: 'close' },
      timeout: patience,
    });
    asking.once('response', (response) => {
      resolve({ status: response.statusCode, location: response.headers.location });
      response.destroy();
    });
    asking.once('timeout', () => asking.destroy(new Error(`${url.host} did not answer in time`)));
    asking.once('error', (error) =>
      reject(new Error(`${url.host} did not answer: ${error.message}`)),
    );
    asking.end();
  });
}

function certificateOf(socket) {
  const { subject, issuer, valid_to: end } = socket.getPeerCertificate();
  const left = Math.floor((Date.parse(end) - Date.now()) / day);
  return {
    ...{ subject: subject?.CN ?? null, issuer: issuer?.O ?? issuer?.CN ?? null },
    ...{ expires: new Date(end).toISOString(), days_left: left },
    ...{ trusted: socket.authorized },
    ...(socket.authorized ? {} : { why: String(socket.authorizationError) }),
  };
}
