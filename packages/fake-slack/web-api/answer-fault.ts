import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../../../src/machines/json.ts';
import type { Fault } from './faults.ts';

/** Answers a call with JSON, like Slack for success and failure. */
export function answerJson(
  response: ServerResponse,
  answer: JsonObject,
  scopes: readonly string[],
): void {
  response
    .writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'x-oauth-scopes': scopes.join(','),
    })
    .end(JSON.stringify(answer));
}

/** Answers a call with a fault. A hanging fault leaves the request open. */
export function answerFault(
  response: ServerResponse,
  fault: Fault,
  scopes: readonly string[],
): void {
  switch (fault.kind) {
    case 'rateLimited':
      response
        .writeHead(429, { 'retry-after': String(fault.retryAfter) })
        .end(JSON.stringify({ ok: false, error: 'ratelimited' }));
      return;
    case 'status':
      response.writeHead(fault.status).end('upstream error');
      return;
    case 'html':
      response
        .writeHead(fault.status ?? 200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Be right back</title>');
      return;
    case 'reset':
      response.destroy();
      return;
    case 'refuse': {
      const { error, needed } = fault;
      answerJson(response, { ok: false, error, ...(needed !== undefined && { needed }) }, scopes);
      return;
    }
    case 'hang':
      return;
  }
}
