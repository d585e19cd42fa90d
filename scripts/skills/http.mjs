/** Bytes that an answer may have. */
const longest = 2 * 1024 * 1024;

/** Milliseconds until an answer must be there. */
const patience = 20_000;

/**
 * Joins the address of a service and a path of it; the parts of the path are encoded. Throws for what is no address, and
 * for a part of dots, which would lead to another path.
 */
export function addressOf(base, ...parts) {
  const url = URL.parse(base);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') {
    throw new Error('the address of the service is not an http or https address');
  }
  if (parts.some((part) => /^\.+$/.test(part))) throw new Error('a name cannot be dots alone');
  const path = parts.map((part) => encodeURIComponent(part)).join('/');
  return new URL(`${url.pathname.replace(/\/$/, '')}/${path}`, url);
}

/**
 * Sends one request and answers its status, its headers and its text. No redirect is followed, so nothing that signs in
 * goes elsewhere.
 */
export async function ask(url, { method = 'GET', headers = {}, body } = {}) {
  const { host } = new URL(url);
  let response;
  try {
    response = await fetch(url, {
      ...{ method, headers, body, redirect: 'manual' },
      signal: AbortSignal.timeout(patience),
    });
  } catch (error) {
    if (error.name === 'TimeoutError') {
      throw new Error(`${host} did not answer within ${patience / 1000} seconds`);
    }
    throw new Error(`${host} could not be reached; is it listed under egress, and is it up?`);
  }
  return {
    status: response.status,
    headers: response.headers,
    text: await bounded(response, host),
  };
}

/** Asks for JSON and answers it. Throws when the status is none of 2xx, with what the service says of it. */
export async function askJson(url, { json, headers = {}, ...options } = {}) {
  const { status, text } = await ask(url, {
    ...options,
    headers: {
      accept: 'application/json',
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const { host } = new URL(url);
  const value = parsed(text);
  if (status < 200 || status > 299) throw new Error(`${host} answered ${status}${reasonOf(value)}`);
  if (value === undefined && text.trim() !== '')
    throw new Error(`${host} did not answer with JSON`);
  return value ?? null;
}

async function bounded(response, host) {
  const chunks = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > longest) break;
      chunks.push(chunk);
    }
  } catch {
    throw new Error(`${host} broke off in the middle of its answer`);
  }
  if (size > longest) throw new Error(`${host} answered with more than 2 MiB; ask for less`);
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(value) {
  const said = value?.message ?? value?.error?.message ?? value?.error ?? value?.detail;
  return typeof said === 'string' ? `: ${said.slice(0, 200)}` : '';
}
