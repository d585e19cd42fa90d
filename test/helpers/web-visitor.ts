import type { Answer } from './agent-client.ts';

/** Headers that a browser adds to a request of the page itself. */
const ownPage = { 'sec-fetch-site': 'same-origin' };

/**
 * A browser without a screen: it keeps cookies by host and follows redirects. An origin of the page leads to the agent,
 * as a proxy with TLS would do.
 */
export class WebVisitor {
  /** Cookies by host, each with its attributes. */
  readonly cookies = new Map<string, Map<string, string>>();
  readonly origin: string;
  /** Every address that the browser opened. */
  readonly visited: string[] = [];
  csrf = '';
  /** The daemon to which the proxy leads. */
  agentUrl: string;

  constructor(origin: string, agentUrl: string) {
    this.origin = origin;
    this.agentUrl = agentUrl;
  }

  /** Opens an address like a link, and follows redirects until `until` is true of the next address. */
  async open(
    address: string,
    until: (url: string) => boolean = () => false,
  ): Promise<Answer & { url: string }> {
    let url = new URL(address, this.origin).href;
    for (let steps = 0; ; steps += 1) {
      if (steps === 12) throw new Error(`the redirects do not end: ${url}`);
      this.visited.push(url);
      const response = await this.fetch(url, { headers: { 'sec-fetch-site': 'cross-site' } });
      const next = response.headers.get('location');
      if (next === null) {
        const body = await response.text();
        return { status: response.status, headers: response.headers, body, url };
      }
      url = new URL(next, url).href;
      if (until(url)) return { status: 0, headers: response.headers, body: '', url };
    }
  }

  /** Signs in, and reads the session as the page does. */
  async signIn(path = '/approvals/sign-in'): Promise<Answer & { url: string }> {
    const end = await this.open(path);
    const { body } = await this.api('session');
    this.csrf = body?.csrf ?? '';
    return end;
  }

  /** Sends a request of the page to its API; a POST if there is a body and no other method. */
  async api(
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<Answer> {
    const sent = { ...ownPage, 'x-holdpoint-csrf': this.csrf, origin: this.origin, ...headers };
    const response = await this.fetch(`${this.origin}/approvals/api/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: { ...sent, 'content-type': 'application/json' },
    });
    const text = await response.text();
    const read = text.startsWith('{') ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body: read };
  }

  async fetch(
    address: string,
    init: RequestInit & { headers: Record<string, string> },
  ): Promise<Response> {
    const { host } = new URL(address);
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    const cookie = [...jar].map(([name, line]) => `${name}=${valueOf(line)}`).join('; ');
    const response = await fetch(address.replace(this.origin, this.agentUrl), {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, cookie },
    });
    for (const line of response.headers.getSetCookie()) {
      const name = line.slice(0, line.indexOf('='));
      const rest = `${line.slice(name.length + 1)};`;
      if (/max-age=0;/i.test(rest) || valueOf(rest) === '') jar.delete(name);
      else jar.set(name, rest);
    }
    return response;
  }
}

function valueOf(line: string): string {
  return line.slice(0, line.indexOf(';'));
}
