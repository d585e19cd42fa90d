import type { PersonJson } from '../../../http/wire/approvals-page.ts';
import type { ErrorJson } from '../../../http/wire/dashboard/workspace-json.ts';
import { ApiError, isError } from './api-error.ts';
import type { Session } from './session.ts';

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT';
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Client of the dashboard's server, the only host that this page sends requests to. */
export class ApiClient {
  /** Called with the server's time in epoch milliseconds. */
  heard: (at: number) => void = () => undefined;
  /** Called when the server requires a token, or the sign-in of a person. */
  refused: (isPerson: boolean) => void = () => undefined;
  /** The person who has signed in at the public address; `null` at the dashboard's own address. */
  person: PersonJson | null = null;
  readonly #session: Session;
  /** True if the user has done something since the last request, which extends the session of a person. */
  #isActive = true;

  constructor(session: Session) {
    this.#session = session;
    for (const name of ['keydown', 'pointerdown', 'wheel']) {
      addEventListener(name, () => (this.#isActive = true), { capture: true, passive: true });
    }
  }

  /** Returns the URL and headers of a path, for a worker. */
  addressOf(path: string): { url: string; headers: Record<string, string> } {
    return { url: new URL(path, location.href).href, headers: this.#signedIn() };
  }

  /** Fetches JSON from `path`. Throws ApiError. */
  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return (await this.send<T>(path, signal === undefined ? {} : { signal })).body;
  }

  /** Sends `body` as JSON. Throws ApiError. */
  async post<T>(path: string, body: unknown = {}): Promise<T> {
    return (await this.send<T>(path, { method: 'POST', body })).body;
  }

  /** Sends a request; returns its JSON and headers. Throws ApiError. */
  async send<T>(path: string, options: RequestOptions): Promise<{ body: T; headers: Headers }> {
    const response = await this.open(path, options);
    const body = await readJson(response);
    return { body: body as T, headers: response.headers };
  }

  /** Sends a request and leaves the body, such as a stream, to the caller. Throws ApiError. */
  async open(path: string, options: RequestOptions = {}): Promise<Response> {
    const response = await fetch(path, this.#init(options)).catch((cause: unknown) => {
      if (options.signal?.aborted === true) throw cause;
      throw new ApiError(
        0,
        'The dashboard is not responding. Check that holdpoint ui is running.',
        null,
        {
          cause,
        },
      );
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) this.heard(date);
    if (response.ok) return response;
    const refusal = refusalOf(response.status, await readJson(response).catch(() => null));
    const { page } = Object(refusal.body) as ErrorJson;
    // Only operators use this page.
    if (refusal.status === 403 && page !== undefined) location.replace(page);
    if (refusal.status === 401) this.refused(isForPerson(refusal));
    throw refusal;
  }

  #signedIn(): Record<string, string> {
    const { token } = this.#session;
    const isActive = this.#isActive;
    this.#isActive = false;
    return {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(this.person === null ? {} : { 'x-holdpoint-csrf': this.person.csrf }),
      ...(isActive ? { 'x-holdpoint-active': '1' } : {}),
    };
  }

  #init({ method = 'GET', body, headers = {}, signal }: RequestOptions): RequestInit {
    return {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.#signedIn(),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
    };
  }
}

/** Returns whether the server requires the sign-in of a person instead of a token. */
export function isForPerson({ body }: ApiError): boolean {
  return (Object(body) as ErrorJson).sign_in !== undefined;
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `The dashboard answered ${response.status} without valid JSON.`;
    throw new ApiError(response.status, message, null, { cause });
  }
}

function refusalOf(status: number, body: unknown): ApiError {
  if (status === 401) return new ApiError(401, 'This dashboard requires its token.', body);
  const message = isError(body) ? body.error : `The dashboard answered ${status}.`;
  return new ApiError(status, message, body);
}
