import type Router from '@koa/router';
import { namesOf } from '../../src/http/a2a/a2a-versions.ts';
import { createApp } from '../../src/http/app.ts';
import { legacyMethods } from '../../src/http/routes/json-rpc-route.ts';
import { openDoor } from '../helpers/open-door.ts';

/** A request, as far as it tells where it leads. */
export interface Routed {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Where the router of an agent leads: each way by its verb and path, each method of `POST /` by its version and name. */
export class SurfaceRoutes {
  readonly #router: Router;

  constructor() {
    const system = { metrics: { onMeasured: () => undefined } };
    const app = createApp({ ...openDoor, system, push: null } as never);
    const routes = app.middleware.find((step) => 'router' in step) as unknown as { router: Router };
    this.#router = routes.router;
  }

  /** Every way there is. */
  all(): string[] {
    const paths = this.#router.stack.flatMap(({ methods, path }) =>
      methods.filter((verb) => verb !== 'HEAD').map((verb) => `${verb} ${String(path)}`),
    );
    const legacy = [...legacyMethods({} as never).keys()].map((name) => `legacy ${name}`);
    const a2a = Object.entries(namesOf).flatMap(([version, names]) =>
      [...names].map((name) => `${version} ${name}`),
    );
    return [...paths.filter((way) => way !== 'POST /'), ...legacy, ...a2a].toSorted();
  }

  /** The way that a request takes. */
  of({ method, path, body, headers }: Routed): string {
    if (path === '/') return callOf(body as { method: string }, headers?.['A2A-Version']);
    const [layer] = this.#router.match(new URL(path, 'http://x').pathname, method).pathAndMethod;
    return `${method} ${String(layer?.path)}`;
  }
}

function callOf({ method }: { method: string }, version: string | undefined): string {
  if (version !== undefined) return `${version} ${method}`;
  const isLegacy = legacyMethods({} as never).has(method);
  return `${isLegacy ? 'legacy' : namesOf['0.3'].has(method) ? '0.3' : '1.0'} ${method}`;
}
